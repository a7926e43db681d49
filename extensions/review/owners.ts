import { groupBy } from "../../registry/json.ts";
import { type Owners, ownersOf } from "../../registry/owners.ts";

/** A login becomes free for others after a rename; the id stays. */
export interface Account {
	login: string;
	id: number;
}

/** `@organisation/team` */
export const isTeam = (owner: string) => owner.includes("/");

export function accountOf(owner: string): Account | null {
	const [, login = "", id] = /^@([^/#]+)#(\d+)$/.exec(owner) ?? [];
	return id === undefined ? null : { login, id: Number(id) };
}

export function allOwners({ operators, rules }: Owners): string[] {
	return [...new Set([...operators, ...rules.flatMap(({ owners }) => owners)])];
}

export type OwnedPaths = ReturnType<typeof groupByOwners>[number];

export function groupByOwners(owners: Owners, paths: Iterable<string>) {
	const groups = groupBy(paths, (path) => ownersOf(owners, path).join(" "));
	return Array.from(groups, ([names, paths]) => ({ owners: names.split(" "), paths }));
}
