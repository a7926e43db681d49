import type { FromSchema } from "json-schema-to-ts";
import type { owners as schema } from "../schemas/owners.ts";
import { validateOwners } from "../schemas/validate-owners.ts";
import { matchesGlob } from "./globs.ts";
import { parseJson } from "./json.ts";
import { addSchemaProblems, Problems } from "./problems.ts";
import { isOtherFile, parseLayerPath } from "./smallkey.ts";
import { type BrokenRule, broken } from "./texts.ts";

export const ownersPath = "layers/owners.json";

/** The owners of the layers that a glob matches; owners approve changes. */
export interface OwnerRule {
	/** A glob of smallkeys, as in a sender's `smallkeys`. */
	glob: string;
	owners: string[];
}

export interface Owners {
	/** The owners of all files that are not layers, and of the layers that no rule matches. */
	operators: string[];
	/** General rules before specific ones: the last rule that matches applies. */
	rules: OwnerRule[];
}

type OwnersFile = FromSchema<typeof schema>;

/** The owners, or the problems of their file: at most 20 and a count of the others. */
export type ParsedOwners = { owners: Owners; problems: [] } | { owners: null; problems: BrokenRule[] };

/** Largest file of owners, in bytes: about ten thousand globs. */
const maxOwnersBytes = 1024 * 1024;

export function parseOwners(bytes: Uint8Array): ParsedOwners {
	if (bytes.length > maxOwnersBytes) {
		return { owners: null, problems: [broken("size-of-document", maxOwnersBytes)] };
	}
	const parsed = parseJson(bytes);
	if (parsed.problems.length > 0) return { owners: null, problems: parsed.problems };
	const problems = new Problems();
	addSchemaProblems(problems, validateOwners, parsed.value);
	if (!problems.isEmpty) return { owners: null, problems: problems.list() };
	const { operators, layers } = parsed.value as OwnersFile;
	const rules = Object.entries(layers).map(([glob, owners]) => ({ glob: glob.replace(/\*+/g, "*"), owners }));
	return { owners: { operators, rules: rules.sort(byGenerality) }, problems: [] };
}

/** Orders by the number of fixed characters, then of `?`, then by text, so that the order is total. */
function byGenerality(a: OwnerRule, b: OwnerRule): number {
	const fixed = (rule: OwnerRule) => rule.glob.replace(/[*?]/g, "").length;
	const single = (rule: OwnerRule) => rule.glob.replace(/[^?]/g, "").length;
	return fixed(a) - fixed(b) || single(a) - single(b) || (a.glob < b.glob ? -1 : 1);
}

/** The owners of a file; the approval of one is enough. */
export function ownersOf(owners: Owners, path: string): string[] {
	if (!path.startsWith("layers/") || isOtherFile(path)) return owners.operators;
	const name = parseLayerPath(path);
	if (!name) return owners.operators;
	return owners.rules.findLast((rule) => matchesGlob(rule.glob, name.smallkey))?.owners ?? owners.operators;
}

/** All names in the owners file, each once: teams (`@organisation/team`) and people (`@user`). */
export function allOwners({ operators, rules }: Owners): string[] {
	return [...new Set([...operators, ...rules.flatMap(({ owners }) => owners)])];
}

/** Files with the same owners; the approval of one owner is enough. */
export interface OwnedPaths {
	owners: string[];
	/** In the order in which they were given. */
	paths: string[];
}

/** Groups paths by their owners, in the order of the first path of each group. */
export function groupByOwners(owners: Owners, paths: Iterable<string>): OwnedPaths[] {
	const groups = new Map<string, OwnedPaths>();
	for (const path of paths) {
		const names = ownersOf(owners, path);
		const group = groups.get(names.join(" ")) ?? { owners: names, paths: [] };
		group.paths.push(path);
		groups.set(names.join(" "), group);
	}
	return [...groups.values()];
}
