import pMap from "p-map";
import { linesOf } from "../registry/json.ts";
import { type CheckedLayer, judgeFile, judgePlace, type LayerFile } from "../registry/judge.ts";
import { judgeNames, namesOf, type Problem } from "../registry/judge-names.ts";
import { ownersPath } from "../registry/owners.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../registry/smallkey.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Change, Changes, Entry, FileReader } from "./changes.ts";
import { type Located, locate } from "./locate.ts";

/** Layers that are checked at once. */
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
	/** Text of the registration on the head, to find the lines of its problems. */
	text: string;
}

/** What is in order and what is not. */
export interface Checked {
	/** Sorted by smallkey. */
	layers: ChangedLayer[];
	/** In the order of the paths. */
	problems: Located[];
	/** What is accepted, but probably not meant. */
	warnings: Located[];
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
	const edits = changes.layers.map(({ path, after }) => ({ path, isRemoved: after === null }));
	const wrongNames = judgeNames(edits, namesOf(changes.catalogue.keys()));
	const misnamed = new Set(wrongNames.map(({ file }) => parseLayerPath(file)?.smallkey));
	const problems = wrongNames.map((problem) => locate(problem));
	const warnings: Located[] = [];
	const groups = new Map<string, string[]>();
	for (const change of changes.layers) {
		const name = parseLayerPath(change.path);
		if (name) groups.set(name.smallkey, [...(groups.get(name.smallkey) ?? []), change.path]);
		else problems.push(...(await checkOther(change, reader)));
	}
	const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
	const layers = await pMap(
		sorted,
		async ([smallkey, paths]) => {
			const checked = await checkLayer(smallkey, paths, { before: changes.catalogue, after: merged }, reader);
			problems.push(...checked.problems);
			warnings.push(...checked.warnings);
			return misnamed.has(smallkey) ? { ...checked.layer, after: null } : checked.layer;
		},
		{ concurrency: atOnce },
	);
	for (const found of [problems, warnings])
		found.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
	return { layers, problems, warnings };
}

/** A file that is no layer's: the owners, or what has no place here. */
async function checkOther({ path, after }: Change, reader: FileReader): Promise<Located[]> {
	const misplaced = judgePlace({ path, isRemoved: after === null });
	if (misplaced) return [locate(misplaced)];
	if (!after) return [];
	const file = await reader.read(path, after);
	return locateAll(judgeFile(file, "written").problems, file);
}

/** Problems of one file at their lines. */
function locateAll(problems: readonly Problem[], { bytes }: LayerFile): Located[] {
	const lines = problems.length > 0 ? linesOf(new TextDecoder().decode(bytes)) : undefined;
	return problems.map((problem) => locate(problem, lines));
}

/** Both states of the catalogue: path → file. */
interface States {
	before: ReadonlyMap<string, Entry>;
	after: ReadonlyMap<string, Entry>;
}

async function checkLayer(smallkey: string, paths: string[], states: States, reader: FileReader) {
	const own = layerPath(smallkey);
	const before = await readLayer(smallkey, states.before, reader, []);
	const after = await readLayer(smallkey, states.after, reader, paths);
	const layer: ChangedLayer = {
		smallkey,
		before: before.layer,
		after: after.problems.length > 0 ? null : after.layer,
		paths,
		removed: states.before.has(own) && !states.after.has(own),
		text: after.text,
	};
	const texts = layer.after && paths.includes(own) ? warningsOf(layer.after.registration) : [];
	const lines = linesOf(after.text);
	const warnings = texts.map((text) => locate({ file: own, text }, lines));
	return { layer, problems: after.problems, warnings };
}

/**
 * One layer in one state of the catalogue.
 * @param written the paths whose files are judged as what is written; what is wrong in others is not the author's
 */
async function readLayer(
	smallkey: string,
	state: ReadonlyMap<string, Entry>,
	reader: FileReader,
	written: readonly string[],
) {
	const problems: Located[] = [];
	const judge = async (path: string) => {
		const entry = state.get(path);
		if (!entry) return null;
		const file = await reader.read(path, entry);
		const isWritten = written.includes(path);
		const judged = judgeFile(file, isWritten ? "written" : "stored");
		if (isWritten) problems.push(...locateAll(judged.problems, file));
		return { ...judged, bytes: file.bytes };
	};
	const own = await judge(layerPath(smallkey));
	const description = (await judge(descriptionPath(smallkey)))?.description ?? null;
	const layer: CheckedLayer | null = own?.registration
		? { smallkey, registration: own.registration, description }
		: null;
	return { layer, problems, text: own ? new TextDecoder().decode(own.bytes) : "" };
}

/** The entries that `checkChanges` reads. */
export function* entriesToRead(changes: Changes): Generator<Entry> {
	for (const { path, after } of changes.layers) {
		if (after) yield after;
		const name = parseLayerPath(path);
		if (!name) continue;
		for (const own of [layerPath(name.smallkey), descriptionPath(name.smallkey)]) {
			const entry = changes.catalogue.get(own);
			if (entry) yield entry;
		}
	}
	const owners = changes.catalogue.get(ownersPath);
	if (owners) yield owners;
}
