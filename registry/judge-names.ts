import { judgeKey } from "./key-rules.ts";
import {
	descriptionPath,
	fileName,
	type LayerName,
	layerPath,
	parseLayerPath,
	parseSmallkey,
} from "./smallkey.ts";
import { type BrokenRule, broken, type TextCode } from "./texts.ts";

/** A remark about a file. */
export interface Remark {
	/** Path from the repository's root: `layers/23/23ax5t.json`. */
	file: string;
	/** `<place>: <what is wrong>`, where the place is a JSON pointer or `smallkey`; without a place for the whole file. */
	text: string;
}

/** A rule that a change breaks. Every way to make the change reports it with the same text. */
export interface Problem extends Remark {
	/** Identifies the rule, independent of the language of its text. */
	code: TextCode;
}

/** A file that a change writes or removes. */
export interface NameEdit {
	path: string;
	isRemoved: boolean;
}

/** The names of the files in a folder under `layers/` before a change, in any order. */
export type NamesBefore = (folder: string) => Iterable<string>;

/** The problem of a stored layer whose smallkey differs only in case from that of a layer that is served. */
export function twinProblem(smallkey: string, served: string): Problem {
	return aboutKey(layerPath(smallkey), broken("case-twin", smallkey, served));
}

/** A broken rule of a smallkey, as the problem of a file. */
export function aboutKey(file: string, { code, text }: BrokenRule): Problem {
	return { code, file, text: `smallkey: ${text}` };
}

/** The problem of a description without a registration. */
export function orphanProblem(smallkey: string): Problem {
	return { file: descriptionPath(smallkey), ...broken("orphan", layerPath(smallkey)) };
}

/**
 * Judges the names of files against each other and against the stored ones: smallkeys, and descriptions without a
 * registration. Misplaced files are skipped: `judgePlace` reports them.
 */
export function judgeNames(edits: Iterable<NameEdit>, before: NamesBefore): Problem[] {
	const judged = [...edits].filter(({ path }) => parseLayerPath(path));
	const folders = groupedBy(judged, ({ path }) => path.split("/")[1] as string);
	return [...folders].flatMap(([folder, group]) => judgeFolder(group, before(folder)));
}

/**
 * @param edits in one folder
 * @param names of all stored files of the folder
 */
function judgeFolder(edits: readonly NameEdit[], names: Iterable<string>): Problem[] {
	// Only names that equal an edited one, or differ from it only in case, matter. A smallkey has no dot.
	const lowerKey = (name: string) => name.slice(0, name.indexOf(".")).toLowerCase();
	const wanted = new Set(edits.map(({ path }) => lowerKey(fileName(path))));
	const before = new Set<string>();
	for (const name of names) if (wanted.has(lowerKey(name))) before.add(name);
	const after = new Set(before);
	for (const { path, isRemoved } of edits) {
		if (isRemoved) after.delete(fileName(path));
		else after.add(fileName(path));
	}
	const kept = keptSpellings(before, after);
	const isStored = (key: string) => before.has(`${key}.json`);
	const problems: Problem[] = [];
	const smallkeys = new Set<string>();
	for (const { path, isRemoved } of edits) {
		const { smallkey, kind } = parseLayerPath(path) as LayerName;
		smallkeys.add(smallkey);
		if (kind !== "registration" || isRemoved) continue;
		const rule = judgeKey(smallkey, isStored, kept.get(smallkey.toLowerCase()) ?? smallkey);
		if (rule) problems.push(aboutKey(path, broken(...rule)));
	}
	const isOrphan = (key: string) => after.has(`${key}.service.json`) && !after.has(`${key}.json`);
	return [...problems, ...[...smallkeys].filter(isOrphan).map(orphanProblem)];
}

/** Lower-case smallkey → the spelling that is kept: the first one that is stored, else the first one that is added. */
function keptSpellings(before: ReadonlySet<string>, after: ReadonlySet<string>): Map<string, string> {
	const kept = new Map<string, string>();
	const [stored, added] = [new Set<string>(), new Set<string>()];
	for (const name of after) (before.has(name) ? stored : added).add(name);
	for (const name of [...[...stored].sort(), ...[...added].sort()]) {
		const smallkey = name.endsWith(".json") ? parseSmallkey(name.slice(0, -".json".length)) : null;
		const lower = smallkey?.toLowerCase() ?? "";
		if (smallkey !== null && !kept.has(lower)) kept.set(lower, smallkey);
	}
	return kept;
}

export function namesOf(paths: Iterable<string>): NamesBefore {
	const folders = groupedBy(paths, (path) => path.split("/")[1] ?? "");
	return (folder) => (folders.get(folder) ?? []).map(fileName);
}

function groupedBy<T>(all: Iterable<T>, folderOf: (one: T) => string): Map<string, T[]> {
	const groups = new Map<string, T[]>();
	for (const one of all) {
		const folder = folderOf(one);
		const group = groups.get(folder);
		if (group) group.push(one);
		else groups.set(folder, [one]);
	}
	return groups;
}
