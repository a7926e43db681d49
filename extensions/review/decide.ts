import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { WrongError } from "../../api/configuration.ts";
import { gitText, runGit } from "../../store/git/commands/run.ts";
import { declinedFolder, mainTrailer } from "../../store/naming.ts";
import { servedRef } from "../harvest/repository.ts";
import { mergeTrees } from "./layer-changes.ts";
import { isStale, staleAdvice, type WaitingReview } from "./waiting.ts";

type Reviewer = ReturnType<typeof parseReviewer>;

/** @throws {Error} if the name is not allowed in a commit */
export function parseReviewer(name = userInfo().username) {
	if (!/^[^\p{Cc}<>]{1,100}$/u.test(name))
		throw new Error("--by: must be a name of 1 to 100 characters without < and >");
	const localPart = name.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-");
	return { name, mail: `${localPart || "reviewer"}@reviewer.invalid` };
}

/** @throws {Error} if it is not one line, as a commit needs it */
export function parseReason(text: string): string {
	const reason = text.trim();
	if (/^[^\p{Cc}\p{Cs}]{1,500}$/u.test(reason)) return reason;
	throw new Error("--why: must be a reason of 1 to 500 characters in one line; anyone can read it");
}

/** @throws {Error} if the repository is a checkout, or another user's */
export async function refuseOthers(path: string, name: string): Promise<void> {
	if ((await gitText(path, ["rev-parse", "--is-bare-repository"])) !== "true")
		throw new Error(`${name}: is no repository of a service; a pull request is merged where it was opened`);
	const { uid } = await stat(join(path, "refs", "heads"));
	const user = process.getuid?.() ?? uid;
	// The service cannot replace files of another user (root included): its next write would fail.
	if (uid !== user)
		throw new Error(`${name}: belongs to the user ${uid}, and this is the user ${user}: run it as that user`);
}

type Decision = Pick<WaitingReview, "branch" | "commit">;

/** @throws {WrongError} if the newest commit of a review is not the one that was shown */
export function refuseUnseen({ branch, commit }: Decision, shown: string): void {
	if (commit.startsWith(shown)) return;
	const id = shown.slice(0, 12);
	throw new WrongError(
		`${branch}: its newest commit is not ${id}: npx fragment-publisher review show ${branch}`,
	);
}

/**
 * Merges a review into the served branch, and removes its branch: both, or neither.
 * @returns id of the merge commit
 * @throws {WrongError} if the review has changed since it was read, or the served branch has changed the same layer
 */
export async function acceptReview(repository: string, review: Decision, reviewer: Reviewer) {
	const { branch, commit } = review;
	const subject = `accept ${branch}`;
	const base = await gitText(repository, ["rev-parse", "--verify", servedRef]);
	const isOld = await isStale(repository, commit, base);
	const tree = isOld ? null : await mergeTrees(repository, base, commit);
	if (tree === null) throw new WrongError(`${branch}: ${staleAdvice}`);
	const merge = await commitTree(repository, reviewer, tree, ["-p", base, "-p", commit, "-m", subject]);
	await moveReview(repository, review, subject, `update ${servedRef} ${merge} ${base}`);
	return merge;
}

/**
 * Moves a review below `declined/`. Its last commit says who declined it and why, for status and audit.
 * @returns `declined/register/23ax5t/0123456789ab`
 * @throws {WrongError} if the review has changed since it was read
 */
export async function declineReview(
	repository: string,
	review: Decision,
	reviewer: Reviewer,
	reason: string,
): Promise<string> {
	const { branch, commit } = review;
	const declined = `${declinedFolder}/${branch}/${commit.slice(0, 12)}`;
	const subject = `decline ${branch}`;
	const main = await gitText(repository, ["rev-parse", "--verify", servedRef]);
	const words = ["-p", commit, "-m", subject, "-m", reason, "-m", `${mainTrailer}: ${main}`];
	const last = await commitTree(repository, reviewer, `${commit}^{tree}`, words);
	await moveReview(repository, review, subject, `update refs/heads/${declined} ${last}`);
	return declined;
}

/**
 * Moves a ref and deletes the review's branch: both, or neither.
 * @throws {Error} with git's reason, or as `refuseUnseen`
 */
async function moveReview(repository: string, { branch, commit }: Decision, reason: string, update: string) {
	const input = `${update}\ndelete refs/heads/${branch} ${commit}\n`;
	await runGit(repository, ["update-ref", "-m", reason, "--stdin"], { input }).catch(async ({ message }) => {
		const tip = await gitText(repository, ["for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`]);
		refuseUnseen({ branch, commit: tip }, commit);
		throw new Error(`${branch}: nothing has changed, try again: ${message}`);
	});
}

function commitTree(repository: string, { name, mail }: Reviewer, tree: string, words: string[]) {
	const identity = ["-c", `user.name=${name}`, "-c", `user.email=${mail}`];
	return gitText(repository, [...identity, "commit-tree", tree, ...words]);
}
