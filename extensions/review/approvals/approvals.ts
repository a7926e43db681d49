import { hasNoId, type Owners, ownersOf } from "../../../registry/owners.ts";
import { ownersPath } from "../../../registry/smallkey.ts";
import { code, firstOf, groupBy, shorten } from "../../../registry/untrusted.ts";
import type { PullState } from "./pull-state.ts";

/** A login becomes free for others after a rename; the id stays. */
interface Account {
	login: string;
	id: number;
}

/** Members by the team's name; null if GitHub does not show them. */
export type Teams = ReadonlyMap<string, readonly Account[] | null>;

/** `@organisation/team` */
export const isTeam = (owner: string) => owner.includes("/");

/** @returns null for a team, and for a person without an id */
export function accountOf(owner: string): Account | null {
	const [, login = "", id] = /^@([^/#]+)#(\d+)$/.exec(owner) ?? [];
	return id === undefined ? null : { login, id: Number(id) };
}

export function allOwners({ operators, rules }: Owners): string[] {
	return [...new Set([...operators, ...rules.flatMap(({ owners }) => owners)])];
}

export function groupByOwners(owners: Owners, paths: readonly string[]) {
	const groups = groupBy(paths, (path) => ownersOf(owners, path).join(" "));
	return Array.from(groups, ([names, paths]) => ({ owners: names.split(" "), paths }));
}

const maxGroups = 50;
const maxPaths = 3;
const maxPeople = 20;

export function renderApprovals({ conclusion, title, groups }: Judgement): string {
	const hidden = groups.length - maxGroups;
	return [
		`### ${conclusion === "success" ? "The owners have approved" : "An approval is missing"}`,
		"",
		...(groups.length > 0 ? groups.slice(0, maxGroups).map(groupLine) : [`- ${code(title)}`]),
		...(hidden > 0 ? [`- and ${hidden} more groups of files`] : []),
		"",
		"One owner of each group is enough. A new push needs a new approval. Who opened the pull request, pushed to its branch, or is author or committer of one of its commits, cannot approve it.",
		"",
	].join("\n");
}

function groupLine({ paths, approvedBy, canApprove, unknown }: Judgement["groups"][number]) {
	const listed = (names: readonly string[], max = maxPeople) => firstOf(names.map(code), max, ", ");
	const files = `- ${listed(paths, maxPaths)}`;
	if (approvedBy.length > 0) return `${files}: approved by ${listed(approvedBy)}`;
	const people = canApprove.length > 0 ? `can approve ${listed(canApprove)}` : "no one can approve";
	return `${files}: ${people}${unknown === null ? "" : `; ${code(unknown)}`}`;
}

export type Judgement = ReturnType<typeof judgement>;

/** GitHub shows a check's title in one line. */
const maxTitleLength = 140;

/** @param owners of the base branch; null if missing or invalid */
export function judgeApprovals(state: PullState, owners: Owners | null, teams: Teams): Judgement {
	if (!owners) return judgement("failure", `${ownersPath} of the base branch cannot be read`);
	const behind = [...state.senders].flatMap((sender) => owners.senders.get(sender) ?? []);
	// People without a known id could approve their own request.
	const obstacle = state.incomplete ?? describeUnknown(behind, teams);
	if (obstacle !== null) return judgement("failure", obstacle);
	const makers = new Set([...state.makers, ...accountsOf(behind, teams).map(({ id }) => id)]);
	const groups = groupByOwners(owners, state.paths).map((group) =>
		approvalOf(group, makers, state.approvers, teams),
	);
	if (groups.length === 0) return judgement("success", "needs no approval");
	const missing = groups.filter(({ approvedBy }) => approvedBy.length === 0);
	const approvers = listOnce(groups.flatMap(({ approvedBy }) => approvedBy));
	if (missing.length === 0) return judgement("success", `approved by ${approvers}`, groups);
	const people = listOnce(missing.flatMap(({ canApprove }) => canApprove));
	const unable = missing.find(({ unknown }) => unknown)?.unknown ?? "only those who made it own this";
	return judgement("failure", people ? `can still approve: ${people}` : unable, groups);
}

function judgement(
	conclusion: "success" | "failure",
	title: string,
	groups: ReturnType<typeof approvalOf>[] = [],
) {
	return { conclusion, title: shorten(title, maxTitleLength), groups };
}

export function accountsOf(owners: readonly string[], teams: Teams): Account[] {
	const all = owners.flatMap((owner) => teams.get(owner) ?? accountOf(owner) ?? []);
	return [...new Map(all.map((account) => [account.id, account])).values()];
}

function approvalOf(
	{ paths, owners }: ReturnType<typeof groupByOwners>[number],
	makers: ReadonlySet<number>,
	approvers: ReadonlySet<number>,
	teams: Teams,
) {
	const people = accountsOf(owners, teams).filter(({ id }) => !makers.has(id));
	const approvedBy = people.flatMap(({ id, login }) => (approvers.has(id) ? login : []));
	const canApprove = people.flatMap(({ id, login }) => (approvers.has(id) ? [] : login));
	return { paths, approvedBy, canApprove, unknown: describeUnknown(owners, teams) };
}

/** Which owners approve nothing: persons without an id, and teams that are empty or that GitHub does not show. */
export function describeUnknown(owners: readonly string[], teams: Teams): string | null {
	const withoutId = owners.filter(hasNoId);
	if (withoutId.length > 0) return `${ownersPath} needs the id of ${listOnce(withoutId)}`;
	const unknownTeams = owners.filter((owner) => isTeam(owner) && !teams.get(owner)?.length);
	return unknownTeams.length > 0 ? `no members are known of ${listOnce(unknownTeams)}` : null;
}

function listOnce(names: readonly string[]) {
	return [...new Set(names)].join(", ");
}
