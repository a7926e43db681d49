import { folderOf } from "../../registry/smallkey.ts";
import { authorOf, type Refusal, serviceIdentity, twinWaits } from "../store.ts";
import type { Branch } from "./branch.ts";
import { listCommits, personText, readCommits } from "./commands/commits.ts";
import { gitText } from "./commands/run.ts";
import type { CommitReader } from "./reader.ts";

/** How many commits of a review are read: its sender's, and those that a reviewer has added. */
const maxReviewCommits = 100;

/** The sender of the newest change of a review. @param served the published commit @returns null if no sender made it */
export async function senderOf(repository: string, served: string, review: string): Promise<string | null> {
	const words = ["--topo-order", `--max-count=${maxReviewCommits}`, `${served}..${review}`];
	for await (const { author, committer } of readCommits(repository, await listCommits(repository, words)))
		if (personText(committer) === serviceIdentity) return authorOf(author.mail);
	return null;
}

/** The refusal of a new smallkey of which another spelling waits for review, or null. @param reader the state without it */
export async function findTwin(
	branch: Pick<Branch, "commit" | "readerAt">,
	repository: string,
	smallkey: string | null,
	reader: CommitReader,
): Promise<Refusal | null> {
	if (smallkey === null || (await reader.ids(smallkey)) !== null) return null;
	const words = [
		"--ignore-case",
		`--no-merged=${branch.commit}`,
		"--format=%(objectname) %(refname:lstrip=3)",
	];
	const folder = "refs/heads/register/";
	const refs = ["*.*", "*/review.*", smallkey].map((name) => `${folder}${name}`);
	for (const line of (await gitText(repository, ["for-each-ref", ...words, ...refs])).split("\n")) {
		const [commit = "", name = ""] = line.split(" ");
		const isOfMany = name.includes(".");
		const spellings = isOfMany ? await branch.readerAt(commit).keys(folderOf(smallkey), smallkey) : [name];
		const other = spellings.find((spelling) => spelling !== "" && spelling !== smallkey);
		if (other !== undefined) return twinWaits(smallkey, other);
	}
	return null;
}
