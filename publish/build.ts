import { dirname } from "node:path";
import { diffTree, listTree, type PathChange } from "../git/tree.ts";
import { middleRank } from "../registry/drawing-order.ts";
import { judgeFiles, type LayerFile, type Problem, problemLine } from "../registry/judge.ts";
import { isOtherFile, parseLayerPath } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { progress } from "../terminal/progress.ts";
import { listFolder, readEntries, readFound, resolveCommit } from "./collect.ts";
import { findGoodContent } from "./earlier.ts";
import { type Entry, entryOf } from "./entry.ts";
import {
	folderStamp,
	type Manifest,
	readManifest,
	removeManifest,
	rendererStamp,
	writeManifest,
} from "./manifest.ts";
import { prepareOutput, removeStale, type Written, writeLayers } from "./output.ts";
import { removeUnplaced } from "./place-file.mjs";
import { fragmentSettings, renderSlots, slotsOf } from "./slots.ts";

/** What is built: a folder of layers, or one commit of a git repository. */
export type Source = { folder: string } | { repository: string; ref: string };

/** A build's end: what it wrote, or null where problems kept it from writing anything. */
export interface Built {
	/** One line each: file, JSON pointer and reason. */
	problems: string[];
	written: Written | null;
}

/** Where a build goes, and how. */
interface Target {
	out: string;
	settings: Required<FragmentSettings>;
	renderer: string;
	/** What the output was built from, by the same renderer; null where that is not known. */
	earlier: Manifest | null;
}

/** Fragments of the layers that are served; null for one that is not any more. */
type Layers = Map<string, Entry | null>;

/** Changed files up to which only their folders are built again. */
const maxChanges = 1_000;
/** Wrong files up to which each is looked for in the history: more are no accident, and nothing is built then. */
const maxWrong = 200;
/** How often wrong files are taken out until nothing is wrong: what is left may be wrong only without them. */
const maxRounds = 3;

/**
 * Collects, validates everything, and only then brings `out` in step: files that are the same are not written
 * again, files of removed layers go. Where files of a folder are wrong nothing is written. Those of a commit are built in
 * the last form in which they were in order, and the good ones as they are: the result has both problems and what was
 * written.
 * @param fresh whether to look at every file again, whatever the last build noted of them
 */
export async function build(
	source: Source,
	out: string,
	given: FragmentSettings,
	fresh = false,
): Promise<Built> {
	const settings = fragmentSettings(given);
	const renderer = rendererStamp(settings);
	const known = fresh ? null : readManifest(out);
	const earlier = known?.renderer === renderer ? known : null;
	const target = { out, settings, renderer, earlier };
	if ("folder" in source) return buildFolder(source.folder, target);
	return buildCommit(source.repository, await resolveCommit(source.repository, source.ref), target);
}

/** A build that found its output in step already. */
function nothingToDo(manifest: Manifest): Built {
	return { problems: [], written: { written: 0, added: 0, removed: 0, unchanged: manifest.fragments } };
}

async function buildFolder(folder: string, target: Target): Promise<Built> {
	const found = listFolder(folder);
	const stamp = folderStamp(folder, found);
	if (target.earlier && stamp && target.earlier.source === stamp) return nothingToDo(target.earlier);
	const { layers, problems } = render(readFound(folder, found), target);
	const written = problems.length === 0 ? await writeAll(layers, target) : null;
	if (written && stamp) keepManifest(target, stamp, written, []);
	return { problems: problems.map(problemLine), written };
}

async function buildCommit(repository: string, commit: string, target: Target): Promise<Built> {
	const { earlier } = target;
	const source = `commit ${commit}`;
	// What is wrong is looked at again, and named.
	if (earlier?.source === source && !earlier.wrong) return nothingToDo(earlier);
	const few = earlier && (await renderSince(earlier, repository, commit, target));
	const { layers, problems } = few ?? (await renderWhole(repository, commit, target));
	if (few) return keep(await writeSome(layers, target));
	// Where nothing is in order, what is there stays.
	const isNothing = problems.length > 0 && layers.size === 0;
	return keep(isNothing ? null : await writeAll(layers, target));

	function keep(written: Written | null): Built {
		const wrong = [...new Set(problems.map(({ file }) => file))].sort();
		if (written) keepManifest(target, source, written, wrong);
		return { problems: problems.map(problemLine), written };
	}
}

function keepManifest({ out, renderer }: Target, source: string, written: Written, wrong: string[]): void {
	const fragments = written.written + written.unchanged;
	writeManifest(out, { renderer, source, fragments, ...(wrong.length > 0 ? { wrong } : {}) });
}

/** What is built, and what is wrong with files. */
interface Rendered {
	layers: Layers;
	problems: Problem[];
}

/** Checks files, and renders the layers that are in order. @param files sorted by path */
function render(files: readonly LayerFile[], { settings }: Target): Rendered {
	const layers: Layers = new Map();
	const problems = judgeFiles(files, (layer) => {
		layers.set(layer.smallkey, entryOf(renderSlots(layer, settings), middleRank));
	});
	return { layers, problems };
}

/** A commit, and the files under `layers/` that are built of it. */
interface CommitFiles {
	repository: string;
	commit: string;
	files: readonly PathChange[];
}

/** Renders the layers of files, those that are wrong in their last good form; none where too many are wrong. */
async function renderCommit(given: CommitFiles, target: Target): Promise<Rendered> {
	const { repository } = given;
	const { layers, problems } = render(await readEntries(repository, [...given.files]), target);
	let { files } = given;
	let wrong = pathsOf(problems);
	if (wrong.size > maxWrong) return { layers: new Map(), problems };
	for (let round = 1; wrong.size > 0 && round <= maxRounds; round += 1) {
		files = await withoutWrong({ ...given, files }, wrong, round === 1);
		// A file may be wrong only because of another one of the same smallkey.
		const keys = new Set([...wrong].map(lowerKeyOf));
		for (const smallkey of layers.keys()) if (keys.has(smallkey.toLowerCase())) layers.delete(smallkey);
		const some = files.filter(({ path }) => keys.has(lowerKeyOf(path)));
		const again = render(await readEntries(repository, some), target);
		for (const [smallkey, entry] of again.layers) layers.set(smallkey, entry);
		wrong = pathsOf(again.problems);
	}
	return { layers, problems };
}

function pathsOf(problems: readonly Problem[]): Set<string> {
	return new Set(problems.map(({ file }) => file));
}

/** The smallkey of a layer's file in lower case; a path that is that of no layer stands for itself. */
function lowerKeyOf(path: string): string {
	return parseLayerPath(path)?.smallkey.toLowerCase() ?? path;
}

/**
 * The files with each wrong one in the last form in which it was in order; one that never was is left out.
 * @param hasHistory whether earlier forms are looked for: not where those are what is wrong
 */
async function withoutWrong(
	{ repository, commit, files }: CommitFiles,
	wrong: ReadonlySet<string>,
	hasHistory: boolean,
): Promise<PathChange[]> {
	const good: PathChange[] = [];
	for (const file of files) {
		if (!wrong.has(file.path)) good.push(file);
		else if (hasHistory) {
			const { id } = (await findGoodContent(repository, commit, file.path)) ?? file;
			if (id !== file.id) good.push({ path: file.path, mode: "100644", id });
		}
	}
	return good;
}

/** Renders everything. */
async function renderWhole(repository: string, commit: string, target: Target): Promise<Rendered> {
	const files = await listTree(repository, commit, "layers/");
	return renderCommit({ repository, commit, files }, target);
}

/**
 * Renders only the folders in which files differ from the commit that the output was built from, or were wrong there.
 * @returns null where that commit is unknown here or too much has changed: everything has to be built
 */
async function renderSince(
	earlier: Manifest,
	repository: string,
	commit: string,
	target: Target,
): Promise<Rendered | null> {
	const before = /^commit ([0-9a-f]+)$/.exec(earlier.source)?.[1];
	if (!before) return null;
	const changes = await diffTree(repository, before, commit, "layers").catch(() => null);
	if (!changes || changes.length > maxChanges) return null;
	const changed = changes.map(({ path }) => path).filter((path) => !isOtherFile(path));
	const paths = [...new Set([...changed, ...(earlier.wrong ?? [])])];
	const folders = [...new Set(paths.map(dirname))].sort();
	// A file outside the folders of layers is a problem that only the whole build sees.
	if (folders.some((folder) => dirname(folder) !== "layers")) return null;
	const listed = await Promise.all(folders.map((folder) => listTree(repository, commit, `${folder}/`)));
	const rendered = await renderCommit({ repository, commit, files: listed.flat() }, target);
	const touched = smallkeysOf(paths);
	const hasOthers = touched.size < earlier.fragments / slotsOf(target.settings).length;
	const isNothing = rendered.problems.length > 0 && rendered.layers.size === 0;
	if (isNothing && (!hasOthers || pathsOf(rendered.problems).size > maxWrong)) return null;
	for (const smallkey of touched) if (!rendered.layers.has(smallkey)) rendered.layers.set(smallkey, null);
	return rendered;
}

/** The smallkeys of registration files whose names are right. */
function smallkeysOf(paths: readonly string[]): Set<string> {
	const names = paths.map(parseLayerPath);
	return new Set(names.flatMap((name) => (name?.kind === "registration" ? [name.smallkey] : [])));
}

/** Writes all layers, and removes the files of all others. */
async function writeAll(layers: Layers, { out, settings }: Target): Promise<Written> {
	removeManifest(out);
	const slots = slotsOf(settings);
	const isFresh = prepareOutput(out, slots);
	const bar = progress(layers.size * slots.length, "writing");
	const written = await writeLayers(out, slots, layers, { isFresh, tick: bar.tick }).finally(bar.stop);
	if (!isFresh) written.removed += removeStale(out, slots, (smallkey) => layers.has(smallkey));
	removeUnplaced(out);
	return written;
}

/** Writes a few layers of an output that has all others. */
async function writeSome(layers: Layers, { out, settings, earlier }: Target): Promise<Written> {
	removeManifest(out);
	const written = await writeLayers(out, slotsOf(settings), layers, { isFresh: false });
	const { added, removed } = written;
	return { ...written, unchanged: (earlier?.fragments ?? 0) + added - removed - written.written };
}
