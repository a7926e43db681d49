import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { diffTree, listTree } from "../git/tree.ts";
import { isOtherFile, type Problem, parseLayerPath, problemLine } from "../registry/catalogue.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { progress } from "../terminal/progress.ts";
import { listFolder, resolveCommit } from "./collect.ts";
import {
	folderStamp,
	type Manifest,
	readManifest,
	removeManifest,
	rendererStamp,
	writeManifest,
} from "./manifest.ts";
import { prepareOutput, removeStale, type Written } from "./output.ts";
import { type CommitFiles, mostWrong, withoutWrong } from "./partial.ts";
import { placeFile, removeUnplaced } from "./place-file.mjs";
import type { ShareSource } from "./share.ts";
import { shareOut } from "./shares.ts";
import { fragmentSettings, slotPath, slotsOf } from "./slots.ts";

/** What is built: a folder of layers, or one commit of a git repository. */
export type Source = { folder: string } | { repository: string; ref: string };

/** A build's end: what it wrote, or null where problems kept it from writing anything. */
export interface Built {
	/** One line each: file, JSON pointer and reason. */
	problems: string[];
	written: Written | null;
}

/** The same with the problems' places. */
interface Attempt {
	problems: Problem[];
	written: Written | null;
}

/** Changed files up to which only their folders are built again. */
const mostChanges = 1_000;

/**
 * Collects, validates everything, and only then brings `out` in step: files that are the same are not written
 * again, files of removed layers go. Where files of a folder are wrong nothing is written. Those of a commit are built in
 * the last form in which they were in order, and the good ones as they are: both problems and what was written are told.
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
	if ("folder" in source) return buildFolder(source.folder, out, settings, renderer, earlier);
	return buildCommit(source.repository, source.ref, out, settings, renderer, earlier);
}

/** A build that found its output in step already. */
function nothingToDo(manifest: Manifest): Built {
	return { problems: [], written: { written: 0, added: 0, removed: 0, unchanged: manifest.fragments } };
}

async function buildFolder(
	folder: string,
	out: string,
	settings: FragmentSettings,
	renderer: string,
	earlier: Manifest | null,
): Promise<Built> {
	const files = listFolder(folder);
	const stamp = folderStamp(folder, files);
	if (earlier && stamp && earlier.source === stamp) return nothingToDo(earlier);
	const built = toBuilt(await buildAll({ folder, files }, out, settings));
	if (built.written && stamp) {
		writeManifest(out, {
			renderer,
			source: stamp,
			fragments: built.written.written + built.written.unchanged,
		});
	}
	return built;
}

async function buildCommit(
	repository: string,
	ref: string,
	out: string,
	settings: FragmentSettings,
	renderer: string,
	earlier: Manifest | null,
): Promise<Built> {
	const commit = await resolveCommit(repository, ref);
	const source = `commit ${commit}`;
	// What is wrong is looked at again, and named.
	if (earlier?.source === source && !earlier.wrong) return nothingToDo(earlier);
	const few = earlier && (await buildChanges(repository, earlier, commit, out, settings));
	const built = few?.written ? few : await buildWhole(repository, commit, out, settings);
	if (built.written) {
		const fragments = built.written.written + built.written.unchanged;
		const wrong = [...new Set(built.problems.map(({ file }) => file))].sort();
		writeManifest(out, { renderer, source, fragments, ...(wrong.length > 0 ? { wrong } : {}) });
	}
	return toBuilt(built);
}

function toBuilt({ problems, written }: Attempt): Built {
	return { problems: problems.map(problemLine), written };
}

/** How often wrong files are taken out until nothing is wrong: what is left may be wrong only without them. */
const mostRounds = 3;

/** Renders everything. */
async function buildWhole(
	repository: string,
	commit: string,
	out: string,
	settings: FragmentSettings,
): Promise<Attempt> {
	const files = await listTree(repository, commit, "layers/");
	return buildPartly({ repository, commit, files }, 1, (source) => buildAll(source, out, settings));
}

/**
 * Builds files, those that are wrong in their last good form.
 * @param least number of layers below which nothing is built
 */
async function buildPartly(
	{ repository, commit, files: given }: CommitFiles,
	least: number,
	buildOf: (source: ShareSource & { repository: string }) => Promise<Attempt>,
): Promise<Attempt> {
	let files = [...given];
	let attempt = await buildOf({ repository, files });
	const { problems } = attempt;
	if (new Set(problems.map(({ file }) => file)).size > mostWrong) return attempt;
	for (let round = 1; !attempt.written && round <= mostRounds; round += 1) {
		files = await withoutWrong({ repository, commit, files }, attempt.problems, round === 1);
		if (smallkeysOf(files).size < least) return attempt;
		attempt = await buildOf({ repository, files });
	}
	return { problems, written: attempt.written };
}

/** Renders everything, and writes it once all of it is good. */
async function buildAll(source: ShareSource, out: string, settings: FragmentSettings): Promise<Attempt> {
	const shares = shareOut(source);
	try {
		const problems = await shares.render(settings);
		if (problems.length > 0) return { problems, written: null };
		removeManifest(out);
		const slots = slotsOf(settings);
		const isFresh = prepareOutput(out, slots);
		const smallkeys = smallkeysOf(source.files);
		const bar = progress(smallkeys.size * slots.length, "writing");
		const written = await shares.write(out, isFresh, bar.tick).finally(bar.stop);
		if (!isFresh) written.removed += removeStale(out, slots, (smallkey) => smallkeys.has(smallkey));
		removeUnplaced(out);
		return { problems: [], written };
	} finally {
		await shares.close();
	}
}

/** The smallkeys of registration files whose names are right. */
function smallkeysOf(files: readonly { path: string }[]): Set<string> {
	const names = files.map(({ path }) => parseLayerPath(path));
	return new Set(
		names.flatMap((name) =>
			typeof name === "object" && name.kind === "registration" ? [name.smallkey] : [],
		),
	);
}

/**
 * Builds only the folders in which files differ from the commit that `out` was built from, or were wrong there.
 * @returns null where that commit is unknown here or too much has changed: everything has to be built
 */
async function buildChanges(
	repository: string,
	earlier: Manifest,
	commit: string,
	out: string,
	settings: FragmentSettings,
): Promise<Attempt | null> {
	const before = /^commit ([0-9a-f]+)$/.exec(earlier.source)?.[1];
	if (!before) return null;
	const changes = await diffTree(repository, before, commit, "layers").catch(() => null);
	if (!changes || changes.length > mostChanges) return null;
	const changed = changes.map(({ path }) => path).filter((path) => !isOtherFile(path));
	const paths = [...new Set([...changed, ...(earlier.wrong ?? [])])];
	const folders = [...new Set(paths.map(dirname))].sort();
	// A file outside the folders of layers is a problem that only the whole build sees.
	if (folders.some((folder) => dirname(folder) !== "layers")) return null;
	const listed = await Promise.all(folders.map((folder) => listTree(repository, commit, `${folder}/`)));
	const touched = smallkeysOf(paths.map((path) => ({ path })));
	const hasOthers = touched.size < earlier.fragments / slotsOf(settings).length;
	const found = { repository, commit, files: listed.flat() };
	return buildPartly(found, hasOthers ? 0 : 1, (source) =>
		buildSome(source, touched, earlier.fragments, out, settings),
	);
}

/**
 * Builds a few folders.
 * @param touched the smallkeys whose files differ
 * @param before number of fragments in the output so far
 */
async function buildSome(
	source: ShareSource,
	touched: ReadonlySet<string>,
	before: number,
	out: string,
	settings: FragmentSettings,
): Promise<Attempt> {
	const shares = shareOut(source);
	try {
		const problems = await shares.render(settings);
		if (problems.length > 0) return { problems, written: null };
		removeManifest(out);
		const present = smallkeysOf(source.files);
		const gone = [...touched].filter((smallkey) => !present.has(smallkey));
		const slots = slotsOf(settings);
		const paths = gone.flatMap((smallkey) => slots.map((slot) => slotPath(slot, smallkey)));
		const old = paths.filter((path) => existsSync(join(out, path)));
		const { written, added, removed } = await shares.write(out, false, () => undefined);
		for (const path of old) placeFile(out, path, null);
		const lost = removed + old.length;
		return {
			problems: [],
			written: { written, added, removed: lost, unchanged: before + added - lost - written },
		};
	} finally {
		await shares.close();
	}
}
