import pMap from "p-map";
import {
	type CheckedLayer,
	checkCatalogue,
	isOtherFile,
	type LayerFile,
	type Problem,
	parseLayerPath,
	twinText,
} from "../registry/catalogue.ts";
import { linesOf } from "../registry/json.ts";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import type { Rules } from "../registry/schema-problems.ts";
import { descriptionPath, layerPath } from "../registry/smallkey.ts";
import type { Change, Changes, Entry, FileReader } from "./changes.ts";
import { type Located, locate } from "./locate.ts";

/** Layers that are looked at at once. */
const atOnce = 32;

/** A layer that a head changes, as it is on the base and as it will be; null where there is none, or it is wrong. */
export interface ChangedLayer {
	smallkey: string;
	before: CheckedLayer | null;
	after: CheckedLayer | null;
	/** Paths of its files that differ. */
	paths: string[];
	/** Whether the registration is removed. */
	removed: boolean;
	/** Text of the registration as it will be, for the lines of what is said of it. */
	text: string;
}

/** What is in order and what is not. */
export interface Checked {
	/** Sorted by smallkey. */
	layers: ChangedLayer[];
	/** In the order of the paths. */
	problems: Located[];
}

/**
 * Checks what a head changes under `layers/`, and nothing else: each file by itself, and its name against those of
 * the whole catalogue as it will be.
 */
export async function checkChanges(changes: Changes, reader: FileReader): Promise<Checked> {
	const merged = new Map(changes.catalogue);
	for (const { path, after } of changes.layers) {
		if (after) merged.set(path, after);
		else merged.delete(path);
	}
	const twins = groupByLowerCase(merged.keys());
	const problems: Located[] = [];
	const groups = new Map<string, string[]>();
	for (const change of changes.layers) {
		const name = parseLayerPath(change.path);
		if (typeof name !== "string")
			groups.set(name.smallkey, [...(groups.get(name.smallkey) ?? []), change.path]);
		else problems.push(...(await checkOther(change, name, reader)));
	}
	const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
	const layers = await pMap(
		sorted,
		async ([smallkey, paths]) => {
			const checked = await checkLayer(smallkey, paths, { before: changes.catalogue, after: merged }, reader);
			const twinned = twinProblems(smallkey, paths, twins);
			problems.push(...checked.problems, ...twinned);
			return twinned.length > 0 ? { ...checked.layer, after: null } : checked.layer;
		},
		{ concurrency: atOnce },
	);
	problems.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
	return { layers, problems };
}

/** Registration files by their lower-case smallkey. */
function groupByLowerCase(paths: Iterable<string>): Map<string, string[]> {
	const groups = new Map<string, string[]>();
	for (const path of paths) {
		const name = parseLayerPath(path);
		if (typeof name === "string" || name.kind !== "registration") continue;
		const lower = name.smallkey.toLowerCase();
		groups.set(lower, [...(groups.get(lower) ?? []), path]);
	}
	return groups;
}

function twinProblems(smallkey: string, paths: string[], twins: Map<string, string[]>): Located[] {
	const own = layerPath(smallkey);
	const group = twins.get(smallkey.toLowerCase()) ?? [];
	const other = group.find((path) => path !== own);
	if (!other || !paths.includes(own) || !group.includes(own)) return [];
	return [locate({ file: own, text: twinText(other) })];
}

/** A file that is no layer's: the owners, or what has no place here. */
async function checkOther({ path, after }: Change, wrong: string, reader: FileReader): Promise<Located[]> {
	if (!after) return path === ownersPath ? [locate({ file: path, text: "must not be removed" })] : [];
	if (path === "layers") return [locate({ file: path, text: "must be a folder" })];
	if (!isOtherFile(path)) return [locate({ file: path, text: wrong })];
	const file = await reader.read(path, after);
	if (file.kind !== "file") {
		return [locate({ file: path, text: `must be a plain file, not a ${file.kind}` })];
	}
	if (path !== ownersPath) return [];
	const { problems } = parseOwners(file.bytes);
	const lines = problems.length > 0 ? linesOf(new TextDecoder().decode(file.bytes)) : undefined;
	return problems.map((text) => locate({ file: path, text }, lines));
}

/** Both states of the catalogue: path → file. */
interface States {
	before: ReadonlyMap<string, Entry>;
	after: ReadonlyMap<string, Entry>;
}

async function checkLayer(smallkey: string, paths: string[], states: States, reader: FileReader) {
	const own = layerPath(smallkey);
	const before = checkFiles(await readFiles(smallkey, states.before, reader), "stored");
	const files = await readFiles(smallkey, states.after, reader);
	const after = checkFiles(files, paths.includes(own) ? "written" : "stored");
	const texts = new Map(files.map((file) => [file.path, new TextDecoder().decode(file.bytes)]));
	// What was wrong on the base already, in a file that stays as it is, is not the author's to mend.
	const theirs = after.problems.filter(({ file }) => paths.includes(file) || paths.includes(own));
	const layer: ChangedLayer = {
		smallkey,
		before: before.layer,
		after: after.problems.length > 0 ? null : after.layer,
		paths,
		removed: states.before.has(own) && !states.after.has(own),
		text: texts.get(own) ?? "",
	};
	const lines = new Map(theirs.map(({ file }) => [file, linesOf(texts.get(file) ?? "")]));
	const located = theirs.map((problem) => locate(problem, lines.get(problem.file)));
	return { layer, problems: located };
}

/** The files of one layer, in the order of their paths. */
async function readFiles(smallkey: string, state: ReadonlyMap<string, Entry>, reader: FileReader) {
	const files: LayerFile[] = [];
	for (const path of [layerPath(smallkey), descriptionPath(smallkey)]) {
		const entry = state.get(path);
		if (entry) files.push(await reader.read(path, entry));
	}
	return files;
}

function checkFiles(files: LayerFile[], rules: Rules): { layer: CheckedLayer | null; problems: Problem[] } {
	let layer: CheckedLayer | null = null;
	const keep = (good: CheckedLayer) => {
		layer = good;
	};
	const problems = checkCatalogue(files, keep, rules);
	return { layer, problems };
}

/** The entries that `checkChanges` reads. */
export function* entriesToRead(changes: Changes): Generator<Entry> {
	for (const { path, after } of changes.layers) {
		if (after) yield after;
		const name = parseLayerPath(path);
		if (typeof name === "string") continue;
		for (const own of [layerPath(name.smallkey), descriptionPath(name.smallkey)]) {
			const entry = changes.catalogue.get(own);
			if (entry) yield entry;
		}
	}
	const owners = changes.catalogue.get(ownersPath);
	if (owners) yield owners;
}
