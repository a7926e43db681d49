import { copyFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Review, servedRef } from "../../api/service/repository.ts";
import { WrongError } from "../../registry/environment.ts";
import { ifThere, withTemporaryFolder } from "../../store/files/files.ts";
import { GitFailure, gitText, runGit } from "../../store/git/commands/run.ts";
import { diffTree, findTooMany, type PathChange } from "../../store/git/commands/tree.ts";
import { declinedFolder, mainTrailer } from "../../store/store.ts";

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
async function mergeTrees(repository: string, base: string, head: string): Promise<string | null> {
	try {
		const printed = await gitText(repository, ["merge-tree", "--write-tree", "--no-messages", base, head]);
		return printed.split("\n")[0] ?? "";
	} catch (error) {
		if (error instanceof GitFailure && error.code === 1) return null;
		if (!(error instanceof GitFailure) || !/usage|unknown option/.test(error.message)) throw error;
		throw new Error("git: must be 2.38 or newer to merge", { cause: error });
	}
}

/** Attempts of a merge while other processes move the branch. */
const maxAttempts = 5;

type Reviewer = ReturnType<typeof parseReviewer>;

/** The person who decides, as the commit names them. @throws {Error} if the name is not allowed in a commit */
export function parseReviewer(name: string) {
	if (!/^[^\p{Cc}<>]{1,100}$/u.test(name))
		throw new Error("--by: must be a name of 1 to 100 characters without < and >");
	const local = name.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-");
	return { name, mail: `${local || "reviewer"}@reviewer.invalid` };
}

/** The reason becomes one line of a commit, which the publisher reads. @throws {Error} if it is not one line */
export function parseReason(text: string): string {
	const reason = text.trim();
	if (/^[^\p{Cc}\p{Cs}]{1,500}$/u.test(reason)) return reason;
	throw new Error("--why: must be a reason of 1 to 500 characters in one line; the publisher reads it");
}

/** @throws {Error} if the repository is a checkout, or belongs to another user than the current one */
export async function refuseOthers({ path, name }: { path: string; name: string }): Promise<void> {
	if ((await gitText(path, ["rev-parse", "--is-bare-repository"])) !== "true")
		throw new Error(`${name}: is no repository of a service; a pull request is merged where it was opened`);
	const { uid } = await stat(join(path, "refs", "heads"));
	const own = process.getuid?.() ?? uid;
	// The service could not write over files of another user (root included), and would stop at its next write.
	if (uid !== own)
		throw new Error(`${name}: belongs to the user ${uid}, and this is the user ${own}: run it as that user`);
}

/** What a reviewer reads of a review that cannot be merged as it was shown. */
export const staleText = "the branch main has changed the same layer since";

/**
 * Whether the served branch has changed a file of a review since the two have parted, to something else. Such a review is
 * not merged, even where git could: no reviewer has seen the result.
 */
export async function isStale(repository: string, { commit }: Pick<Review, "commit">, base = servedRef) {
	const [served, fork] = [
		await gitText(repository, ["rev-parse", "--verify", base]),
		await gitText(repository, ["merge-base", base, commit]),
	];
	if (fork === served) return false;
	const proposed = await diffTree(repository, fork, commit, "layers");
	const stored = new Map(
		(await diffTree(repository, fork, served, "layers")).map((one) => [one.path, one.id]),
	);
	return proposed.some(({ path, id }) => stored.has(path) && stored.get(path) !== id);
}

/**
 * Merges a review, in the version that was shown, into the served branch, and removes the review's branch. Both happen, or
 * neither. A running service publishes the merge at once.
 * @returns id of the merge commit
 * @throws {WrongError} if the review has changed since it was read, or the served branch has changed the same layer
 */
export async function acceptReview(repository: string, review: Review, reviewer: Reviewer): Promise<string> {
	const { branch, commit } = review;
	for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
		const base = await gitText(repository, ["rev-parse", "--verify", servedRef]);
		if (await isStale(repository, review, base)) throw staleReview(branch);
		const tree = await mergeTrees(repository, base, commit);
		if (tree === null) throw staleReview(branch);
		const subject = `accept ${branch}`;
		const merge = await commitTree(repository, reviewer, tree, ["-p", base, "-p", commit, "-m", subject]);
		const updates = [`update ${servedRef} ${merge} ${base}`, `delete refs/heads/${branch} ${commit}`];
		if (await moveRefs(repository, review, subject, updates)) return merge;
	}
	throw new Error("others keep moving the branch main: try again");
}

/**
 * Moves a review from its branch to one under `declined/`, with a last commit that records who declined it and why. The
 * publisher's status and the audit read that commit, and a clone includes it.
 * @returns the branch: `declined/register/23ax5t/0123456789ab`
 * @throws {WrongError} if the review has changed since it was read
 */
export async function declineReview(repository: string, review: Review, reviewer: Reviewer, reason: string) {
	const { branch, commit } = review;
	const declined = `${declinedFolder}/${branch}/${commit.slice(0, 12)}`;
	const subject = `decline ${branch}`;
	const main = await gitText(repository, ["rev-parse", "--verify", servedRef]);
	const words = ["-p", commit, "-m", subject, "-m", reason, "-m", `${mainTrailer}: ${main}`];
	const time = await declineTime(repository, branch);
	const last = await commitTree(repository, reviewer, `${commit}^{tree}`, words, time);
	const updates = [`update refs/heads/${declined} ${last}`, `delete refs/heads/${branch} ${commit}`];
	if (await moveRefs(repository, review, subject, updates)) return declined;
	throw new Error(`${branch}: another process holds it: try again`);
}

/**
 * Moves several refs, or none.
 * @returns whether they were moved
 * @throws {WrongError} if they were not, and the branch of the review has moved from the review's commit
 */
async function moveRefs(repository: string, review: Review, reason: string, updates: string[]) {
	const { branch, name, commit } = review;
	try {
		const input = updates.map((line) => `${line}\n`).join("");
		await runGit(repository, ["update-ref", "-m", reason, "--stdin"], { input });
		return true;
	} catch (error) {
		if (!(error instanceof GitFailure)) throw error;
	}
	const there = await gitText(repository, ["for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`]);
	if (there === commit) return false;
	throw new WrongError(
		`${branch}: has changed since ${commit.slice(0, 12)} was shown: npx fragment-publisher review show ${name}`,
	);
}

function staleReview(branch: string): WrongError {
	return new WrongError(`${branch}: ${staleText}. Decline it, and ask the sender to send it again`);
}

/** Now, or a second after the last decline of the same branch: git's dates are whole seconds, and the newest one is shown. */
async function declineTime(repository: string, branch: string): Promise<{ GIT_COMMITTER_DATE: string }> {
	const words = ["for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(committerdate:unix)"];
	const last = await gitText(repository, [...words, `refs/heads/${declinedFolder}/${branch}/`]);
	const seconds = Math.max(Math.floor(Date.now() / 1_000), Number(last) + 1);
	return { GIT_COMMITTER_DATE: `${seconds} +0000` };
}

function commitTree(
	repository: string,
	{ name, mail }: Reviewer,
	tree: string,
	words: string[],
	environment = {},
) {
	const identity = ["-c", `user.name=${name}`, "-c", `user.email=${mail}`];
	return gitText(repository, [...identity, "commit-tree", tree, ...words], { environment });
}
