import { type Description, parseDescription } from "./description.ts";
import { parseJson } from "./json.ts";
import { parseOwners } from "./owners.ts";
import { maxBytesOf, parseRegistration, type Registration } from "./registration.ts";
import {
	fileName,
	isOverallFile,
	judgeKey,
	type LayerName,
	layerPath,
	layerPaths,
	mayChange,
	ownersPath,
	parseFileName,
	parseLayerPath,
	parseSmallkey,
	pathOf,
} from "./smallkey.ts";
import { type Problem, problemAt, type Rules, textIn } from "./texts.ts";
import { groupBy, visible } from "./untrusted.ts";

export interface LayerFile {
	/** From the repository's root: `layers/23/23ax5t.json`. */
	path: string;
	kind: "file" | "symlink" | "other";
	/** A file over its limit has at least one byte more than that. */
	bytes: Uint8Array;
}

/** By smallkey in lower case. */
export type PathsByKey = ReadonlyMap<string, readonly string[]>;

export function pathsByKey(files: Iterable<{ path: string }>): PathsByKey {
	const paths = Array.from(files, ({ path }) => path);
	return groupBy(paths, (path) => fileName(path).split(".", 1).join().toLowerCase());
}

export interface FileProblem extends Problem {
	file: string;
}

/** `layers/23/23ax5t.json: /fr/service_url: must be an http or https address` */
export function problemLine({ file, ...problem }: FileProblem): string {
	return `${file}: ${textIn("en", problem)}`;
}

export function smallkeyProblem(text: string): Problem {
	return problemAt("smallkey", "smallkey", JSON.stringify(text.slice(0, 80)));
}

export interface CheckedLayer {
	smallkey: string;
	registration: Registration;
	description: Description | null;
}

/** `written` if another call judges the content. */
export type EditedFile = LayerFile | { path: string; kind: "written" | "removed" };

/**
 * A sender, with its globs (null: all); `anyone`, if owners decide later; `stored`, for the rules that a layer
 * needs to be served.
 */
export type ChangeOrigin = { id: string; smallkeys: readonly string[] | null } | "anyone" | "stored";

/**
 * Every door, and every reader of stored layers, calls this.
 * @param before the paths before the change (for `stored`, those of the files); null if a store judges names
 * @param edits all changed files of each smallkey, in any spelling
 * @returns the valid layers, and all problems in the order of the files
 */
export function judgeChange(
	before: PathsByKey | null,
	edits: readonly EditedFile[],
	origin: ChangeOrigin,
): { layers: Map<string, CheckedLayer>; problems: FileProblem[] } {
	const rules = origin === "stored" ? "stored" : "written";
	const files = edits.map((edit) => judgeFile(edit, rules));
	const nameProblems = judgeNames(files, before, rules);
	const layers = new Map<string, CheckedLayer>();
	const problems: FileProblem[] = [];
	for (const { path, name, registration, problems: contentProblems } of files) {
		const nameProblem = nameProblems.get(path) ?? [];
		for (const problem of [nameProblem, contentProblems].flat()) problems.push({ ...problem, file: path });
		if (nameProblems.has(path) || !name || !registration) continue;
		layers.set(name.smallkey, { smallkey: name.smallkey, registration, description: null });
	}
	for (const { name, description } of files) {
		const layer = name && layers.get(name.smallkey);
		if (layer && description) layer.description = description;
	}
	const paths = new Set(edits.map(({ path }) => path));
	for (const [file, problem] of nameProblems) if (!paths.has(file)) problems.push({ ...problem, file });
	if (problems.length === 0 && typeof origin === "object") problems.push(...judgeSender(origin, files));
	return { layers, problems };
}

export function judgeStored(files: readonly EditedFile[]) {
	return judgeChange(pathsByKey(files), files, "stored");
}

type JudgedFile = ReturnType<typeof judgeFile>;

function judgeFile(edit: EditedFile, rules: Rules) {
	const { path, kind } = edit;
	const name = parseLayerPath(path);
	const { registration = null, description = null, problems = [] } = judgeContent(edit, name, rules);
	return { path, isRemoved: kind === "removed", name, registration, description, problems };
}

type Content = Partial<ReturnType<typeof parseRegistration>> & { description?: Description };

function judgeContent(edit: EditedFile, name: LayerName | null, rules: Rules): Content {
	const { path, kind } = edit;
	const misplaced = name ? null : judgePlace(path, kind === "removed");
	if (misplaced) return { problems: [misplaced] };
	// Only reviewers read it: it must not stop layers from being served.
	if (!("bytes" in edit) || (rules === "stored" && isOverallFile(path))) return {};
	const { bytes } = edit;
	if (kind !== "file") return { problems: [problemAt("", "plain-file")] };
	if (bytes.length > maxBytesOf(path)) return { problems: [problemAt("document", "size", maxBytesOf(path))] };
	if (path === ownersPath) return { problems: parseOwners(bytes).problems };
	if (isOverallFile(path)) return { problems: parseJson(bytes).problems };
	if (!name) return {};
	if (name.part === "registration") return parseRegistration(bytes, rules);
	const description = parseDescription(new TextDecoder().decode(bytes));
	return description ? { description } : { problems: [problemAt("", "description")] };
}

function judgePlace(path: string, isRemoved: boolean) {
	if (isRemoved) return path === ownersPath ? problemAt("", "owners-removed") : null;
	if (isOverallFile(path)) return null;
	if (!path.startsWith("layers/")) {
		if (/^layers(?:\/|$)/i.test(path)) return problemAt("", "layers-folder");
		// U+FFFD replaces what is not UTF-8; a backslash separates folders on Windows.
		const isPlain = visible(path) === path && !/[\ufffd\\]/.test(path);
		return isPlain ? null : problemAt("", "visible-name");
	}
	const name = parseFileName(path);
	if (name === null) return problemAt("", "file-name");
	if (parseSmallkey(name.smallkey) === null) return smallkeyProblem(name.smallkey);
	return problemAt("", "folder", pathOf(name));
}

/** @returns path → problem, also of unchanged descriptions */
function judgeNames(files: readonly JudgedFile[], before: PathsByKey | null, rules: Rules) {
	const layerFiles = files.flatMap((file) => (file.name ? [{ ...file, ...file.name }] : []));
	const groups = groupBy(layerFiles, ({ smallkey }) => smallkey.toLowerCase());
	const problems = [...groups].flatMap(([lower, spellings]) =>
		judgeSpellings(spellings, before && new Set(before.get(lower)), rules),
	);
	return new Map(problems);
}

type NamedFile = JudgedFile & LayerName;

type PathProblem = [path: string, problem: Problem];

/** @param files of one smallkey, in any case @param stored their earlier paths; null: unknown */
function judgeSpellings(
	files: readonly NamedFile[],
	stored: ReadonlySet<string> | null,
	rules: Rules,
): PathProblem[] {
	const remaining = new Set(stored);
	for (const { path, isRemoved } of files) {
		if (isRemoved) remaining.delete(path);
		else remaining.add(path);
	}
	const served = new Set(remaining);
	// An invalid file must not block another spelling.
	for (const { path, registration } of files)
		if (rules === "stored" && registration === null) served.delete(path);
	const spellings = registeredIn(served);
	const kept = spellings.find((smallkey) => stored?.has(layerPath(smallkey))) ?? spellings[0] ?? "";
	// A stored spelling that remains is `kept`, so these are removed.
	const [removed] = registeredIn(stored ?? []);
	const problems = files.flatMap(({ path, smallkey, part }): PathProblem[] => {
		if (part !== "registration" || !served.has(path)) return [];
		const rule = judgeKey(smallkey, kept, stored?.has(path) === false, removed);
		return rule ? [[path, problemAt("smallkey", ...rule)]] : [];
	});
	return stored ? [...problems, ...findOrphans(files, remaining)] : problems;
}

function findOrphans(files: readonly NamedFile[], remaining: ReadonlySet<string>): PathProblem[] {
	return files.flatMap(({ smallkey }) => {
		const [layer, description] = layerPaths(smallkey);
		if (!remaining.has(description) || remaining.has(layer)) return [];
		return [[description, problemAt("", "orphan", layer)]];
	});
}

/** The smallkeys of the registrations, sorted. */
export function registeredIn(paths: Iterable<string>): string[] {
	const names = [...paths].sort().map(parseLayerPath);
	return names.flatMap((name) => (name?.part === "registration" ? [name.smallkey] : []));
}

function judgeSender(sender: Exclude<ChangeOrigin, string>, files: readonly JudgedFile[]) {
	const smallkeys = new Set(files.flatMap(({ name }) => (name ? [name.smallkey] : [])));
	const foreign = [...smallkeys].filter((smallkey) => !mayChange(sender, smallkey));
	const globs = sender.smallkeys?.join(" ") || "—";
	return foreign.map((smallkey) => ({
		...problemAt("smallkey", "owner", sender.id, globs, smallkey),
		file: layerPath(smallkey),
	}));
}
