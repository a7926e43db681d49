import { healthPath } from "../../registry/health.ts";
import { groupByOwners, type OwnedPaths, type Owners } from "../../registry/owners.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";

export interface Proposal {
	/** Id of the newest commit. */
	head: string;
	/** Login of the person who opened it; null if the account no longer exists. */
	author: string | null;
	/** Logins of the authors and committers of its commits, and of the people who pushed to its branch. */
	contributors: string[];
	/** Whether the workflows' App opened it from the branch `refresh` of this repository. */
	isRefresh: boolean;
	/** Paths that it adds, changes, removes and renames: a renamed file by both of its names. */
	paths: string[];
	/** Why `paths` or `contributors` is incomplete; null if both are complete. */
	incomplete: string | null;
}

/** A review as GitHub lists it ("List reviews for a pull request"). */
export interface GivenReview {
	/** Null if the account no longer exists. */
	user: { login: string } | null;
	state: string;
	/** Id of the commit that was reviewed. */
	commit_id: string | null;
}

/** The members of each team among the owners, by the team's name; null if GitHub does not show them. */
export type Teams = ReadonlyMap<string, readonly string[] | null>;

export interface ApprovalGroup extends OwnedPaths {
	/** Logins of owners who have approved this commit. */
	approvedBy: string[];
	/** Logins of owners who can still approve it. */
	canApprove: string[];
	/** Teams without known members: empty ones, and those that GitHub does not show. */
	unknownTeams: string[];
}

export interface Judgement {
	state: "success" | "failure";
	/** One line, for the status. */
	description: string;
	groups: ApprovalGroup[];
}

/** Characters that GitHub accepts in a status. */
const maxDescriptionLength = 140;

/**
 * Whether a file needs no approval because the weekly refresh writes it. In any other pull request the same file needs
 * one: service descriptions and health decide on symbols, labels and which layers are shown.
 */
function isExempt({ isRefresh }: Proposal, path: string): boolean {
	return isRefresh && (path === healthPath || parseLayerPath(path)?.kind === "description");
}

/** GitHub compares logins without regard to case. */
const normal = (login: string) => login.toLowerCase();

/** The people who cannot approve a proposal because they opened it, or wrote or pushed a part of it. */
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

/** Logins of the owners: `@user` is one person, `@organisation/team` is the team's members. */
function peopleOf(owners: readonly string[], teams: Teams): string[] {
	return owners.flatMap((owner) => (owner.includes("/") ? (teams.get(owner) ?? []) : [owner.slice(1)]));
}

/**
 * Judges whether the owners of all changed files have approved a pull request's newest commit.
 * @param owners the owners file of the base branch; null if it is missing or invalid
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
	return text.length > maxDescriptionLength ? `${text.slice(0, maxDescriptionLength - 1)}…` : text;
}
