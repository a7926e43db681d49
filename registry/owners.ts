import type { FromSchema } from "json-schema-to-ts";
import { parseJson } from "./json.ts";
import { maxBytesOf } from "./registration.ts";
import type { owners as schema } from "./schemas/definitions.ts";
import { validateOwners } from "./schemas/validate-documents.ts";
import { matchesGlob, ownersPath, parseLayerPath } from "./smallkey.ts";
import { listProblems, type Problem, pointerOf, problemAt, schemaProblems } from "./texts.ts";

interface OwnerRule {
	glob: string;
	owners: string[];
}

export interface Owners {
	operators: string[];
	/** Sorted: the last match applies. */
	rules: OwnerRule[];
	senders: ReadonlyMap<string, readonly string[]>;
}

/** Null owners: no file, or an unusable one. A login without an id is a problem, and approves nothing. */
export function parseOwners(bytes?: Uint8Array | null): { owners: Owners | null; problems: Problem[] } {
	if (!bytes) return { owners: null, problems: [] };
	const maxBytes = maxBytesOf(ownersPath);
	if (bytes.length > maxBytes) return { owners: null, problems: [problemAt("document", "size", maxBytes)] };
	const { value, problems } = parseJson(bytes);
	if (problems.length === 0 && !validateOwners(value))
		problems.push(...listProblems(schemaProblems(validateOwners)));
	if (problems.length > 0) return { owners: null, problems };
	const { operators, layers, senders = {} } = value as FromSchema<typeof schema>;
	const rules = Object.entries(layers).map(([glob, owners]) => ({ glob, owners }));
	const owners = { operators, rules: rules.sort(byGenerality), senders: new Map(Object.entries(senders)) };
	return { owners, problems: listProblems(idProblems({ operators, layers, senders }, [])) };
}

function idProblems(value: unknown, path: readonly string[]): Problem[] {
	if (typeof value === "object")
		return Object.entries(value ?? {}).flatMap(([name, part]) => idProblems(part, [...path, name]));
	const owner = String(value);
	return hasNoId(owner) ? [problemAt(pointerOf(path), "owner-id", owner)] : [];
}

export const hasNoId = (owner: string) => !/[/#]/.test(owner);

/** `@login` of `@login#id`. */
export const nameOf = (owner: string) => owner.replace(/#\d+$/, "");

/** Compares fixed characters, then `?`, then the texts, so that the order is total. */
function byGenerality(a: OwnerRule, b: OwnerRule): number {
	const fixed = (rule: OwnerRule) => rule.glob.replace(/[*?]/g, "").length;
	const single = (rule: OwnerRule) => rule.glob.replace(/[^?]/g, "").length;
	return fixed(a) - fixed(b) || single(a) - single(b) || (a.glob < b.glob ? -1 : 1);
}

export function ownersOf(owners: Owners, path: string): string[] {
	const name = parseLayerPath(path);
	const rule = name && owners.rules.findLast(({ glob }) => matchesGlob(glob, name.smallkey));
	return rule?.owners ?? owners.operators;
}
