import { healthPath } from "../../registry/health.ts";
import { type Owners, ownersOf } from "../../registry/owners.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";

/** What a pull request is, as far as its approval goes. */
export interface Proposal {
	/** Id of its newest commit. */
	head: string;
	/** Login of who opened it; null where that account is gone. */
	author: string | null;
	/** Paths that it adds, changes, removes and renames: a renamed file by both of its names. */
	paths: string[];
	/** Whether `paths` are all of them. */
	isComplete: boolean;
}

/** A review, as GitHub keeps it. */
export interface GivenReview {
	/** Null where the account is gone. */
	login: string | null;
	state: string;
	/** Id of the commit that it was given at. */
	commit: string | null;
}

/** The people behind each owner that is a team, by the team's name; null where GitHub does not tell. */
export type Teams = ReadonlyMap<string, readonly string[] | null>;

/** Files that the same owners approve. */
export interface ApprovalGroup {
	owners: string[];
	paths: string[];
	/** Logins of owners who have approved this commit. */
	approvedBy: string[];
	/** Logins of owners who could. */
	canApprove: string[];
	/** Teams of which nobody is known: empty ones, and those that GitHub does not show. */
	unknownTeams: string[];
}

/** What a pull request still needs. */
export interface Judgement {
	state: "success" | "failure";
	/** In a line, for the status. */
	description: string;
	groups: ApprovalGroup[];
}

/** Characters that GitHub takes in a status. */
const maxDescription = 140;

/** Whether a file is written by `npx fragments refresh` and needs nobody's approval. */
function isMachineMade(path: string): boolean {
	return path === healthPath || parseLayerPath(path)?.kind === "description";
}

/** Logins do not differ by case. */
const normal = (login: string) => login.toLowerCase();

/** Those whose last word on exactly this commit is an approval; nobody approves a change of his own. */
function approvers({ head, author }: Proposal, reviews: readonly GivenReview[]): Set<string> {
	const last = new Map<string, GivenReview>();
	for (const review of reviews) {
		const decides = ["APPROVED", "CHANGES_REQUESTED", "DISMISSED"].includes(review.state);
		if (decides && review.login !== null) last.set(normal(review.login), review);
	}
	const found = [...last].filter(([, { state, commit }]) => state === "APPROVED" && commit === head);
	return new Set(found.map(([login]) => login).filter((login) => login !== normal(author ?? "")));
}

/** The people that owners stand for: `@user` is one, `@organisation/team` its members. */
function peopleOf(owners: readonly string[], teams: Teams): string[] {
	return owners.flatMap((owner) => (owner.includes("/") ? (teams.get(owner) ?? []) : [owner.slice(1)]));
}

/**
 * Judges whether the owners of all changed files have approved a pull request's newest commit.
 * @param owners those of the branch below; null where it has no usable file of them
 */
export function judgeApprovals(
	proposal: Proposal,
	reviews: readonly GivenReview[],
	owners: Owners | null,
	teams: Teams,
): Judgement {
	if (!owners) return failure("layers/owners.json of the branch below cannot be read", []);
	if (!proposal.isComplete) return failure("too many files for GitHub to list them: split the change", []);
	const approved = approvers(proposal, reviews);
	const groups = new Map<string, ApprovalGroup>();
	for (const path of proposal.paths.filter((one) => !isMachineMade(one))) {
		const names = ownersOf(owners, path);
		const group = groups.get(names.join(" ")) ?? groupOf(names, teams, proposal, approved);
		group.paths.push(path);
		groups.set(names.join(" "), group);
	}
	const all = [...groups.values()];
	const missing = all.filter(({ approvedBy }) => approvedBy.length === 0);
	if (all.length === 0) return { state: "success", description: "needs nobody's approval", groups: [] };
	if (missing.length > 0) return failure(describeMissing(missing), all);
	const people = [...new Set(all.flatMap(({ approvedBy }) => approvedBy))];
	return { state: "success", description: shorten(`approved by ${people.join(", ")}`), groups: all };
}

function groupOf(
	owners: string[],
	teams: Teams,
	{ author }: Proposal,
	approved: ReadonlySet<string>,
): ApprovalGroup {
	const people = [...new Set(peopleOf(owners, teams))].filter(
		(login) => normal(login) !== normal(author ?? ""),
	);
	return {
		owners,
		paths: [],
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
		teams.length > 0 ? `nobody is known of ${teams.join(", ")}` : "nobody but its author owns this",
	);
}

function failure(description: string, groups: ApprovalGroup[]): Judgement {
	return { state: "failure", description, groups };
}

function shorten(text: string): string {
	return text.length > maxDescription ? `${text.slice(0, maxDescription - 1)}…` : text;
}
