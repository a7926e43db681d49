import { type Owners, ownersOf } from "../registry/owners.ts";
import type { Changes } from "./changes.ts";

/** Who has to approve, and for what; one of the owners is enough. */
export interface Approval {
	owners: string[];
	/** Paths, in git's order. */
	paths: string[];
}

/** Everybody whose approval a change needs, in the order of the first path of each. */
export function approvals(changes: Changes, owners: Owners): Approval[] {
	const found = new Map<string, Approval>();
	for (const path of [...changes.outside, ...changes.layers.map((change) => change.path)]) {
		const names = ownersOf(owners, path);
		const approval = found.get(names.join(" ")) ?? { owners: names, paths: [] };
		approval.paths.push(path);
		found.set(names.join(" "), approval);
	}
	return [...found.values()];
}
