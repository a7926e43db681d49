import { formatOf, type ObjectFormat } from "../../git/object.ts";
import { ordinarySilenceMs, runGit } from "../../git/run.ts";
import type { SyncPath } from "../../git/sync.ts";
import type { Trees } from "../../git/trees.ts";
import { RefUpdates } from "../../git/update-ref.ts";
import { writePack } from "../../git/write-pack.ts";
import type { WrittenBlobs } from "../../git/written-blobs.ts";
import { Chain } from "./chain.ts";
import type { NewCommit } from "./new-commit.ts";

/** Where one commit is made. */
export interface CommitOnceOptions {
	repository: string;
	trees: Trees;
	written: WrittenBlobs;
	sync: SyncPath;
	/** Longest silence of git and of the disk, in milliseconds. */
	silenceMs?: number;
}

/**
 * Makes one commit on a branch that is written seldom.
 * @param base the commit to build on; null for the first of a repository
 * @param from where the branch has to be now; null: it must not be there
 * @returns its id
 * @throws {BranchHeld} where the branch is somewhere else, or is locked by others
 */
export async function commitOnce(
	{ repository, trees, written, sync, silenceMs = ordinarySilenceMs }: CommitOnceOptions,
	branch: string,
	{ base, from }: { base: string | null; from: string | null },
	commit: NewCommit,
): Promise<string> {
	const chain = new Chain(
		{ trees, written },
		base === null ? await readFormat(repository) : formatOf(base),
		base,
	);
	const id = await chain.commit(commit);
	const made = await chain.take();
	if (made) await writePack(repository, made.pack.files(), sync, silenceMs);
	const refs = new RefUpdates(repository, silenceMs);
	try {
		await refs.move(branch, from, id);
	} finally {
		await refs.close();
	}
	return id;
}

/** How a repository without a commit names its objects. */
async function readFormat(repository: string): Promise<ObjectFormat> {
	const output = await runGit(repository, ["rev-parse", "--show-object-format"]);
	return output.toString("latin1").trim() === "sha256" ? "sha256" : "sha1";
}
