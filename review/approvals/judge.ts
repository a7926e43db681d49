import { groupByOwners, type OwnedPaths, type Owners } from "../../registry/owners.ts";

export interface Proposal {
	/** Paths that it adds, changes, removes and renames, and that need an approval: a renamed file by both of its names. */
	paths: string[];
	/** Logins in lower case of the people who opened it, or wrote or pushed a part of it, and cannot approve it. */
	makers: ReadonlySet<string>;
	/** Logins in lower case of the reviewers whose last decision on exactly its newest commit is an approval. */
	approvers: ReadonlySet<string>;
	/** Why `paths` or `makers` is incomplete; null if both are complete. */
	incomplete: string | null;
}

/** The members of each team among the owners, by the team's name; null if GitHub does not show them. */
export type Teams = ReadonlyMap<string, readonly string[] | null>;

export type ApprovalGroup = ReturnType<typeof approvalOf>;

export type Judgement = ReturnType<typeof judgement>;

/** Characters that GitHub accepts in a status. */
const maxDescriptionLength = 140;

/** Whether an owner is a team, `@organisation/team`, and not a person, `@user`. */
export const isTeam = (owner: string) => owner.includes("/");

/**
 * Judges whether the owners of all changed files have approved a pull request's newest commit.
 * @param owners the owners file of the base branch; null if it is missing or invalid
 */
export function judgeApprovals(proposal: Proposal, owners: Owners | null, teams: Teams): Judgement {
	const { paths, incomplete } = proposal;
	if (!owners) return judgement("failure", "layers/owners.json of the base branch cannot be read");
	if (incomplete !== null) return judgement("failure", incomplete);
	const groups = groupByOwners(owners, paths).map((group) => approvalOf(group, proposal, teams));
	if (groups.length === 0) return judgement("success", "needs no approval");
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	if (missing.length > 0) return judgement("failure", describeMissing(missing), groups);
	const approved = groups.flatMap(({ approvedBy }) => approvedBy);
	return judgement("success", `approved by ${listOnce(approved)}`, groups);
}

/** @param text of one line, for the status */
function judgement(state: "success" | "failure", text: string, groups: ApprovalGroup[] = []) {
	const isLong = text.length > maxDescriptionLength;
	return { state, description: isLong ? `${text.slice(0, maxDescriptionLength - 1)}…` : text, groups };
}

function approvalOf(group: OwnedPaths, { makers, approvers }: Proposal, teams: Teams) {
	const all = group.owners.flatMap((owner) => (isTeam(owner) ? (teams.get(owner) ?? []) : [owner.slice(1)]));
	const people = [...new Set(all)].filter((login) => !makers.has(login.toLowerCase()));
	const hasApproved = (login: string) => approvers.has(login.toLowerCase());
	return {
		...group,
		/** Logins of owners who have approved this commit. */
		approvedBy: people.filter(hasApproved),
		/** Logins of owners who can still approve it. */
		canApprove: people.filter((login) => !hasApproved(login)),
		/** Teams without known members: empty ones, and those that GitHub does not show. */
		unknownTeams: group.owners.filter((owner) => isTeam(owner) && !teams.get(owner)?.length),
	};
}

function describeMissing(groups: readonly ApprovalGroup[]): string {
	const people = groups.flatMap(({ canApprove }) => canApprove);
	if (people.length > 0) return `can still approve: ${listOnce(people)}`;
	const teams = groups.flatMap(({ unknownTeams }) => unknownTeams);
	return teams.length > 0 ? `no members are known of ${listOnce(teams)}` : "only those who made it own this";
}

function listOnce(names: readonly string[]): string {
	return [...new Set(names)].join(", ");
}
