import {
	type Account,
	accountOf,
	groupByOwners,
	hasNoId,
	isTeam,
	type OwnedPaths,
	type Owners,
} from "../../../registry/owners.ts";
import { code, firstOf } from "../../../registry/untrusted-text.ts";

/** First line of the comment. A later run finds the comment by it; GitHub does not show it. */
const approvalsMarker = "<!-- fragment-publisher: approvals -->";

const maxGroups = 50;
const maxPaths = 3;
const maxPeople = 20;

export function renderApprovals({ state, description, groups }: Judgement): string {
	const title = state === "success" ? "The owners have approved" : "An approval is missing";
	const shown = groups.slice(0, maxGroups).map(groupLine);
	const hidden = groups.length - shown.length;
	return [
		...[approvalsMarker, `### ${title}`, ""],
		...(shown.length > 0 ? shown : [`- ${code(description)}`]),
		...(hidden > 0 ? [`- and ${hidden} more groups of files`] : []),
		"",
		"One owner of each group is enough. A new push needs a new approval. Who opened the pull request, pushed to its branch, or is author or committer of one of its commits, cannot approve it.",
		"",
	].join("\n");
}

function groupLine({ paths, approvedBy, canApprove, unknown }: ApprovalGroup): string {
	const listed = (names: readonly string[], max = maxPeople) => firstOf(names.map(code), max, ", ");
	const files = listed(paths, maxPaths);
	if (approvedBy.length > 0) return `- ${files}: approved by ${listed(loginsOf(approvedBy))}`;
	const people = listed(loginsOf(canApprove));
	const line = `- ${files}: ${people ? `can approve ${people}` : "no one can approve"}`;
	return unknown === null ? line : `${line}; ${code(unknown)}`;
}

function loginsOf(accounts: readonly Account[]): string[] {
	return accounts.map(({ login }) => login);
}

export interface Proposal {
	/** What it adds, changes, removes and renames, and that needs an approval: a renamed file by both of its names. */
	paths: string[];
	/** Who opened it, or wrote or pushed a part of it, and cannot approve it. */
	makers: ReadonlySet<number>;
	/** Senders of signed requests that it comes from: who has their secrets cannot approve it. */
	senders: ReadonlySet<string>;
	/** Whose last decision on exactly its newest commit is an approval. */
	approvers: ReadonlySet<number>;
	/** Why `paths` or `makers` is incomplete; null if both are complete. */
	incomplete: string | null;
}

/** The members of each team among the owners, by the team's name; null if GitHub does not show them. */
export type Teams = ReadonlyMap<string, readonly Account[] | null>;

type ApprovalGroup = ReturnType<typeof approvalOf>;

export type Judgement = ReturnType<typeof judgement>;

/** Characters of a check's title, which GitHub shows in one line. */
const maxDescriptionLength = 140;

/** @param owners of the base branch; null if missing or invalid */
export function judgeApprovals(proposal: Proposal, owners: Owners | null, teams: Teams): Judgement {
	const { paths, incomplete, senders } = proposal;
	if (!owners) return judgement("failure", "layers/owners.json of the base branch cannot be read");
	if (incomplete !== null) return judgement("failure", incomplete);
	const behind = [...senders].flatMap((sender) => owners.senders.get(sender) ?? []);
	// Someone of whom no id is known could approve a request that they have sent.
	const unknown = describeUnknown(behind, teams);
	if (unknown !== null) return judgement("failure", unknown);
	const makers = new Set([...proposal.makers, ...accountsOf(behind, teams).map(({ id }) => id)]);
	const groups = groupByOwners(owners, paths).map((group) =>
		approvalOf(group, { ...proposal, makers }, teams),
	);
	if (groups.length === 0) return judgement("success", "needs no approval");
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	if (missing.length > 0) {
		const people = loginsOf(missing.flatMap(({ canApprove }) => canApprove));
		const unable = missing.find((group) => group.unknown)?.unknown ?? "only those who made it own this";
		const text = people.length > 0 ? `can still approve: ${listOnce(people)}` : unable;
		return judgement("failure", text, groups);
	}
	const approved = loginsOf(groups.flatMap(({ approvedBy }) => approvedBy));
	return judgement("success", `approved by ${listOnce(approved)}`, groups);
}

function judgement(state: "success" | "failure", text: string, groups: ApprovalGroup[] = []) {
	const isLong = text.length > maxDescriptionLength;
	return { state, description: isLong ? `${text.slice(0, maxDescriptionLength - 1)}…` : text, groups };
}

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
		approvedBy: people.filter(({ id }) => approvers.has(id)),
		canApprove: people.filter(({ id }) => !approvers.has(id)),
		unknown: describeUnknown(group.owners, teams),
	};
}

/** Which owners approve nothing: persons without an id, and teams that are empty or that GitHub does not show. */
export function describeUnknown(owners: readonly string[], teams: Teams): string | null {
	const withoutId = owners.filter(hasNoId);
	if (withoutId.length > 0)
		return `npx fragment-publisher owners has to write the id of ${listOnce(withoutId)}`;
	const unknownTeams = owners.filter((owner) => isTeam(owner) && !teams.get(owner)?.length);
	return unknownTeams.length > 0 ? `no members are known of ${listOnce(unknownTeams)}` : null;
}

function listOnce(names: readonly string[]): string {
	return [...new Set(names)].join(", ");
}
