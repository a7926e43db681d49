import type { Waiting } from "../decide.ts";
import { authorOf, reviewBranch, serviceIdentity } from "../naming.ts";
import type { Meta } from "../store.ts";
import type { Branch } from "./branch.ts";
import type { CommitReader } from "./commands/cat-file.ts";
import { isDescendant } from "./commands/commits.ts";
import { gitText, runGit } from "./commands/run.ts";

/** Where changes of a group go. */
export interface Destination {
	branch: string;
	/** The commit on which they are decided. */
	base: string;
	/** Reads `base` and the edits that follow it. */
	reader: CommitReader;
	/** Null for the served branch. */
	waiting: Waiting | null;
}

/** A review that is merged starts again from the served branch. @throws {GitFailure} */
export async function findReview(branch: Branch, meta: Meta): Promise<Destination> {
	const { commit: served, catFile } = branch;
	const { repository } = branch.base;
	const name = reviewBranch(meta);
	const spellings = (smallkey: string) => waitingSpellings(branch, smallkey);
	const destinationAt = (base: string, holder: string | null) => {
		return { branch: name, base, reader: branch.readerAt(base), waiting: { holder, spellings } };
	};
	const review = (await catFile.read(`refs/heads/${name}`))?.id;
	if (!review || (await isDescendant(repository, review, served))) return destinationAt(served, null);
	const sender = await senderOf(repository, served, review);
	const isHeld = sender !== null && sender !== meta.author;
	return isHeld ? destinationAt(served, sender) : destinationAt(review, null);
}

/** The sender of the newest change. */
async function senderOf(repository: string, served: string, review: string): Promise<string | null> {
	const ofService = ["--fixed-strings", `--committer=${serviceIdentity}`];
	const words = ["log", "-1", "--topo-order", "--format=%ae", ...ofService, `${served}..${review}`];
	return authorOf(await gitText(repository, words));
}

/** The branch of one layer is named after its smallkey; the smallkeys of a batch are read from its files. */
async function waitingSpellings(branch: Branch, smallkey: string): Promise<string[]> {
	const names = ["*.*", smallkey].map((name) => `register/${name}`);
	const words = ["--ignore-case", `--no-merged=${branch.commit}`];
	const reviews = await listBranches(branch.base.repository, words, names);
	const spellings = reviews.map(async ({ name, commit }) =>
		name.includes(".") ? branch.readerAt(commit).spellings(smallkey) : [name.slice("register/".length)],
	);
	return (await Promise.all(spellings)).flat();
}

/** Records end with NUL, which no message has, and \x01, which no name has. */
const format =
	"--format=%(refname:lstrip=2)%00%(objectname)%00%(authorname)%00%(authoremail:trim)%00%(committerdate:unix)%00%(contents)%00%01";

/** @param words of git-for-each-ref(1) @param patterns below `refs/heads/` @throws {GitFailure} */
export async function listBranches(
	repository: string,
	words: readonly string[],
	patterns: readonly string[],
	limitMs?: number,
) {
	const refs = patterns.map((pattern) => `refs/heads/${pattern}`);
	const output = await runGit(repository, ["for-each-ref", format, ...words, ...refs], { limitMs });
	const records = output.toString("utf8").split("\0\x01\n").filter(Boolean);
	return records.map((record) => {
		const [name = "", commit = "", author = "", mail = "", seconds, message = ""] = record.split("\0");
		return { name, commit, author, mail, timeMs: Number(seconds) * 1_000, message };
	});
}
