import type { Owners } from "../../registry/owners.ts";
import { dataOf, dataOrNull, type Github, isAnswered, listOf } from "../../store/github/answer.ts";
import {
	type Comment,
	findCheckRun,
	findComment,
	readCheckRuns,
	readComments,
	setCheckRun,
	writeComment,
} from "../post.ts";
import { isOfRepository, isRefused, type OpenPull } from "../pulls.ts";
import { approvalsMarker, conflictIsOver, conflictMarker, conflictText, renderApprovals } from "./comment.ts";
import { type GivenReview, type Judgement, judgeApprovals, type Proposal, type Teams } from "./judge.ts";
import { mergeApproved } from "./merge.ts";

/** The check that a ruleset requires. */
export const checkName = "owners";

/** Files of a pull request that GitHub lists (REST API, "List pull requests files"). */
const maxListedFiles = 3_000;

/** Commits of a pull request that GitHub lists ("List commits on a pull request"). */
const maxListedCommits = 250;

/** People that one run asks for a review: GitHub accepts 15 per pull request. */
const maxRequests = 10;

/**
 * Reads the data of a pull request that `judgeApprovals` needs, and whether GitHub can merge it. `isMergeable` is null
 * while GitHub computes that.
 * @param author login of the workflows' App
 * @returns null if the pull request has a newer commit: the files and commits read could be that commit's
 */
async function readProposal(
	github: Github,
	pull: OpenPull,
	author: string,
): Promise<{ proposal: Proposal; isMergeable: boolean | null } | null> {
	const { rest, repo, paginate } = github;
	const parameters = { ...repo, pull_number: pull.number, per_page: 100 };
	const files = await listOf(paginate(rest.pulls.listFiles, parameters), "list the changed files");
	const commits = await listOf(paginate(rest.pulls.listCommits, parameters), "list the commits");
	const paths = files.flatMap(({ filename, previous_filename }) =>
		previous_filename === undefined ? [filename] : [filename, previous_filename],
	);
	const shown = await dataOf(rest.pulls.get({ ...repo, pull_number: pull.number }), "show the pull request");
	if (shown.head.sha !== pull.head.sha) return null;
	const contributors = commits.flatMap(({ author, committer }) => [author?.login, committer?.login]);
	const proposal = {
		head: pull.head.sha,
		author: pull.user?.login ?? null,
		contributors: [
			...contributors.filter((login) => login !== undefined),
			...(await readPushers(github, pull)),
		],
		isRefresh: isOfRepository(github, pull) && pull.head.ref === "refresh" && pull.user?.login === author,
		paths,
		incomplete: incompleteOf(files.length, commits.length, shown),
	};
	return { proposal, isMergeable: shown.mergeable };
}

/**
 * Logins of the people who pushed to a pull request's branch: anyone can write any mail address as a commit's author.
 * Empty if GitHub does not show the pushes, such as of a private fork ("List repository activities").
 */
async function readPushers({ rest }: Github, { head }: OpenPull): Promise<string[]> {
	const [owner, repo] = head.repo?.full_name.split("/") ?? [];
	if (!owner || !repo) return [];
	const about = { owner, repo, ref: `refs/heads/${head.ref}`, per_page: 100 };
	const pushes = await rest.repos.listActivities(about).then(({ data }) => data, onlyIfRefused);
	return (pushes ?? []).flatMap(({ actor }) => actor?.login ?? []);
}

/** Why GitHub's lists of a pull request are not complete; null if they are. */
function incompleteOf(
	files: number,
	commits: number,
	{ changed_files, commits: allCommits }: { changed_files: number; commits: number },
): string | null {
	if (files !== changed_files || files >= maxListedFiles)
		return "too many files for GitHub to list them: split the change";
	if (commits !== allCommits || commits >= maxListedCommits)
		return "too many commits for GitHub to list them: squash them";
	return null;
}

/** All names in the owners file: teams (`@organisation/team`) and people (`@user`). */
function namesOf({ operators, rules }: Owners): Set<string> {
	return new Set([...operators, ...rules.flatMap((rule) => rule.owners)]);
}

const isTeam = (name: string) => name.includes("/");

/** Reads the members of each team among the owners. */
export async function readTeams({ rest, paginate }: Github, owners: Owners): Promise<Teams> {
	const teams = new Map<string, string[] | null>();
	for (const name of [...namesOf(owners)].filter(isTeam)) {
		const [org = "", team_slug = ""] = name.slice(1).split("/");
		const listed = paginate(rest.teams.listMembersInOrg, { org, team_slug, per_page: 100 });
		// The team does not exist, or the token may not see it.
		const members = await listed.catch(onlyIfRefused);
		teams.set(name, members === null ? null : members.map(({ login }) => login));
	}
	return teams;
}

/** @throws {Error} if GitHub did not answer: then it is unknown whether the thing exists */
function onlyIfRefused(error: unknown): null {
	if (isRefused(error)) return null;
	throw error;
}

/** The owners who can never approve: teams without members, and names without an account. */
export async function unknownOwners(
	{ rest }: Github,
	owners: Owners,
	teams: Teams,
): Promise<{ owner: string; reason: string }[]> {
	const unknown: { owner: string; reason: string }[] = [];
	for (const [owner, members] of teams) {
		if (members === null)
			unknown.push({ owner, reason: "there is no such team, or the token may not see it" });
		else if (members.length === 0) unknown.push({ owner, reason: "the team has no members" });
	}
	for (const owner of namesOf(owners)) {
		if (isTeam(owner)) continue;
		const request = rest.users.getByUsername({ username: owner.slice(1) });
		if (!(await dataOrNull(request, `show ${owner}`)))
			unknown.push({ owner, reason: "there is no such account" });
	}
	return unknown;
}

/** Requests the missing reviews. GitHub accepts requests only for people with access; the comment names the others. */
async function requestReviews(
	{ rest, repo }: Github,
	pull: OpenPull,
	{ groups }: Judgement,
	reviews: readonly GivenReview[],
): Promise<void> {
	const requested = pull.requested_reviewers?.map(({ login }) => login.toLowerCase()) ?? [];
	const answered = reviews
		.filter(({ commit_id }) => commit_id === pull.head.sha)
		.map(({ user }) => user?.login.toLowerCase());
	const known = new Set([...requested, ...answered]);
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	const people = new Set(missing.flatMap(({ canApprove }) => canApprove));
	const open = [...people].filter((login) => !known.has(login.toLowerCase()));
	for (const login of open.slice(0, maxRequests)) {
		const request = rest.pulls.requestReviewers({ ...repo, pull_number: pull.number, reviewers: [login] });
		await request.catch((error: unknown) => {
			// A person without access cannot be asked, and can approve all the same.
			if (!isAnswered(error)) throw error;
		});
	}
}

/**
 * Judges one pull request: sets its check `owners`, comments on the approvals that are missing and on a conflict, and
 * merges the pull request if the service opened it and the owners have approved it.
 * @param author login of the workflows' App, which sets checks and writes comments
 * @returns the judgement, and other things done, in words (`the conflict is over`); null if the pull request has a newer
 * commit, which another run judges
 */
export async function judgePull(
	github: Github,
	pull: OpenPull,
	owners: Owners | null,
	teams: Teams,
	{ base, author, isRequesting }: { base: string; author: string; isRequesting: boolean },
): Promise<{ judgement: Judgement; done: string[] } | null> {
	const { rest, repo, paginate } = github;
	const parameters = { ...repo, pull_number: pull.number, per_page: 100 };
	const reviews = await listOf(paginate(rest.pulls.listReviews, parameters), "list the reviews");
	const state = await readProposal(github, pull, author);
	if (!state) return null;
	const judgement = judgeApprovals(state.proposal, reviews, owners, teams);
	const runs = await readCheckRuns(github, pull.head.sha);
	const text = renderApprovals(judgement);
	const run = {
		name: checkName,
		conclusion: judgement.state,
		title: judgement.description,
		summary: text,
	};
	await setCheckRun(github, pull.head.sha, run, findCheckRun(runs, checkName, author));
	const comments = await readComments(github, pull.number, author);
	if (judgement.groups.length > 0)
		await writeComment(github, pull.number, { marker: approvalsMarker, text }, comments);
	if (isRequesting) await requestReviews(github, pull, judgement, reviews);
	const conflict = await noteConflict(github, pull, base, state.isMergeable, comments);
	const isMerged = state.isMergeable === true && (await mergeApproved(github, pull, judgement, runs, author));
	return { judgement, done: [...(conflict ? [conflict] : []), ...(isMerged ? ["merged"] : [])] };
}

/**
 * Comments on a merge conflict, since GitHub starts no workflow of a pull request that has one.
 * @returns what was done; null if nothing was
 */
async function noteConflict(
	github: Github,
	pull: OpenPull,
	base: string,
	isMergeable: boolean | null,
	comments: readonly Comment[],
): Promise<string | null> {
	// GitHub has not computed it yet: the next run reads it.
	if (isMergeable === null) return null;
	const ownBranch = isOfRepository(github, pull) ? pull.head.ref : null;
	const text = isMergeable ? conflictIsOver : conflictText(base, ownBranch);
	if (isMergeable && !findComment(comments, conflictMarker)) return null;
	const posted = await writeComment(github, pull.number, { marker: conflictMarker, text }, comments);
	if (posted === "unchanged") return null;
	return isMergeable ? "the conflict is over" : "has a conflict, and a comment says what to do";
}
