import { type Description, parseDescription } from "./description.ts";
import { parseJson } from "./json.ts";
import { ownersPath, parseOwners } from "./owners.ts";
import { maxBytesOf, parseRegistration, type Registration } from "./registration.ts";
import { mayChange } from "./sender.ts";
import {
	descriptionPath,
	fileName,
	folderOf,
	isOtherFile,
	judgeKey,
	layerPath,
	parseLayerPath,
	parseSmallkey,
} from "./smallkey.ts";
import { type Problem, problemAt, type Rules, textIn } from "./texts.ts";
import { visible } from "./untrusted-text.ts";
import { groupBy } from "./values.ts";

export interface LayerFile {
	/** From the repository's root, with `/`: `layers/23/23ax5t.json`. */
	path: string;
	/** A link could point anywhere. */
	kind: "file" | "symlink" | "other";
	/** Of a file over its limit, at least one byte more than the limit. */
	bytes: Uint8Array;
}

export type NamesBefore = (folder: string) => Iterable<string>;

export function namesOf(files: Iterable<{ path: string }>): NamesBefore {
	const folders = groupBy(files, ({ path }) => path.split("/")[1] ?? "");
	return (folder) => (folders.get(folder) ?? []).map(({ path }) => fileName(path));
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

/** Without `bytes`: removed, or written with a content that another call judges. */
export type EditedFile = LayerFile | { path: string; kind: "written" | "removed" };

/**
 * A sender, by the globs of its smallkeys (null: all); `anyone`, where owners decide later; `stored`, by the
 * rules that a layer needs to be served at all.
 */
export type Who = { id: string; smallkeys: readonly string[] | null } | "anyone" | "stored";

/**
 * Every door, and every reader of stored layers, calls this function.
 * @param before the names that are stored before the change; for `stored`, those of the files themselves;
 * null where unknown: then no smallkey counts as new, and a store judges the names
 * @param edits all changed files of each smallkey, in any spelling; the first by path of two spellings comes
 * first
 * @returns the valid layers, and every problem in the order of the files
 */
export function judgeChange(
	before: NamesBefore | null,
	edits: readonly EditedFile[],
	who: Who,
): { layers: Map<string, CheckedLayer>; problems: FileProblem[] } {
	const rules = who === "stored" ? "stored" : "written";
	const files = edits.map((edit) => judgeFile(edit, rules));
	const wrongNames = judgeNames(files, before, rules);
	const layers = new Map<string, CheckedLayer>();
	const problems: FileProblem[] = [];
	for (const { path, name, registration, problems: contentProblems } of files) {
		const wrongName = wrongNames.get(path);
		if (wrongName) problems.push(wrongName);
		problems.push(...contentProblems);
		wrongNames.delete(path);
		if (wrongName || !name || !registration) continue;
		layers.set(name.smallkey, { smallkey: name.smallkey, registration, description: null });
	}
	for (const { name, description } of files) {
		const layer = name && layers.get(name.smallkey);
		if (layer && description) layer.description = description;
	}
	for (const wrongName of wrongNames.values()) problems.push(wrongName);
	if (problems.length === 0 && typeof who === "object") problems.push(...judgeSender(who, files));
	return { layers, problems };
}

type JudgedFile = ReturnType<typeof judgeFile>;

function judgeFile(edit: EditedFile, rules: Rules) {
	const { path, kind } = edit;
	const name = parseLayerPath(path);
	const { registration = null, description = null, problems = [] } = judgeContent(edit, name, rules);
	const isRemoved = kind === "removed";
	return { path, isRemoved, name, registration, description, problems: problems.map(inFile(path)) };
}

const inFile = (file: string) => (problem: Problem) => ({ ...problem, file });

interface Content {
	registration?: Registration | null;
	description?: Description | null;
	problems?: readonly Problem[];
}

/** `layers/health.json` may be any JSON. */
function judgeContent(edit: EditedFile, name: ReturnType<typeof parseLayerPath>, rules: Rules): Content {
	const { path, kind } = edit;
	const misplaced = name ? null : judgePlace(path, kind === "removed");
	if (misplaced) return { problems: [misplaced] };
	// Only reviewers read other files: a wrong one must not stop layers from being served.
	if (!("bytes" in edit) || (rules === "stored" && isOtherFile(path))) return {};
	const { bytes } = edit;
	if (kind !== "file") return { problems: [problemAt("", "plain-file")] };
	if (bytes.length > maxBytesOf(path)) return { problems: [problemAt("document", "size", maxBytesOf(path))] };
	if (path === ownersPath) return { problems: parseOwners(bytes).problems };
	if (isOtherFile(path)) return { problems: parseJson(bytes).problems };
	if (!name) return {};
	if (name.kind === "registration") return parseRegistration(bytes, rules);
	const description = parseDescription(new TextDecoder().decode(bytes));
	return description ? { description } : { problems: [problemAt("", "description")] };
}

function judgePlace(path: string, isRemoved: boolean): Problem | null {
	if (isRemoved) return path === ownersPath ? problemAt("", "owners-removed") : null;
	if (isOtherFile(path)) return null;
	if (!path.startsWith("layers/")) {
		if (/^layers(?:\/|$)/i.test(path)) return problemAt("", "layers-folder");
		// U+FFFD replaces what was not UTF-8; a backslash separates folders on Windows.
		const isPlain = visible(path) === path && !/[\ufffd\\]/.test(path);
		return isPlain ? null : problemAt("", "visible-name");
	}
	const [, name, service] = /^(.*?)(\.service)?\.json$/s.exec(fileName(path)) ?? [];
	if (name === undefined) return problemAt("", "file-name");
	if (parseSmallkey(name) === null) return smallkeyProblem(name);
	return problemAt("", "folder", service ? descriptionPath(name) : layerPath(name));
}

function judgeNames(
	files: readonly JudgedFile[],
	before: NamesBefore | null,
	rules: Rules,
): Map<string, FileProblem> {
	const layerFiles = files.flatMap(({ name, ...file }) => (name ? [{ ...file, ...name }] : []));
	const smallkeys = new Set(layerFiles.map(({ smallkey }) => smallkey));
	const pathsBefore = before ? filesBefore(smallkeys, before) : new Set<string>();
	const isStored = (smallkey: string) => before && pathsBefore.has(layerPath(smallkey));
	const after = new Set(pathsBefore);
	for (const { path, isRemoved } of layerFiles) after[isRemoved ? "delete" : "add"](path);
	const rivals = new Set(after);
	// A stored invalid file is not served, and must not block another spelling.
	for (const { path, registration } of layerFiles)
		if (rules === "stored" && registration === null) rivals.delete(path);
	const remaining = spellingsIn(rivals);
	const removed = spellingsIn([...pathsBefore].filter((path) => !after.has(path)));
	const problems = new Map<string, FileProblem>();
	for (const { path, smallkey, kind } of layerFiles) {
		if (kind !== "registration" || !rivals.has(path)) continue;
		const lower = smallkey.toLowerCase();
		const spellings = remaining.get(lower) ?? [];
		const kept = spellings.find(isStored) ?? spellings[0] ?? smallkey;
		const rule = judgeKey(smallkey, kept, removed.get(lower)?.[0] ?? null, isStored);
		if (rule) problems.set(path, inFile(path)(problemAt("smallkey", ...rule)));
	}
	for (const smallkey of before ? smallkeys : []) {
		const path = descriptionPath(smallkey);
		if (after.has(path) && !after.has(layerPath(smallkey)))
			problems.set(path, inFile(path)(problemAt("", "orphan", layerPath(smallkey))));
	}
	return problems;
}

function filesBefore(smallkeys: ReadonlySet<string>, before: NamesBefore): Set<string> {
	const lowerKeys = new Set(Array.from(smallkeys, (smallkey) => smallkey.toLowerCase()));
	const folders = [...new Set(Array.from(smallkeys, folderOf))];
	const paths = folders.flatMap((folder) => Array.from(before(folder), (name) => `layers/${folder}/${name}`));
	return new Set(paths.filter((path) => lowerKeys.has(fileName(path).split(".", 1).join().toLowerCase())));
}

/** By lower-case smallkey, sorted. */
function spellingsIn(paths: Iterable<string>): Map<string, string[]> {
	const names = [...paths].sort().map(parseLayerPath);
	const smallkeys = names.flatMap((name) => (name?.kind === "registration" ? [name.smallkey] : []));
	return groupBy(smallkeys, (smallkey) => smallkey.toLowerCase());
}

function judgeSender(sender: Exclude<Who, string>, files: readonly JudgedFile[]): FileProblem[] {
	const smallkeys = new Set(files.flatMap(({ name }) => (name ? [name.smallkey] : [])));
	const foreign = [...smallkeys].filter((smallkey) => !mayChange(sender, smallkey));
	const globs = sender.smallkeys?.join(" ") || "—";
	return foreign.map((smallkey) =>
		inFile(layerPath(smallkey))(problemAt("smallkey", "owner", sender.id, globs, smallkey)),
	);
}
