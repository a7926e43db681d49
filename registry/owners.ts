import type { FromSchema } from "json-schema-to-ts";
import type { owners as schema } from "../schemas/owners.ts";
import { validateOwners } from "../schemas/validate-owners.ts";
import { matchesGlob } from "./globs.ts";
import { parseJson } from "./json.ts";
import { Problems } from "./problems.ts";
import { addSchemaProblems } from "./schema-problems.ts";
import { isOtherFile, parseLayerPath } from "./smallkey.ts";

/** Where the owners stand in the repository. */
export const ownersPath = "layers/owners.json";

/** The layers that a glob fits, and who approves their changes. */
export interface OwnerRule {
	/** Of smallkeys, as in a sender's `smallkeys`. */
	glob: string;
	owners: string[];
}

/** Who approves what. */
export interface Owners {
	/** Who approves what is no layer, and the layers that no rule fits. */
	operators: string[];
	/** General before special: of several rules that fit, the last one counts. */
	rules: OwnerRule[];
}

/** What `layers/owners.json` holds. */
type OwnersFile = FromSchema<typeof schema>;

/** The owners, or what is wrong with their file as `<JSON pointer>: <rule>`, bounded. */
export type ParsedOwners = { owners: Owners; problems: [] } | { owners: null; problems: string[] };

/** Largest file of owners that is read, in bytes: some ten thousand globs. */
const maxOwnersBytes = 1024 * 1024;

/** Reads `layers/owners.json`. */
export function parseOwners(bytes: Uint8Array): ParsedOwners {
	if (bytes.length > maxOwnersBytes) {
		const problem = `the document must have at most ${maxOwnersBytes} bytes`;
		return { owners: null, problems: [problem] };
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

/** Fewer fixed characters are more general; then fewer `?`; then the order of the texts, so that there is one. */
function byGenerality(a: OwnerRule, b: OwnerRule): number {
	const fixed = (rule: OwnerRule) => rule.glob.replace(/[*?]/g, "").length;
	const single = (rule: OwnerRule) => rule.glob.replace(/[^?]/g, "").length;
	return fixed(a) - fixed(b) || single(a) - single(b) || (a.glob < b.glob ? -1 : 1);
}

/** Who may approve a change of a file: one of these is enough. */
export function ownersOf(owners: Owners, path: string): string[] {
	if (!path.startsWith("layers/") || isOtherFile(path)) return owners.operators;
	const name = parseLayerPath(path);
	if (!name) return owners.operators;
	return owners.rules.findLast((rule) => matchesGlob(rule.glob, name.smallkey))?.owners ?? owners.operators;
}
