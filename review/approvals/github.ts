import type { Owners } from "../../registry/owners.ts";
import { dataOf, isAnswered } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { writeComment } from "../post.ts";
import { setStatus } from "../status.ts";
import { approvalsMarker, renderApprovals } from "./comment.ts";
import { type GivenReview, type Judgement, judgeApprovals, type Proposal, type Teams } from "./judge.ts";

/** The status that a ruleset requires. */
export const statusContext = "owners";

/** Files of a pull request that GitHub lists (REST API, "List pull requests files"). */
const maxListedFiles = 3_000;

/** People who are asked for a review at once: GitHub takes 15 of a pull request. */
const maxRequests = 10;

/** An open pull request, as GitHub lists it. */
export interface OpenPull {
	number: number;
	html_url: string;
	user: { login: string } | null;
	head: { sha: string };
	requested_reviewers?: { login: string }[] | null;
}

/**
 * The open pull requests for a branch.
 * @param from only those of `owner:branch`
 */
export async function openPulls(
	{ rest, repo, paginate }: Github,
	base: string,
	from?: string,
): Promise<OpenPull[]> {
	const parameters = {
		...repo,
		state: "open" as const,
		base,
		...(from === undefined ? {} : { head: from }),
		per_page: 100,
	};
	return listAll(paginate(rest.pulls.list, parameters), "list the pull requests");
}

/** octokit's pages take a 409 for an empty list: an answer of none is asked for no more than that here. */
async function listAll<T>(pages: Promise<T[]>, what: string): Promise<T[]> {
	return dataOf(
		pages.then((data) => ({ data })),
		what,
	);
}

/** What is judged of a pull request; null where it has another commit meanwhile, whose files these would be. */
export async function readProposal(
	{ rest, repo, paginate }: Github,
	pull: OpenPull,
): Promise<Proposal | null> {
	const parameters = { ...repo, pull_number: pull.number, per_page: 100 };
	const files = await listAll(paginate(rest.pulls.listFiles, parameters), "list the changed files");
	const paths = files.flatMap(({ filename, previous_filename }) =>
		previous_filename === undefined ? [filename] : [filename, previous_filename],
	);
	const { changed_files, head } = await dataOf(
		rest.pulls.get({ ...repo, pull_number: pull.number }),
		"show the pull request",
	);
	if (head.sha !== pull.head.sha) return null;
	const isComplete = files.length === changed_files && files.length < maxListedFiles;
	return { head: pull.head.sha, author: pull.user?.login ?? null, paths, isComplete };
}

/** All reviews of a pull request, oldest first. */
export async function readReviews({ rest, repo, paginate }: Github, number: number): Promise<GivenReview[]> {
	const parameters = { ...repo, pull_number: number, per_page: 100 };
	const reviews = await listAll(paginate(rest.pulls.listReviews, parameters), "list the reviews");
	return reviews.map(({ user, state, commit_id }) => ({
		login: user?.login ?? null,
		state,
		commit: commit_id,
	}));
}

/** The teams among the owners: `@organisation/team`. */
function teamsOf({ operators, rules }: Owners): Set<string> {
	const names = [...operators, ...rules.flatMap((rule) => rule.owners)];
	return new Set(names.filter((name) => name.includes("/")));
}

/** Whether somebody's membership has to be asked for. */
export function hasTeams(owners: Owners): boolean {
	return teamsOf(owners).size > 0;
}

/** The members of every team among the owners. */
export async function readTeams({ rest, paginate }: Github, owners: Owners): Promise<Teams> {
	const teams = new Map<string, string[] | null>();
	for (const name of teamsOf(owners)) {
		const [org = "", team_slug = ""] = name.slice(1).split("/");
		const members = paginate(rest.teams.listMembersInOrg, { org, team_slug, per_page: 100 });
		// A team that does not exist, and one that the token may not see: nobody is known of either.
		teams.set(
			name,
			await members.then(
				(all) => all.map(({ login }) => login),
				(error: unknown) => onlyIfRefused(error),
			),
		);
	}
	return teams;
}

/** @throws {Error} where GitHub did not answer: nobody may be judged by that */
function onlyIfRefused(error: unknown): null {
	const isForbidden = error instanceof Error && /^GitHub answers 403 /.test(error.message);
	if (isForbidden || isAnswered(error)) return null;
	throw error;
}

/** Asks for the reviews that are missing, of people whom GitHub lets be asked: others only can be named. */
export async function requestReviews(
	{ rest, repo }: Github,
	pull: OpenPull,
	{ groups }: Judgement,
	reviews: readonly GivenReview[],
): Promise<void> {
	const asked = pull.requested_reviewers?.map(({ login }) => login.toLowerCase()) ?? [];
	const answered = reviews
		.filter(({ commit }) => commit === pull.head.sha)
		.map(({ login }) => login?.toLowerCase());
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	const people = new Set(missing.flatMap(({ canApprove }) => canApprove));
	const open = [...people].filter(
		(login) => !asked.includes(login.toLowerCase()) && !answered.includes(login.toLowerCase()),
	);
	for (const login of open.slice(0, maxRequests)) {
		const request = rest.pulls.requestReviewers({ ...repo, pull_number: pull.number, reviewers: [login] });
		await request.catch((error: unknown) => {
			// Whoever is no collaborator cannot be asked, and may approve all the same.
			if (!isAnswered(error)) throw error;
		});
	}
}

/**
 * Looks at one pull request, and says on GitHub what it still needs.
 * @returns null where it has a newer commit meanwhile: the run of that one judges it
 */
export async function judgePull(
	github: Github,
	pull: OpenPull,
	owners: Owners | null,
	teams: Teams,
	options: { author: string; isRequesting: boolean },
): Promise<Judgement | null> {
	const reviews = await readReviews(github, pull.number);
	const proposal = await readProposal(github, pull);
	if (!proposal) return null;
	const judgement = judgeApprovals(proposal, reviews, owners, teams);
	const { state, description } = judgement;
	const status = { context: statusContext, state, description, target_url: pull.html_url };
	await setStatus(github, pull.head.sha, status, options.author);
	if (judgement.groups.length > 0) {
		const comment = { marker: approvalsMarker, text: renderApprovals(judgement) };
		await writeComment(github, pull.number, comment, options.author);
	}
	if (options.isRequesting) await requestReviews(github, pull, judgement, reviews);
	return judgement;
}
