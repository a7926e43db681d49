import { resolve } from "node:path";
import { withTemporaryFolder } from "../../store/files/files.ts";
import { GitFailure, gitText, withQuarantine } from "../../store/git/commands/run.ts";
import { diffTree, findTooMany, type PathChange } from "../../store/git/commands/tree.ts";

export interface Merge {
	/** In git's order. If it cannot be merged: what the head changes since its merge base. */
	changed: PathChange[];
	/** Why it cannot be merged, in one line; null if it can. */
	obstacle: string | null;
}

export const conflictObstacle = "the base has changed the same lines: merge it into the branch";

/**
 * Reads the tree that a merge makes, and not what the head changes since the merge base, which is what GitHub lists: with
 * several merge bases the two have nothing to do with each other, so that is an obstacle. Nothing is checked out, and
 * nothing is written into the repository, which may belong to another user.
 * @throws {Error} if the two have no commit in common, or the head has too many files
 */
export async function withMerge<Result>(
	repository: string,
	base: string,
	head: string,
	task: (merge: Merge) => Promise<Result>,
): Promise<Result> {
	const bases = await gitText(repository, ["merge-base", "--all", base, head]).catch(() => {
		throw new Error(`${repository}: ${base} and ${head} have no commit in common`);
	});
	const tooMany = await findTooMany(repository, head);
	if (tooMany !== null) throw new Error(tooMany);
	const [fork = "", ...others] = bases.split("\n");
	const run = async (obstacle: string | null, from = fork, to = head) =>
		task({ changed: await diffTree(repository, from, to, ":/"), obstacle });
	const manyBases = `${others.length + 1} merge bases, so its merge may write what GitHub does not list: put its changes on a new branch`;
	if (others.length > 0) return run(manyBases);
	if (fork === base) return run(null);
	const objects = resolve(repository, await gitText(repository, ["rev-parse", "--git-path", "objects"]));
	return withTemporaryFolder("fragment-publisher-merge-", (folder) => {
		const quarantine = {
			GIT_QUARANTINE_PATH: folder,
			GIT_OBJECT_DIRECTORY: folder,
			// A path in quotes may have a colon (git(1)).
			GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(objects),
		};
		return withQuarantine(quarantine, async () => {
			const tree = await mergeTrees(repository, base, head);
			return tree === null ? run(conflictObstacle) : run(null, base, tree);
		});
	});
}

/** Writes the tree of a merge into the repository. @returns its id; null if there is a conflict */
export async function mergeTrees(repository: string, base: string, head: string): Promise<string | null> {
	try {
		const printed = await gitText(repository, ["merge-tree", "--write-tree", "--no-messages", base, head]);
		return printed.split("\n")[0] ?? "";
	} catch (error) {
		if (error instanceof GitFailure && error.code === 1) return null;
		throw error;
	}
}
