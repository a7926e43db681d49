import type { Registration } from "./registration.ts";
import type { Rules } from "./schema-problems.ts";
import {
	descriptionPath,
	fileName,
	folderOf,
	judgeKey,
	type LayerName,
	layerPath,
	parseLayerPath,
} from "./smallkey.ts";
import { type Problem, problemAt } from "./texts.ts";
import { groupBy } from "./values.ts";

/** `folder`: `23`, of `layers/23/`. */
export type NamesBefore = (folder: string) => Iterable<string>;

export function namesOf(files: Iterable<{ path: string }>): NamesBefore {
	const folders = groupBy(files, ({ path }) => path.split("/")[1] ?? "");
	return (folder) => (folders.get(folder) ?? []).map(({ path }) => fileName(path));
}

interface ChangedFile {
	path: string;
	isRemoved: boolean;
	/** Null if the path is not one of a layer. */
	name: LayerName | null;
	/** Null if it is invalid, not read or not there. */
	registration: Registration | null;
}

/**
 * Judges the names that layers have after a change.
 * @param before null where unknown: then no smallkey is new
 * @returns path → problem, also of files that do not change
 */
export function judgeNames(
	files: readonly ChangedFile[],
	before: NamesBefore | null,
	rules: Rules,
): Map<string, Problem> {
	const named = files.flatMap((file) => (file.name ? [{ ...file, ...file.name }] : []));
	const groups = groupBy(named, ({ smallkey }) => smallkey.toLowerCase());
	const stored = before && storedPaths(new Set(groups.keys()), before);
	const problems = [...groups].flatMap(([lower, spellings]) => [
		...judgeSpellings(spellings, stored && new Set(stored.get(lower)), rules),
	]);
	return new Map(problems);
}

/** By lower-case smallkey. */
function storedPaths(lowerKeys: ReadonlySet<string>, before: NamesBefore): Map<string, string[]> {
	const folders = [...new Set(Array.from(lowerKeys, folderOf))];
	const paths = folders.flatMap((folder) => Array.from(before(folder), (name) => `layers/${folder}/${name}`));
	const lowerKeyOf = (path: string) => fileName(path).split(".", 1).join().toLowerCase();
	return groupBy(
		paths.filter((path) => lowerKeys.has(lowerKeyOf(path))),
		lowerKeyOf,
	);
}

/** @param files of one smallkey, in any case @param stored their paths before the change; null where unknown */
function judgeSpellings(
	files: readonly (ChangedFile & LayerName)[],
	stored: ReadonlySet<string> | null,
	rules: Rules,
): Map<string, Problem> {
	const remaining = new Set(stored);
	for (const { path, isRemoved } of files) {
		if (isRemoved) remaining.delete(path);
		else remaining.add(path);
	}
	const served = new Set(remaining);
	// A stored invalid file is not served, and must not block another spelling.
	for (const { path, registration } of files)
		if (rules === "stored" && registration === null) served.delete(path);
	const spellings = registeredIn(served);
	const kept = spellings.find((smallkey) => stored?.has(layerPath(smallkey))) ?? spellings[0] ?? "";
	const [removed] = registeredIn(stored ?? []).filter((smallkey) => !remaining.has(layerPath(smallkey)));
	const problems = new Map<string, Problem>();
	for (const { path, smallkey, part } of files) {
		if (part === "registration" && served.has(path)) {
			const rule = judgeKey(smallkey, kept, stored?.has(path) === false, removed);
			if (rule) problems.set(path, problemAt("smallkey", ...rule));
		}
		const description = descriptionPath(smallkey);
		if (stored && remaining.has(description) && !remaining.has(layerPath(smallkey)))
			problems.set(description, problemAt("", "orphan", layerPath(smallkey)));
	}
	return problems;
}

/** The smallkeys of registrations, sorted. */
function registeredIn(paths: Iterable<string>): string[] {
	const names = [...paths].sort().map(parseLayerPath);
	return names.flatMap((name) => (name?.part === "registration" ? [name.smallkey] : []));
}
