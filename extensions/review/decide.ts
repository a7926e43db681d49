import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type Io, WrongError } from "../../api/configuration.ts";
import { type Review, servedRef } from "../../api/service/repository.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { GitFailure, gitText, runGit } from "../../store/git/commands/run.ts";
import { diffTree, readEntries } from "../../store/git/commands/tree.ts";
import { messageOf, type OpenRepair, readOpen, subjectOf } from "../../store/git/review-branches.ts";
import { importCommit } from "../../store/git/writer.ts";
import { declinedFolder, mainTrailer, repairBranch, serviceIdentity } from "../../store/store.ts";
import { mergeTrees } from "./layer-changes.ts";

/** While other processes move the branch. */
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
export async function refuseOthers(path: string, name: string): Promise<void> {
	if ((await gitText(path, ["rev-parse", "--is-bare-repository"])) !== "true")
		throw new Error(`${name}: is no repository of a service; a pull request is merged where it was opened`);
	const { uid } = await stat(join(path, "refs", "heads"));
	const user = process.getuid?.() ?? uid;
	// The service could not write over files of another user (root included), and would stop at its next write.
	if (uid !== user)
		throw new Error(`${name}: belongs to the user ${uid}, and this is the user ${user}: run it as that user`);
}

/** A review, or those layers of a repair about which is decided. */
interface Decision extends Pick<Review, "branch" | "commit"> {
	/** The repair of which it is a part. */
	whole?: Pick<Review, "branch" | "commit">;
	/** What becomes of the other layers: lines for git-update-ref(1). */
	rest?: string[];
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
export async function refuseChoice(repository: string, { branch, commit }: Decision): Promise<void> {
	if (!isRepair(branch)) return;
	if ((await runGit(repository, ["diff", "--name-only", `${commit}^`, commit])).length > 0) return;
	throw new WrongError(
		`${branch}: several places agree alike, and nothing is chosen: register the right place (npx fragment-publisher review show ${branch} lists them); the proposal is then withdrawn`,
	);
}

/** @throws {Error} if the answer is not yes */
export async function confirmMerge(reviews: readonly Decision[], io: Io): Promise<void> {
	const [first, second] = reviews;
	const answer = await io.ask(
		second ? `Merge these ${reviews.length} reviews? [y/N] ` : "Merge this? [y/N] ",
	);
	if (answer === null && second) throw new Error("to merge several reviews, a terminal is needed");
	if (answer === null)
		throw new Error(
			`--commit ${(first?.whole ?? first)?.commit.slice(0, 12)}: is needed to merge this without a terminal`,
		);
	if (!/^y(?:es)?$/i.test(answer)) throw new WrongError("Not accepted: nothing was merged");
}

export const staleText = "the branch main has changed the same layer since";

export const staleAdvice = `${staleText}. Decline it, and ask the sender to send it again`;

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

/**
 * Merges a review, in the version that was shown, into the served branch, and removes its branch: both, or neither.
 * @returns id of the merge commit
 * @throws {WrongError} if the review has changed since it was read, or the served branch has changed the same layer
 */
export async function acceptReview(
	repository: string,
	review: Decision,
	reviewer: Reviewer,
): Promise<string> {
	const { branch, commit } = review;
	const subject = `accept ${branch}`;
	for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
		const base = await gitText(repository, ["rev-parse", "--verify", servedRef]);
		const isOld = await isStale(repository, review, base);
		const tree = isOld ? null : await mergeTrees(repository, base, commit);
		if (tree === null) throw new WrongError(`${branch}: ${staleAdvice}`);
		const merge = await commitTree(repository, reviewer, tree, ["-p", base, "-p", commit, "-m", subject]);
		if (await moveReview(repository, review, subject, `update ${servedRef} ${merge} ${base}`)) return merge;
	}
	throw new Error("others keep moving the branch main: try again");
}

/**
 * Moves a review from its branch to one under `declined/`, with a last commit that says who declined it and why. The
 * publisher's status and the audit read that commit.
 * @returns `declined/register/23ax5t/0123456789ab`
 * @throws {WrongError} if the review has changed since it was read
 */
export async function declineReview(
	repository: string,
	review: Decision,
	reviewer: Reviewer,
	reason: string,
) {
	const { branch, commit } = review;
	const declined = `${declinedFolder}/${branch}/${commit.slice(0, 12)}`;
	const subject = `decline ${branch}`;
	const main = await gitText(repository, ["rev-parse", "--verify", servedRef]);
	const words = ["-p", commit, "-m", subject, "-m", reason, "-m", `${mainTrailer}: ${main}`];
	const last = await commitTree(repository, reviewer, `${commit}^{tree}`, words);
	if (await moveReview(repository, review, subject, `update refs/heads/${declined} ${last}`)) return declined;
	throw new Error(`${branch}: another process holds it: try again`);
}

/**
 * Moves a ref, and takes the review from its branch: both, or neither.
 * @returns whether they were moved @throws {WrongError} if the review's branch has moved from its commit
 */
async function moveReview(repository: string, decision: Decision, reason: string, update: string) {
	const { branch, commit } = decision.whole ?? decision;
	const { rest = [`delete refs/heads/${branch} ${commit}`] } = decision;
	const input = [update, ...rest].map((line) => `${line}\n`);
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
 * Chooses some layers of a repair for a decision. The others keep the branch, or get one if it had the name of a chosen layer.
 * @param only absent: the whole review
 * @throws {Error} if the review is no repair, or has no such smallkey
 */
export async function choosePart<Whole extends Review>(
	repository: string,
	whole: Whole,
	only?: readonly string[],
) {
	if (!only) return whole;
	const { branch, commit } = whole;
	const repair = (await readOpen(repository, servedRef)).find((open) => open.branch === branch);
	if (!repair) throw new Error(`--only: ${branch} is no repair`);
	const { smallkeys } = repair;
	const unknown = only.filter((smallkey) => !smallkeys.includes(smallkey)).join(" ");
	if (unknown) throw new Error(`--only: ${unknown}: not in ${branch}, which has ${smallkeys.join(" ")}`);
	const others = smallkeys.filter((smallkey) => !only.includes(smallkey));
	if (others.length === 0) return whole;
	const inOrder = smallkeys.filter((smallkey) => only.includes(smallkey));
	const kept = await partOf(repository, repair, others);
	const rest =
		kept.branch === branch
			? [`update refs/heads/${branch} ${kept.commit} ${commit}`]
			: [`delete refs/heads/${branch} ${commit}`, `create refs/heads/${kept.branch} ${kept.commit}`];
	return { ...whole, ...(await partOf(repository, repair, inOrder)), whole, rest };
}

/** Writes a commit of some layers of a repair, with the evidence for them. */
async function partOf(repository: string, repair: OpenRepair, smallkeys: string[]) {
	const from = `${repair.commit}^`;
	const isPart = (smallkey = "") => smallkeys.includes(smallkey);
	const changes = await diffTree(repository, from, repair.commit, "layers");
	const chosen = changes.filter(({ path }) => isPart(parseLayerPath(path)?.smallkey));
	const files = await readEntries(repository, chosen);
	const edits = files.map(({ path, bytes }) => ({ path, text: new TextDecoder().decode(bytes) }));
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
	const author = `${serviceIdentity} ${repair.timeMs / 1_000} +0000`;
	const commit = await importCommit(repository, from, { author, committer: author, message, edits });
	return { commit, branch: repairBranch(smallkeys[0] as string) };
}
