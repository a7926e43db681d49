import { healthPath } from "../../registry/health.ts";
import { type Account, allOwners, type Owners } from "../../registry/owners.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { dataOf, type Github, listOf } from "../../store/github/answer.ts";
import { authorOf } from "../../store/store.ts";
import { findCheckRun, findComment, readComments, setCheckRun, writeComment } from "../post.ts";
import { isOfRepository, isReviewBranch, nullIfRefused, type OpenPull } from "../pulls.ts";
import { accountsOf, type Judgement, judgeApprovals, type Proposal, type Teams } from "./approvals.ts";
import { conflictIsOver, conflictMarker, conflictText, renderApprovals } from "./comment.ts";
import { askOwners, checkName } from "./owners.ts";
import { squashText } from "./squash.ts";

/** Files of a pull request that GitHub lists (REST API, "List pull requests files"). */
const maxListedFiles = 3_000;

/** Commits of a pull request that GitHub lists ("List commits on a pull request"). */
const maxListedCommits = 250;

/** The account that pushes with the token of a workflow's run. It does not show who has started that run. */
const workflowPusher = "github-actions[bot]";

/** Events after which a pull request is for another branch than before ("Issue event types"). */
const baseChanges = ["base_ref_changed", "automatic_base_change_succeeded"];

/** Reviews in these states are decisions; a comment is none. */
const decisions = ["APPROVED", "CHANGES_REQUESTED", "DISMISSED"];

/** What the judging of all pull requests needs. */
interface ApprovalRun {
	github: Github;
	/** The branch that the pull requests are for. */
	base: string;
	/** The owners file of that branch; null if it is missing or invalid. */
	owners: Owners | null;
	teams: Teams;
	/** Login of the workflows' App, which sets checks and writes comments. */
	author: string;
	/** Whether owners are asked for a review. */
	isRequesting: boolean;
	/** What merging a commit into that branch changes. */
	readMerge: (head: string) => Promise<MergedPaths>;
}

/** The paths that a merge changes, and why it cannot be merged as GitHub shows it; null if it can. */
export interface MergedPaths {
	paths: string[];
	obstacle: string | null;
}

interface PullState extends Proposal {
	/** Whether GitHub can merge it; null while GitHub computes that. */
	isMergeable: boolean | null;
	/** Ids of the accounts whose last decision, on any commit, asks for changes. */
	objectors: ReadonlySet<number>;
	/** Ids of the accounts that have reviewed this commit. */
	reviewers: ReadonlySet<number>;
	/** Texts of its commits, the oldest first. */
	messages: string[];
}

type Review = Awaited<ReturnType<Github["rest"]["pulls"]["listReviews"]>>["data"][number];

/** The last decision of each reviewer. */
function lastDecisions(reviews: readonly Review[]): Review[] {
	const deciding = reviews.filter(({ state }) => decisions.includes(state));
	return [...new Map(deciding.map((review) => [review.user?.id, review])).values()];
}

/**
 * The approvals of a commit, without those from before the pull request was pointed at this branch: an owner has approved
 * what it changed in another one.
 */
async function approvalsOf({ rest, repo, paginate }: Github, number: number, last: Review[], sha: string) {
	const approvals = last.filter(({ commit_id, state }) => commit_id === sha && state === "APPROVED");
	if (approvals.length === 0) return [];
	const listed = paginate(rest.issues.listEvents, { ...repo, issue_number: number, per_page: 100 });
	const events = await listOf(listed, "list the events");
	const times = events.filter(({ event }) => baseChanges.includes(event)).map((one) => one.created_at);
	const newest = Math.max(0, ...times.map((time) => Date.parse(time)));
	return approvals.filter(({ submitted_at }) => Date.parse(submitted_at ?? "") > newest);
}

/**
 * Reads the data of a pull request that its judgement needs.
 * @returns null if the pull request has a newer commit, or is for another branch now: what was read could be that one's
 */
async function readState(run: ApprovalRun, pull: OpenPull): Promise<PullState | null> {
	const { github, base, author } = run;
	const { rest, repo, paginate } = github;
	const { number } = pull;
	const { sha, ref } = pull.head;
	const about = { ...repo, pull_number: number };
	const parameters = { ...about, per_page: 100 };
	const reviews = await listOf(paginate(rest.pulls.listReviews, parameters), "list the reviews");
	const files = await listOf(paginate(rest.pulls.listFiles, parameters), "list the changed files");
	const commits = await listOf(paginate(rest.pulls.listCommits, parameters), "list the commits");
	const shown = await dataOf(rest.pulls.get(about), "show the pull request");
	if (shown.head.sha !== sha || shown.base.ref !== base) return null;
	const isOwn = isOfRepository(github, pull);
	const isRefresh = isOwn && ref === "refresh" && pull.user?.login === author;
	const merge = await run.readMerge(sha);
	const people = commits.flatMap((commit) => [commit.author?.id, commit.committer?.id]);
	const mails = isOwn && isReviewBranch(ref) ? commits.map(({ commit }) => commit.author?.email ?? "") : [];
	const last = lastDecisions(reviews);
	const approvals = await approvalsOf(github, number, last, sha);
	const objections = last.filter(({ state }) => state === "CHANGES_REQUESTED");
	const pushers = await readPushers(github, pull);
	const isHidden = pushers.some((actor) => actor?.login === workflowPusher);
	const hasAllFiles = files.length === shown.changed_files && files.length < maxListedFiles;
	const hasAllCommits = commits.length === shown.commits && commits.length < maxListedCommits;
	const reasons = [
		!hasAllFiles && "too many files for GitHub to list them: split the change",
		!hasAllCommits && "too many commits for GitHub to list them: squash them",
		isHidden && "a workflow has pushed to it, which hides who made it: use another branch",
		merge.obstacle,
		files.length === 0 && "it changes no file",
		!isSame(files, merge.paths) &&
			"GitHub lists other files than its merge changes: merge the base into the branch",
	];
	return {
		paths: merge.paths.filter((path) => !isRefresh || !isWrittenByRefresh(path)),
		makers: idsOf([pull.user?.id, ...people, ...pushers.map((actor) => actor?.id)]),
		senders: new Set(mails.flatMap((mail) => authorOf(mail) ?? [])),
		approvers: idsOf(approvals.map(({ user }) => user?.id)),
		incomplete: reasons.find((reason) => typeof reason === "string") ?? null,
		isMergeable: shown.mergeable,
		objectors: idsOf(objections.map(({ user }) => user?.id)),
		messages: commits.map(({ commit }) => commit.message),
		reviewers: idsOf(reviews.filter(({ commit_id }) => commit_id === sha).map(({ user }) => user?.id)),
	};
}

type ListedFile = Awaited<ReturnType<Github["rest"]["pulls"]["listFiles"]>>["data"][number];

/**
 * Whether GitHub lists what the merge changes; a renamed file by both of its names. GitHub lists the differences to one
 * merge base ("About comparing branches in pull requests").
 */
function isSame(files: readonly ListedFile[], paths: readonly string[]): boolean {
	const listed = files.flatMap(({ filename, previous_filename, status }) => {
		return previous_filename === undefined || status === "copied" ? filename : [filename, previous_filename];
	});
	const shown = new Set(listed);
	return shown.size === new Set(paths).size && paths.every((path) => shown.has(path));
}

function idsOf(ids: readonly (number | undefined)[]): Set<number> {
	return new Set(ids.filter((id) => id !== undefined));
}

/**
 * Whether the weekly refresh writes a file. There it needs no approval. In any other pull request it needs one: service
 * descriptions and health decide on symbols, labels and which layers are shown.
 */
function isWrittenByRefresh(path: string): boolean {
	return path === healthPath || parseLayerPath(path)?.kind === "description";
}

/**
 * The accounts that pushed to a pull request's branch: anyone can write any mail address as a commit's author.
 * Empty if GitHub does not show the pushes, such as of a private fork ("List repository activities").
 */
async function readPushers({ rest }: Github, { head }: OpenPull): Promise<(Account | undefined)[]> {
	const [owner, repo] = head.repo?.full_name.split("/") ?? [];
	if (!owner || !repo) return [];
	const about = { owner, repo, ref: `refs/heads/${head.ref}`, per_page: 100 };
	const pushes = await rest.repos.listActivities(about).catch(nullIfRefused);
	return (pushes?.data ?? []).map(({ actor }) => actor ?? undefined);
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
	const { total_count, state: statuses } = await dataOf(
		rest.repos.getCombinedStatusForRef({ ...repo, ref: pull.head.sha }),
		"show the statuses",
	);
	// Without a status the state is `pending` ("Get the combined status for a specific reference").
	if (total_count > 0 && statuses !== "success") return false;
	// GitHub refuses this if the branch has a newer commit.
	const about = { ...repo, pull_number: pull.number, sha: pull.head.sha };
	const request = rest.pulls.merge({ ...about, merge_method: "squash", ...squashText(pull, messages) });
	await dataOf<unknown>(request, "merge the pull request");
	return true;
}
