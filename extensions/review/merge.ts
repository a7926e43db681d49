import { copyFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ifThere } from "../../store/files/if-there.ts";
import { withTemporaryFolder } from "../../store/files/temporary-folder.ts";
import { GitFailure, gitText, runGit } from "../../store/git/commands/run.ts";
import { diffTree, findTooMany, type PathChange } from "../../store/git/commands/tree.ts";

/** What merging a head into a base changes on the base. */
export interface Merge {
	/** A repository that has all of its objects. */
	repository: string;
	/** In git's order. If it cannot be merged: what the head changes since its merge base. */
	changed: PathChange[];
	/** Why it cannot be merged, in one line; null if it can. */
	obstacle: string | null;
}

/** Why a change with a conflict cannot be merged. */
export const conflictObstacle = "the base has changed the same lines: merge it into the branch";

/**
 * Reads what a merge changes from the tree that it makes, and not from what the head changes since the merge base, which is
 * what GitHub lists: with several merge bases the two have nothing to do with each other, so that is an obstacle. Nothing is
 * checked out, and nothing is written into the repository, which may belong to another user.
 * @param base id of a commit, like `head`
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
	const of = async (folder: string, from: string, to: string, obstacle: string | null) =>
		task({ repository: folder, changed: await diffTree(folder, from, to, ":/"), obstacle });
	if (others.length > 0) {
		const many = `${others.length + 1} merge bases, so its merge may write what GitHub does not list: put its changes on a new branch`;
		return of(repository, fork, head, many);
	}
	if (fork === base) return of(repository, base, head, null);
	return withTemporaryFolder("fragment-publisher-merge-", async (folder) => {
		await borrowObjects(repository, folder);
		const tree = await mergeTrees(folder, base, head);
		return tree === null ? of(repository, fork, head, conflictObstacle) : of(folder, base, tree, null);
	});
}

/** Fetches commits as data. One that is gone keeps none of the others from it. */
export async function fetchCommits(repository: string, ids: readonly string[]): Promise<void> {
	const words = [
		"fetch",
		"--quiet",
		"--no-tags",
		"--no-recurse-submodules",
		"--no-write-fetch-head",
		"origin",
	];
	if (ids.length === 0) return;
	const all = await runGit(repository, [...words, ...ids]).catch(() => null);
	if (all) return;
	for (const id of ids) await runGit(repository, [...words, id]).catch(() => null);
}

/** Fetches a branch. @returns id of its newest commit @throws {Error} if there is no such branch */
export async function fetchBranch(repository: string, branch: string): Promise<string> {
	const kept = `refs/remotes/origin/${branch}`;
	// A tag may have the same name.
	await runGit(repository, ["fetch", "--quiet", "--no-tags", "origin", `+refs/heads/${branch}:${kept}`]);
	return gitText(repository, ["rev-parse", "--verify", kept]);
}

/** Makes a repository without a commit that reads the objects of another one, and has its own for those that are written. */
async function borrowObjects(repository: string, folder: string): Promise<void> {
	const placeOf = async (name: string) =>
		resolve(repository, await gitText(repository, ["rev-parse", "--git-path", name]));
	await runGit(folder, ["init", "--quiet", "--bare", "--template=", "."]);
	await writeFile(join(folder, "objects/info/alternates"), `${await placeOf("objects")}\n`);
	const shallow = await placeOf("shallow");
	await ifThere(shallow, copyFile(shallow, join(folder, "shallow")));
}

/**
 * Merges two commits into a tree, which is written into the repository.
 * @returns its id; null if there is a conflict
 */
export async function mergeTrees(repository: string, base: string, head: string): Promise<string | null> {
	try {
		const printed = await gitText(repository, ["merge-tree", "--write-tree", "--no-messages", base, head]);
		return printed.split("\n")[0] ?? "";
	} catch (error) {
		if (error instanceof GitFailure && error.code === 1) return null;
		if (!(error instanceof GitFailure) || !/usage|unknown option/.test(error.message)) throw error;
		throw new Error("git: must be 2.38 or newer to merge", { cause: error });
	}
}
