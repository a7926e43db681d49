import { commitLayers } from "../publish/commit-layers.ts";
import { type Entry, type Manifest, manifestPath, parseManifest } from "../registry/entries.ts";
import { healthReportPath, parseHealthReport } from "../registry/health-report.ts";
import { buildCatalogue, type CatalogueSettings, hasLayerPages, updateCatalogue } from "./catalogue.ts";
import { Index, IndexBroken } from "./chunks.ts";
import type { ReadFile } from "./files.ts";
import { type HistoryCommit, lastChanges, readHistory } from "./history.ts";
import type { CatalogueOptions } from "./options.ts";
import {
	type OutputFiles,
	readerOf,
	removeTemporary,
	staleChunks,
	staleFiles,
	writeFiles,
} from "./output.ts";
import {
	type CatalogueLayers,
	namesOf,
	nothingFound,
	readAll,
	readReviewersAt,
	take,
} from "./read-layers.ts";
import type { Reviewers } from "./reviewers.ts";
import { type CatalogueState, catalogueStamp, readState, removeState, writeState } from "./state.ts";
import { type Assets, pageSettingsPath } from "./static/html.ts";
import { searchEngineFiles } from "./static/search-engines.ts";
import { placeThumbnails, readThumbnails } from "./thumbnails.ts";

/** Where the layers of a catalogue are. */
export interface CatalogueSource {
	/** What the fragments beside it were built from, as their manifest says; null where that is not known. */
	id: string | null;
	layers: CatalogueLayers;
}

/** What became of a catalogue: nothing was to be done, only what has changed, or all of it. */
export interface CatalogueOutcome {
	how: "nothing" | "changes" | "all";
	layers: number;
	written: number;
	removed: number;
}

/** Changed layers up to which only the pieces that they are in are written: so many, or this share of all. */
const fewChanges = 1_000;
const fewOfAll = 0.1;

/**
 * Brings the catalogue in an output in step with its layers. What is there already is gone on from, where it is whole
 * and was made in the same way: the same files come out as from all layers anew.
 * @param fresh whether everything is made anew, whatever was noted of it
 * @throws {Error} where a file cannot be written or the layers cannot be read
 */
export async function bringCatalogue(
	source: CatalogueSource,
	out: string,
	options: CatalogueOptions,
	fresh = false,
): Promise<CatalogueOutcome> {
	const stamp = catalogueStamp(options);
	const known = fresh ? null : readState(out);
	const state = known?.stamp === stamp ? known : null;
	const commit = "commit" in source.layers ? source.layers.commit : null;
	const isSame = state !== null && (commit === null ? source.id !== null : state.commit === commit);
	if (isSame && (commit !== null || state.source === source.id)) {
		return { how: "nothing", layers: countLayers(readerOf(out)), written: 0, removed: 0 };
	}
	const changes = state && "commit" in source.layers && (await writeChanges(source, state, out, options));
	return changes || writeAll(source, stamp, out, options);
}

/** Number of layers in an index; 0 where it is not there or cut off. */
function countLayers(read: ReadFile): number {
	return manifestOf(read)?.layers ?? 0;
}

function manifestOf(read: ReadFile): Manifest | null {
	return parseManifest(read(manifestPath) ?? "");
}

/** What files are made with. @param layers how many there are */
function settingsOf(
	layers: number,
	commit: string | null,
	assets: Assets,
	owners: Reviewers["owners"],
	{ fragments, publicUrl, site, isServed }: CatalogueOptions,
): CatalogueSettings & { pages: object } {
	const pages = {
		...{ assets, publicUrl, targets: fragments.targets, repository: site.repository },
		hasLayerPages: hasLayerPages(layers, isServed),
	};
	return { pages, isServed, publicUrl, commit, owners };
}

/** Everything is built. */
async function writeAll(
	{ id, layers }: CatalogueSource,
	stamp: string,
	out: string,
	options: CatalogueOptions,
): Promise<CatalogueOutcome> {
	const { entries, history, reviewers } = await readAll(layers, options);
	// Loaded only here: the bundler takes memory that a running service needs only at its first start.
	const { buildPages } = await import("./pages.ts");
	const { files: pages, assets } = await buildPages(options);
	const commit = "commit" in layers ? layers.commit : null;
	const settings = settingsOf(entries.length, commit, assets, reviewers.owners, options);
	const files: OutputFiles = new Map<string, string | Uint8Array | null>([
		...pages,
		[pageSettingsPath, `${JSON.stringify(settings.pages)}\n`],
		...searchEngineFiles(settings.pages),
		...buildCatalogue(entries, history, settings),
	]);
	removeState(out);
	removeTemporary(out);
	const before = manifestOf(readerOf(out));
	const thumbnails = entries.flatMap(({ smallkey, thumbnail }) =>
		thumbnail ? [[smallkey, thumbnail] as const] : [],
	);
	placeThumbnails(out, options.pictures, new Map(thumbnails));
	const written = writeFiles(out, files, options.isCompressed);
	const stale = staleFiles(out, files);
	for (const path of before?.chunks ?? []) if (path !== null) stale.delete(path);
	const { removed } = writeFiles(out, stale, options.isCompressed);
	writeState(out, { stamp, source: id, commit, reviewers: reviewers.stamp, assets });
	return { how: "all", layers: entries.length, written: written.written, removed };
}

/** Only what has changed since a catalogue was made; null where everything has to be looked at. */
async function writeChanges(
	{ id, layers }: CatalogueSource,
	state: CatalogueState,
	out: string,
	options: CatalogueOptions,
): Promise<CatalogueOutcome | null> {
	if (!("commit" in layers) || state.commit === null) return null;
	const { repository, commit } = layers;
	const history = await readHistory(repository, state.commit, commit);
	if (!history) return null;
	const read = readerOf(out);
	try {
		const index = new Index(read);
		const changes = await readChanges({ repository, commit, history, state, read, index }, options);
		if (!changes) return null;
		const { manifest } = index;
		const settings = settingsOf(manifest.layers, commit, state.assets, changes.reviewers.owners, options);
		const files = updateCatalogue(read, { ...changes, history }, settings, index);
		if (!files) return null;
		removeState(out);
		const written = writeFiles(out, files, options.isCompressed);
		const { removed } = writeFiles(out, staleChunks(out, [manifest, manifestOf(read)]), options.isCompressed);
		writeState(out, { ...state, source: id, commit, reviewers: changes.reviewers.stamp });
		return { how: "changes", layers: countLayers(read), ...written, removed: written.removed + removed };
	} catch (error) {
		if (error instanceof IndexBroken) return null;
		throw error;
	}
}

/** From the catalogue that is there to a later commit. */
interface CatalogueRange {
	repository: string;
	commit: string;
	history: HistoryCommit[];
	state: CatalogueState;
	read: ReadFile;
	index: Index;
}

interface ReadChanges {
	layers: Map<string, Entry | null>;
	reviewers: Reviewers & { stamp: string };
}

async function readChanges(range: CatalogueRange, options: CatalogueOptions): Promise<ReadChanges | null> {
	const { repository, commit, history, state, read, index } = range;
	const maxChanges = Math.max(fewChanges, countLayers(read) * fewOfAll);
	const touched = new Set(history.flatMap((one) => one.layers.map(({ smallkey }) => smallkey)));
	if (touched.size > maxChanges) return null;
	const reviewers = await readReviewersAt(repository, commit);
	if (reviewers.stamp !== state.reviewers) {
		for (const smallkey of otherHealth(read, reviewers.health)) touched.add(smallkey);
		if (touched.size > maxChanges) return null;
	}
	const before = index.find(touched);
	const changes = lastChanges(history, namesOf(options), (smallkey) => before.get(smallkey)?.sender ?? null);
	for (const [smallkey, { changed, sender }] of before) {
		if (changed && !changes.has(smallkey)) changes.set(smallkey, { changed, sender: sender ?? null });
	}
	const news = { changes, health: reviewers.health, thumbnails: readThumbnails(options.pictures) };
	const found = nothingFound();
	const lower = new Set([...touched].map((smallkey) => smallkey.toLowerCase()));
	for await (const some of commitLayers(repository, commit)(lower)) {
		for (const spellings of some) take(spellings, found, news, options);
	}
	// A layer came up of whose history nothing is known here: one that differs from it only in case has gone.
	if (found.entries.some(({ smallkey }) => !touched.has(smallkey))) return null;
	const layers = new Map<string, Entry | null>();
	const wrong = new Set(found.wrong);
	for (const smallkey of [...touched, ...found.gone]) if (!wrong.has(smallkey)) layers.set(smallkey, null);
	for (const entry of found.entries) layers.set(entry.smallkey, entry);
	return { layers, reviewers };
}

/** The smallkeys of layers whose health is another now. @throws {IndexBroken} */
function otherHealth(read: ReadFile, now: Reviewers["health"]): string[] {
	const report = parseHealthReport(read(healthReportPath) ?? "");
	if (!report) throw new IndexBroken(`${healthReportPath}: not whole or of another version`);
	const known = new Map(
		report.groups.flatMap(({ layers }) => layers.map((layer) => [layer.smallkey, layer])),
	);
	const all = new Set([...known.keys(), ...now.keys()]);
	return [...all].filter((smallkey) => {
		const [before, after] = [known.get(smallkey), now.get(smallkey)];
		const isSame = before?.state === after?.state && before?.since === after?.since;
		return !isSame || before?.repair !== after?.repair;
	});
}
