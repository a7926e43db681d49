import { allOwners, type Owners } from "../../../registry/owners.ts";
import { subjectOf } from "../../../store/git/commands/commits.ts";
import { isReviewBranch } from "../../../store/store.ts";
import {
	findCheckRun,
	findComment,
	isOfRepository,
	type OpenPull,
	readComments,
	setCheckRun,
	writeComment,
} from "../pulls.ts";
import {
	accountsOf,
	conflictIsOver,
	conflictMarker,
	conflictText,
	type Judgement,
	judgeApprovals,
	renderApprovals,
	type Teams,
} from "./approvals.ts";
import { askOwners, checkName } from "./approvers.ts";
import { type PullState, readState, type StateSource } from "./pull-state.ts";

/** A line of a commit's last paragraph such as `Sender: energy`. */
const trailer = /^[A-Za-z][A-Za-z-]*: \S/;

function trailersIn(message: string): string[] {
	const [, ...paragraphs] = message.trim().split(/\n[ \t]*\n/);
	const lines = (paragraphs.at(-1) ?? "").split("\n").map((line) => line.trim());
	return lines.every((line) => trailer.test(line)) ? lines : [];
}

/**
 * The text of the one commit that a merge by squash makes. The trailers of the commits stay, each once: audit and the guard
 * against replays read who has sent what.
 * @param messages of the commits, the oldest first
 */
function squashText({ number, title }: { number: number; title: string }, messages: readonly string[]) {
	const [first = ""] = messages;
	const subject = messages.length === 1 ? subjectOf(first) : title;
	const trailers = [...new Set(messages.flatMap(trailersIn))];
	return { commit_title: `${subject} (#${number})`, commit_message: trailers.join("\n") };
}

/** What the judging of all pull requests needs. */
interface ApprovalRun extends StateSource {
	/** The owners file of the branch; null if it is missing or invalid. */
	owners: Owners | null;
	teams: Teams;
	/** Whether owners are asked for a review. */
	isRequesting: boolean;
}

/**
 * Judges one pull request: sets its check `owners`, comments on the approvals that are missing and on a conflict, and
 * merges the pull request if the service opened it and the owners have approved it.
 * @returns the judgement and other things done, in words (`the conflict is over`); null if the pull request has changed
 * meanwhile, which another run judges
 */
export async function judgePull(run: ApprovalRun, pull: OpenPull): Promise<string[] | null> {
	const { github, owners, teams, author } = run;
	const { number, head } = pull;
	const state = await readState(run, pull);
	if (!state) return null;
	const judgement = judgeApprovals(state, owners, teams);
	const { state: conclusion, description: title, groups } = judgement;
	const summary = renderApprovals(judgement);
	const check = { name: checkName, conclusion, title, summary };
	const checks = await setCheckRun(github, head.sha, check, author);
	const comments = await readComments(github, number, author);
	if (groups.length > 0) await writeComment(github, number, summary, comments);
	if (run.isRequesting) await askOwners(github, pull, judgement, state.reviewers, comments);
	const conflict = await noteConflict(run, pull, state.isMergeable, comments);
	const isMerged = state.isMergeable === true && (await mergeApproved(run, pull, judgement, checks, state));
	return [`${conclusion}: ${title}`, ...(conflict ? [conflict] : []), ...(isMerged ? ["merged"] : [])];
}

/**
 * Comments on a merge conflict, since GitHub starts no workflow of a pull request that has one.
 * @returns what was done; null if nothing was
 */
async function noteConflict(
	{ github, base }: ApprovalRun,
	pull: OpenPull,
	isMergeable: boolean | null,
	comments: Awaited<ReturnType<typeof readComments>>,
): Promise<string | null> {
	// GitHub has not computed it yet: the next run reads it.
	if (isMergeable === null || (isMergeable && !findComment(comments, conflictMarker))) return null;
	const ownBranch = isOfRepository(github, pull) ? pull.head.ref : null;
	const text = isMergeable ? conflictIsOver : conflictText(base, ownBranch);
	if ((await writeComment(github, pull.number, text, comments)) === "unchanged") return null;
	return isMergeable ? "the conflict is over" : "has a conflict, and a comment says what to do";
}

/** Conclusions that GitHub accepts for a required check. */
const passed = new Set(["success", "skipped", "neutral"]);

/**
 * Merges a pull request from `register/*` or `repair/*` that the owners have approved, so that no one with write access
 * has to press a button. The App can bypass the ruleset, so this function checks what the ruleset requires: `layers`,
 * which only this App sets, and `check`, which CI sets. Nor does it pass over an owner who asks for changes, or any check or
 * commit status that has not passed.
 * @param runs the check runs of the newest commit
 * @returns whether it was merged
 * @throws {Error} if GitHub refuses, such as for a newer commit
 */
async function mergeApproved(
	{ github, owners, teams, author }: ApprovalRun,
	pull: OpenPull,
	{ state, groups }: Judgement,
	runs: Awaited<ReturnType<typeof setCheckRun>>,
	{ objectors, messages }: PullState,
): Promise<boolean> {
	const { rest, repo } = github;
	const isOwn = isOfRepository(github, pull) && isReviewBranch(pull.head.ref);
	const isApproved = state === "success" && groups.length > 0;
	const isInOrder = findCheckRun(runs, "layers", author)?.conclusion === "success";
	// The check of this run was made after they were read.
	const own = findCheckRun(runs, checkName, author);
	const hasCheck = runs.some(({ name, app }) => name === "check" && app?.slug === "github-actions");
	const hasPassed = hasCheck && runs.every((run) => run === own || passed.has(run.conclusion ?? ""));
	const people = owners ? accountsOf([...allOwners(owners)], teams) : [];
	if (people.some(({ id }) => objectors.has(id))) return false;
	if (!isOwn || !isApproved || !isInOrder || !hasPassed) return false;
	const { total_count, state: statuses } = (
		await rest.repos.getCombinedStatusForRef({ ...repo, ref: pull.head.sha })
	).data;
	// Without a status the state is `pending` ("Get the combined status for a specific reference").
	if (total_count > 0 && statuses !== "success") return false;
	// GitHub refuses this if the branch has a newer commit.
	const about = { ...repo, pull_number: pull.number, sha: pull.head.sha };
	const request = rest.pulls.merge({ ...about, merge_method: "squash", ...squashText(pull, messages) });
	await request;
	return true;
}
