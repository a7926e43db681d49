import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Review, servedRef } from "../../api/service/repository.ts";
import { WrongError } from "../../registry/environment.ts";
import { GitFailure, gitText, runGit } from "../../store/git/commands/run.ts";
import { diffTree } from "../../store/git/commands/tree.ts";
import { declinedFolder, mainTrailer } from "../../store/store.ts";
import { mergeTrees } from "./merge.ts";

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
