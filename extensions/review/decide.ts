import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type Io, WrongError } from "../../api/configuration.ts";
import { type Review, servedRef } from "../../api/service/repository.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { GitFailure, gitText, runGit } from "../../store/git/commands/run.ts";
import { diffTree } from "../../store/git/commands/tree.ts";
import { messageOf, type OpenRepair, readOpen, subjectOf } from "../../store/git/review-branches.ts";
import { importCommit } from "../../store/git/writer.ts";
import { declinedFolder, mainTrailer, repairBranch } from "../../store/store.ts";
import { mergeTrees } from "./layer-changes.ts";

/** Attempts of a merge while other processes move the branch. */
const maxAttempts = 5;

type Reviewer = ReturnType<typeof parseReviewer>;

/** @throws {Error} if the name is not allowed in a commit */
export function parseReviewer(name = userInfo().username) {
	if (!/^[^\p{Cc}<>]{1,100}$/u.test(name))
		throw new Error("--by: must be a name of 1 to 100 characters without < and >");
	const local = name.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-");
	return { name, mail: `${local || "reviewer"}@reviewer.invalid` };
}

/** It becomes one line of a commit. @throws {Error} if it is not one line */
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
	const user = process.getuid?.() ?? uid;
	// The service could not write over files of another user (root included), and would stop at its next write.
	if (uid !== user)
		throw new Error(`${name}: belongs to the user ${uid}, and this is the user ${user}: run it as that user`);
}

/** @throws {WrongError} if another commit of a review was shown than its newest */
export function refuseUnseen({ branch, commit }: Review, shown: string): void {
	if (!commit.startsWith(shown)) throw changedReview(branch, shown);
}

function changedReview(branch: string, shown: string): WrongError {
	return new WrongError(
		`${branch}: its newest commit is not ${shown}: npx fragment-publisher review show ${branch}`,
	);
}

export function isRepair(branch: string): boolean {
	return branch.startsWith(repairBranch(""));
}

/** @throws {WrongError} if a repair leaves the choice between several places to a person: its commit changes nothing */
export async function refuseChoice(repository: string, { branch, commit }: Review): Promise<void> {
	if (!isRepair(branch)) return;
	if ((await runGit(repository, ["diff", "--name-only", `${commit}^`, commit])).length > 0) return;
	throw new WrongError(
		`${branch}: several places agree alike, and nothing is chosen: register the right place (npx fragment-publisher review show ${branch} lists them); the proposal is then withdrawn`,
	);
}

/** @throws {Error} if the answer is not yes */
export async function confirmMerge(reviews: readonly Review[], io: Io): Promise<void> {
	const [first, second] = reviews;
	const answer = await io.ask(
		second ? `Merge these ${reviews.length} reviews? [y/N] ` : "Merge this? [y/N] ",
	);
	if (answer === null && second) throw new Error("to merge several reviews, a terminal is needed");
	if (answer === null)
		throw new Error(`--commit ${first?.commit.slice(0, 12)}: is needed to merge this without a terminal`);
	if (!/^y(?:es)?$/i.test(answer)) throw new WrongError("Not accepted: nothing was merged");
}

export const staleText = "the branch main has changed the same layer since";

/**
 * Whether the served branch has changed a file of a review since the two have parted, to something else. Such a review is
 * not merged, even where git could: no reviewer has seen the result.
 */
export async function isStale(repository: string, { commit }: Pick<Review, "commit">, base = servedRef) {
	const fork = await gitText(repository, ["merge-base", base, commit]);
	const stored = await diffTree(repository, fork, base, "layers");
	const idOf = new Map(stored.map(({ path, id }) => [path, id]));
	const proposed = await diffTree(repository, fork, commit, "layers");
	return proposed.some(({ path, id }) => idOf.has(path) && idOf.get(path) !== id);
}

function staleReview(branch: string): WrongError {
	return new WrongError(`${branch}: ${staleText}. Decline it, and ask the sender to send it again`);
}

/** @throws {WrongError} if the served branch has changed the same layer */
export async function refuseStale(repository: string, review: Review, base = servedRef): Promise<void> {
	if (await isStale(repository, review, base)) throw staleReview(review.branch);
}

/**
 * Merges a review, in the version that was shown, into the served branch, and removes its branch: both, or neither.
 * @returns id of the merge commit
 * @throws {WrongError} if the review has changed since it was read, or the served branch has changed the same layer
 */
export async function acceptReview(repository: string, review: Review, reviewer: Reviewer): Promise<string> {
	const { branch, commit } = review;
	for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
		const base = await gitText(repository, ["rev-parse", "--verify", servedRef]);
		await refuseStale(repository, review, base);
		const tree = await mergeTrees(repository, base, commit);
		if (tree === null) throw staleReview(branch);
		const subject = `accept ${branch}`;
		const merge = await commitTree(repository, reviewer, tree, ["-p", base, "-p", commit, "-m", subject]);
		const updates = [`update ${servedRef} ${merge} ${base}`, `delete refs/heads/${branch} ${commit}`];
		if (await moveReview(repository, review, subject, updates)) return merge;
	}
	throw new Error("others keep moving the branch main: try again");
}

/**
 * Moves a review from its branch to one under `declined/`, with a last commit that says who declined it and why. The
 * publisher's status and the audit read that commit.
 * @returns `declined/register/23ax5t/0123456789ab`
 * @throws {WrongError} if the review has changed since it was read
 */
export async function declineReview(repository: string, review: Review, reviewer: Reviewer, reason: string) {
	const { branch, commit } = review;
	const declined = `${declinedFolder}/${branch}/${commit.slice(0, 12)}`;
	const subject = `decline ${branch}`;
	const main = await gitText(repository, ["rev-parse", "--verify", servedRef]);
	const words = ["-p", commit, "-m", subject, "-m", reason, "-m", `${mainTrailer}: ${main}`];
	const last = await commitTree(repository, reviewer, `${commit}^{tree}`, words);
	const updates = [`update refs/heads/${declined} ${last}`, `delete refs/heads/${branch} ${commit}`];
	if (await moveReview(repository, review, subject, updates)) return declined;
	throw heldReview(branch);
}

function heldReview(branch: string): Error {
	return new Error(`${branch}: another process holds it: try again`);
}

/** @returns whether the refs were moved @throws {WrongError} if the review's branch has moved from its commit */
async function moveReview(repository: string, review: Review, reason: string, updates: string[]) {
	const { branch, commit } = review;
	const input = updates.map((line) => `${line}\n`).join("");
	try {
		await runGit(repository, ["update-ref", "-m", reason, "--stdin"], { input });
		return true;
	} catch (error) {
		if (!(error instanceof GitFailure)) throw error;
	}
	const tip = await gitText(repository, ["for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`]);
	if (tip === commit) return false;
	throw changedReview(branch, commit.slice(0, 12));
}

function commitTree(repository: string, { name, mail }: Reviewer, tree: string, words: string[]) {
	const identity = ["-c", `user.name=${name}`, "-c", `user.email=${mail}`];
	return gitText(repository, [...identity, "commit-tree", tree, ...words]);
}

/**
 * Splits a repair, so that a decision can be about some of its layers: they get a branch of their own, and the others keep
 * theirs, or get one if it had the name of a chosen layer. Both happen, or neither.
 * @param only absent: the whole repair
 * @returns `chosen`: the review of these layers, whose commit has no branch until `split` is called
 * @throws {Error} if the review is no repair, or has no such smallkey
 */
export async function splitRepair(repository: string, review: Review, only?: readonly string[]) {
	const whole = { chosen: review, split: async () => undefined };
	if (!only) return whole;
	const { branch, commit } = review;
	const repair = (await readOpen(repository, servedRef)).find((open) => open.branch === branch);
	if (!repair) throw new Error(`--only: ${branch} is no repair`);
	const { smallkeys } = repair;
	const unknown = only.filter((smallkey) => !smallkeys.includes(smallkey)).join(" ");
	if (unknown) throw new Error(`--only: ${unknown}: not in ${branch}, which has ${smallkeys.join(" ")}`);
	const others = smallkeys.filter((smallkey) => !only.includes(smallkey));
	if (others.length === 0) return whole;
	const inOrder = smallkeys.filter((smallkey) => only.includes(smallkey));
	const chosen = await partOf(repository, repair, inOrder);
	const lines = [`delete refs/heads/${branch} ${commit}`];
	for (const part of [chosen, await partOf(repository, repair, others)])
		if (part.branch === branch) lines[0] = `update refs/heads/${branch} ${part.commit} ${commit}`;
		else lines.push(`create refs/heads/${part.branch} ${part.commit}`);
	return {
		chosen: { ...review, ...chosen, name: chosen.branch },
		split: async () => {
			if (!(await moveReview(repository, review, `split ${branch}`, lines))) throw heldReview(branch);
		},
	};
}

/** Writes a commit of some layers of a repair, with the evidence for them. */
async function partOf(repository: string, repair: OpenRepair, smallkeys: string[]) {
	const base = `${repair.commit}^`;
	const isPart = (smallkey = "") => smallkeys.includes(smallkey);
	const edits = [];
	for (const { path } of await diffTree(repository, base, repair.commit, "layers"))
		if (isPart(parseLayerPath(path)?.smallkey)) {
			const text = await runGit(repository, ["cat-file", "blob", `${repair.commit}:${path}`]);
			edits.push({ path, text: text.toString("utf8") });
		}
	const body = await gitText(repository, ["show", "-s", "--format=%B", repair.commit]);
	// The evidence of each layer begins with a line that names it.
	const text = body
		.split(/^(?=Layer \S+$)/m)
		.filter((section) => isPart(/^Layer (\S+)$/m.exec(section)?.[1]))
		.join("")
		.replace(/^(?:Repairs|Evidence|Certainty|Choice): .*\n?/gm, "");
	const subject = subjectOf(smallkeys, repair.sure);
	const evidence = repair.evidence.filter((_, at) => isPart(repair.smallkeys[at]));
	const message = messageOf({ ...repair, subject, smallkeys, evidence }, text);
	const author = await gitText(repository, ["show", "-s", "--format=%an <%ae> %at +0000", repair.commit]);
	const from = await gitText(repository, ["rev-parse", base]);
	const commit = await importCommit(repository, from, { author, committer: author, message, edits });
	return { commit, branch: repairBranch(smallkeys[0] as string) };
}
