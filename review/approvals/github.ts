import { healthPath } from "../../registry/health.ts";
import { allOwners, type Owners } from "../../registry/owners.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { dataOf, dataOrNull, type Github, listOf } from "../../store/github/answer.ts";
import { findCheckRun, findComment, readComments, setCheckRun, writeComment } from "../post.ts";
import { ignoreAnswer, isOfRepository, isReviewBranch, nullIfRefused, type OpenPull } from "../pulls.ts";
import { conflictIsOver, conflictMarker, conflictText, renderApprovals } from "./comment.ts";
import { isTeam, type Judgement, judgeApprovals, type Proposal, type Teams } from "./judge.ts";

/** The check that a ruleset requires. */
const checkName = "owners";

/** Files of a pull request that GitHub lists (REST API, "List pull requests files"). */
const maxListedFiles = 3_000;

/** Commits of a pull request that GitHub lists ("List commits on a pull request"). */
const maxListedCommits = 250;

/** People that one run asks for a review: GitHub accepts 15 per pull request. */
const maxRequests = 10;

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
}

interface PullState extends Proposal {
	/** Whether GitHub can merge it; null while GitHub computes that. */
	isMergeable: boolean | null;
	/** Logins in lower case of the people who have reviewed this commit. */
	reviewers: ReadonlySet<string>;
}

/**
 * Reads the data of a pull request that its judgement needs.
 * @returns null if the pull request has a newer commit: the files and commits read could be that commit's
 */
async function readState({ github, author }: ApprovalRun, pull: OpenPull): Promise<PullState | null> {
	const { rest, repo, paginate } = github;
	const { sha, ref } = pull.head;
	const about = { ...repo, pull_number: pull.number };
	const parameters = { ...about, per_page: 100 };
	const reviews = await listOf(paginate(rest.pulls.listReviews, parameters), "list the reviews");
	const files = await listOf(paginate(rest.pulls.listFiles, parameters), "list the changed files");
	const commits = await listOf(paginate(rest.pulls.listCommits, parameters), "list the commits");
	const shown = await dataOf(rest.pulls.get(about), "show the pull request");
	if (shown.head.sha !== sha) return null;
	const isRefresh = isOfRepository(github, pull) && ref === "refresh" && pull.user?.login === author;
	const paths = files.flatMap(({ filename, previous_filename }) => [filename, previous_filename ?? filename]);
	const people = commits.flatMap((commit) => [commit.author?.login, commit.committer?.login]);
	const deciding = reviews.filter(({ state }) => decisions.includes(state));
	const last = new Map(deciding.map((review) => [review.user?.login.toLowerCase(), review]));
	const ofHead = ({ commit_id }: { commit_id: string | null }) => commit_id === sha;
	const approvals = [...last.values()].filter(ofHead).filter(({ state }) => state === "APPROVED");
	const hasAllFiles = files.length === shown.changed_files && files.length < maxListedFiles;
	const hasAllCommits = commits.length === shown.commits && commits.length < maxListedCommits;
	const manyCommits = hasAllCommits ? null : "too many commits for GitHub to list them: squash them";
	return {
		paths: [...new Set(paths)].filter((path) => !isRefresh || !isWrittenByRefresh(path)),
		makers: lowerSet([pull.user?.login, ...people, ...(await readPushers(github, pull))]),
		approvers: lowerSet(approvals.map(({ user }) => user?.login)),
		incomplete: hasAllFiles ? manyCommits : "too many files for GitHub to list them: split the change",
		isMergeable: shown.mergeable,
		reviewers: lowerSet(reviews.filter(ofHead).map(({ user }) => user?.login)),
	};
}

/** GitHub compares logins without regard to case. */
function lowerSet(logins: readonly (string | undefined)[]): Set<string> {
	return new Set(logins.flatMap((login) => login?.toLowerCase() ?? []));
}

/**
 * Whether the weekly refresh writes a file. There it needs no approval. In any other pull request it needs one: service
 * descriptions and health decide on symbols, labels and which layers are shown.
 */
function isWrittenByRefresh(path: string): boolean {
	return path === healthPath || parseLayerPath(path)?.kind === "description";
}

/**
 * Logins of the people who pushed to a pull request's branch: anyone can write any mail address as a commit's author.
 * Empty if GitHub does not show the pushes, such as of a private fork ("List repository activities").
 */
async function readPushers({ rest }: Github, { head }: OpenPull): Promise<(string | undefined)[]> {
	const [owner, repo] = head.repo?.full_name.split("/") ?? [];
	if (!owner || !repo) return [];
	const about = { owner, repo, ref: `refs/heads/${head.ref}`, per_page: 100 };
	const pushes = await rest.repos.listActivities(about).catch(nullIfRefused);
	return (pushes?.data ?? []).map(({ actor }) => actor?.login);
}

/** Reads the members of each team among the owners. A team may not exist, or the token may not see it. */
export async function readTeams({ rest, paginate }: Github, owners: Owners): Promise<Teams> {
	const teams = new Map<string, string[] | null>();
	for (const name of allOwners(owners).filter(isTeam)) {
		const [org = "", team_slug = ""] = name.slice(1).split("/");
		const listed = paginate(rest.teams.listMembersInOrg, { org, team_slug, per_page: 100 });
		const members = await listed.catch(nullIfRefused);
		teams.set(name, members?.map(({ login }) => login) ?? null);
	}
	return teams;
}

/** The owners who can never approve, each with the reason: teams without members, and names without an account. */
export async function unknownOwners({ rest }: Github, owners: Owners, teams: Teams): Promise<string[]> {
	const unknown: string[] = [];
	for (const [team, members] of teams) {
		if (!members) unknown.push(`${team}: there is no such team, or the token may not see it`);
		else if (members.length === 0) unknown.push(`${team}: the team has no members`);
	}
	for (const owner of allOwners(owners).filter((name) => !isTeam(name))) {
		const request = rest.users.getByUsername({ username: owner.slice(1) });
		if (!(await dataOrNull(request, `show ${owner}`))) unknown.push(`${owner}: there is no such account`);
	}
	return unknown;
}

/** Requests the missing reviews. GitHub accepts requests only for people with access; the comment names the others. */
async function requestReviews(
	{ rest, repo }: Github,
	{ number, requested_reviewers }: OpenPull,
	{ groups }: Judgement,
	reviewers: ReadonlySet<string>,
): Promise<void> {
	const known = lowerSet([...reviewers, ...(requested_reviewers ?? []).map(({ login }) => login)]);
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	const people = [...new Set(missing.flatMap(({ canApprove }) => canApprove))];
	const open = people.filter((login) => !known.has(login.toLowerCase()));
	for (const login of open.slice(0, maxRequests)) {
		const request = rest.pulls.requestReviewers({ ...repo, pull_number: number, reviewers: [login] });
		// A person without access cannot be asked, and can approve all the same.
		await request.catch(ignoreAnswer);
	}
}

/**
 * Judges one pull request: sets its check `owners`, comments on the approvals that are missing and on a conflict, and
 * merges the pull request if the service opened it and the owners have approved it.
 * @returns the judgement and other things done, in words (`the conflict is over`); null if the pull request has a newer
 * commit, which another run judges
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
	if (run.isRequesting) await requestReviews(github, pull, judgement, state.reviewers);
	const conflict = await noteConflict(run, pull, state.isMergeable, comments);
	const isMerged = state.isMergeable === true && (await mergeApproved(run, pull, judgement, checks));
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
 * which only this App sets, and `check`, which CI sets.
 * @param runs the check runs of the newest commit
 * @returns whether it was merged
 * @throws {Error} if GitHub refuses, such as for a newer commit
 */
async function mergeApproved(
	{ github, author }: ApprovalRun,
	pull: OpenPull,
	{ state, groups }: Judgement,
	runs: Awaited<ReturnType<typeof setCheckRun>>,
): Promise<boolean> {
	const { rest, repo } = github;
	const isOwn = isOfRepository(github, pull) && isReviewBranch(pull.head.ref);
	const isApproved = state === "success" && groups.length > 0;
	const isInOrder = findCheckRun(runs, "layers", author)?.conclusion === "success";
	const checks = runs.filter(({ name, app }) => name === "check" && app?.slug === "github-actions");
	const hasPassed = checks.length > 0 && checks.every(({ conclusion }) => passed.has(conclusion ?? ""));
	if (!isOwn || !isApproved || !isInOrder || !hasPassed) return false;
	// GitHub refuses this if the branch has a newer commit.
	const request = rest.pulls.merge({ ...repo, pull_number: pull.number, sha: pull.head.sha });
	await dataOf<unknown>(request, "merge the pull request");
	return true;
}
