import { healthPath } from "../../registry/health.ts";
import { groupByOwners, type OwnedPaths, type Owners } from "../../registry/owners.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";

export interface Proposal {
	/** Id of its newest commit. */
	head: string;
	/** Login of who opened it; null where that account is gone. */
	author: string | null;
	/** Logins of the authors and committers of its commits, and of who has pushed to its branch. */
	contributors: string[];
	/** Whether the workflows' App opened it from the branch `refresh` of this repository. */
	isRefresh: boolean;
	/** Paths that it adds, changes, removes and renames: a renamed file by both of its names. */
	paths: string[];
	/** Why `paths` or `contributors` are not all of them; null where they are. */
	incomplete: string | null;
}

/** A review as GitHub lists it ("List reviews for a pull request"). */
export interface GivenReview {
	/** Null where the account is gone. */
	user: { login: string } | null;
	state: string;
	/** Id of the commit that it was given at. */
	commit_id: string | null;
}

/** The members of each team among the owners, by the team's name; null where GitHub does not show them. */
export type Teams = ReadonlyMap<string, readonly string[] | null>;

export interface ApprovalGroup extends OwnedPaths {
	/** Logins of owners who have approved this commit. */
	approvedBy: string[];
	/** Logins of owners who could. */
	canApprove: string[];
	/** Teams without known members: empty ones, and those that GitHub does not show. */
	unknownTeams: string[];
}

export interface Judgement {
	state: "success" | "failure";
	/** In a line, for the status. */
	description: string;
	groups: ApprovalGroup[];
}

/** Characters that GitHub takes in a status. */
const maxDescription = 140;

/**
 * Whether a file needs no approval: the weekly refresh writes it. The same file of any other pull request does need one,
 * since service descriptions and health decide on symbols, labels and which layers are shown.
 */
function isExempt({ isRefresh }: Proposal, path: string): boolean {
	return isRefresh && (path === healthPath || parseLayerPath(path)?.kind === "description");
}

/** Logins do not differ by case. */
const normal = (login: string) => login.toLowerCase();

/** The people who cannot approve a proposal: those who opened it, or wrote or pushed a part of it. */
function makersOf({ author, contributors }: Proposal): Set<string> {
	return new Set([...(author === null ? [] : [author]), ...contributors].map(normal));
}

/** Reviewers whose last decision on exactly this commit is an approval. */
function approvers(proposal: Proposal, reviews: readonly GivenReview[]): Set<string> {
	const { head } = proposal;
	const makers = makersOf(proposal);
	const last = new Map<string, GivenReview>();
	for (const review of reviews) {
		const decides = ["APPROVED", "CHANGES_REQUESTED", "DISMISSED"].includes(review.state);
		if (decides && review.user) last.set(normal(review.user.login), review);
	}
	const found = [...last].filter(([, { state, commit_id }]) => state === "APPROVED" && commit_id === head);
	return new Set(found.map(([login]) => login).filter((login) => !makers.has(login)));
}

/** The people that owners stand for: `@user` is one, `@organisation/team` its members. */
function peopleOf(owners: readonly string[], teams: Teams): string[] {
	return owners.flatMap((owner) => (owner.includes("/") ? (teams.get(owner) ?? []) : [owner.slice(1)]));
}

/**
 * Judges whether the owners of all changed files have approved a pull request's newest commit.
 * @param owners those of the base branch; null where it has no usable file of them
 */
export function judgeApprovals(
	proposal: Proposal,
	reviews: readonly GivenReview[],
	owners: Owners | null,
	teams: Teams,
): Judgement {
	if (!owners) return failure("layers/owners.json of the base branch cannot be read", []);
	if (proposal.incomplete !== null) return failure(proposal.incomplete, []);
	const approved = approvers(proposal, reviews);
	const paths = proposal.paths.filter((one) => !isExempt(proposal, one));
	const all = groupByOwners(owners, paths).map((group) => groupOf(group, teams, proposal, approved));
	const missing = all.filter(({ approvedBy }) => approvedBy.length === 0);
	if (all.length === 0) return { state: "success", description: "needs no approval", groups: [] };
	if (missing.length > 0) return failure(describeMissing(missing), all);
	const people = [...new Set(all.flatMap(({ approvedBy }) => approvedBy))];
	return { state: "success", description: shorten(`approved by ${people.join(", ")}`), groups: all };
}

function groupOf(
	{ owners, paths }: OwnedPaths,
	teams: Teams,
	proposal: Proposal,
	approved: ReadonlySet<string>,
): ApprovalGroup {
	const makers = makersOf(proposal);
	const people = [...new Set(peopleOf(owners, teams))].filter((login) => !makers.has(normal(login)));
	return {
		owners,
		paths,
		approvedBy: people.filter((login) => approved.has(normal(login))),
		canApprove: people.filter((login) => !approved.has(normal(login))),
		unknownTeams: owners.filter((owner) => owner.includes("/") && !teams.get(owner)?.length),
	};
}

function describeMissing(groups: readonly ApprovalGroup[]): string {
	const people = [...new Set(groups.flatMap(({ canApprove }) => canApprove))];
	if (people.length > 0) return shorten(`can still approve: ${people.join(", ")}`);
	const teams = [...new Set(groups.flatMap(({ unknownTeams }) => unknownTeams))];
	return shorten(
		teams.length > 0 ? `no members are known of ${teams.join(", ")}` : "only those who made it own this",
	);
}

function failure(description: string, groups: ApprovalGroup[]): Judgement {
	return { state: "failure", description, groups };
}

function shorten(text: string): string {
	return text.length > maxDescription ? `${text.slice(0, maxDescription - 1)}…` : text;
}
