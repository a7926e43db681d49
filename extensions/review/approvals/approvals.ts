import {
	type Account,
	accountOf,
	groupByOwners,
	hasNoId,
	isTeam,
	type OwnedPaths,
	type Owners,
} from "../../../registry/owners.ts";

export interface Proposal {
	/** Paths that it adds, changes, removes and renames, and that need an approval: a renamed file by both of its names. */
	paths: string[];
	/** Ids of the accounts that opened it, or wrote or pushed a part of it, and cannot approve it. */
	makers: ReadonlySet<number>;
	/** Senders of signed requests that it comes from: who has their secrets cannot approve it. */
	senders: ReadonlySet<string>;
	/** Ids of the reviewers whose last decision on exactly its newest commit is an approval. */
	approvers: ReadonlySet<number>;
	/** Why `paths` or `makers` is incomplete; null if both are complete. */
	incomplete: string | null;
}

/** The members of each team among the owners, by the team's name; null if GitHub does not show them. */
export type Teams = ReadonlyMap<string, readonly Account[] | null>;

export type ApprovalGroup = ReturnType<typeof approvalOf>;

export type Judgement = ReturnType<typeof judgement>;

/** Characters that GitHub accepts in a status. */
const maxDescriptionLength = 140;

/**
 * Judges whether the owners of all changed files have approved a pull request's newest commit.
 * @param owners the owners file of the base branch; null if it is missing or invalid
 */
export function judgeApprovals(proposal: Proposal, owners: Owners | null, teams: Teams): Judgement {
	const { paths, incomplete, senders } = proposal;
	if (!owners) return judgement("failure", "layers/owners.json of the base branch cannot be read");
	if (incomplete !== null) return judgement("failure", incomplete);
	const behind = [...senders].flatMap((sender) => accountsOf(owners.senders.get(sender) ?? [], teams));
	const makers = new Set([...proposal.makers, ...behind.map(({ id }) => id)]);
	const groups = groupByOwners(owners, paths).map((group) =>
		approvalOf(group, { ...proposal, makers }, teams),
	);
	if (groups.length === 0) return judgement("success", "needs no approval");
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	if (missing.length > 0) return judgement("failure", describeMissing(missing), groups);
	const approved = groups.flatMap(({ approvedBy }) => approvedBy.map(({ login }) => login));
	return judgement("success", `approved by ${listOnce(approved)}`, groups);
}

/** @param text of one line, for the status */
function judgement(state: "success" | "failure", text: string, groups: ApprovalGroup[] = []) {
	const isLong = text.length > maxDescriptionLength;
	return { state, description: isLong ? `${text.slice(0, maxDescriptionLength - 1)}…` : text, groups };
}

/** The accounts of owners, each once: a team's members, and those that are named. */
export function accountsOf(owners: readonly string[], teams: Teams): Account[] {
	const all = owners.flatMap((owner) =>
		isTeam(owner) ? (teams.get(owner) ?? []) : (accountOf(owner) ?? []),
	);
	return [...new Map(all.map((account) => [account.id, account])).values()];
}

function approvalOf(group: OwnedPaths, { makers, approvers }: Proposal, teams: Teams) {
	const people = accountsOf(group.owners, teams).filter(({ id }) => !makers.has(id));
	return {
		...group,
		/** Owners who have approved this commit. */
		approvedBy: people.filter(({ id }) => approvers.has(id)),
		/** Owners who can still approve it. */
		canApprove: people.filter(({ id }) => !approvers.has(id)),
		/** Teams without known members: empty ones, and those that GitHub does not show. */
		unknownTeams: group.owners.filter((owner) => isTeam(owner) && !teams.get(owner)?.length),
		/** Logins without the id of an account, which approve nothing. */
		withoutId: group.owners.filter(hasNoId),
	};
}

function describeMissing(groups: readonly ApprovalGroup[]): string {
	const people = groups.flatMap(({ canApprove }) => canApprove.map(({ login }) => login));
	if (people.length > 0) return `can still approve: ${listOnce(people)}`;
	const teams = groups.flatMap(({ unknownTeams }) => unknownTeams);
	const logins = groups.flatMap(({ withoutId }) => withoutId);
	if (logins.length > 0) return `npx fragment-publisher owners has to write the id of ${listOnce(logins)}`;
	return teams.length > 0 ? `no members are known of ${listOnce(teams)}` : "only those who made it own this";
}

function listOnce(names: readonly string[]): string {
	return [...new Set(names)].join(", ");
}
