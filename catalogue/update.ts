import { commitLayers } from "../publish/commit-layers.ts";
import { IndexUpdate, indexPath } from "../registry/index/index.ts";
import { parseObject } from "../registry/index/set.ts";
import { IndexBroken, type ReadFile } from "../registry/index/set-update.ts";
import { buildCatalogue, findEntries, type ListedLayer, sickLayers, updateCatalogue } from "./catalogue.ts";
import { type HistoryCommit, lastChanges, readHistory } from "./history.ts";
import type { Reviewers } from "./listed.ts";
import type { CatalogueOptions } from "./options.ts";
import { type OutputFiles, readerOf, removeTemporary, staleFiles, writeFiles } from "./output.ts";
import {
	type CatalogueLayers,
	namesOf,
	nothingFound,
	readAll,
	readReviewersAt,
	take,
} from "./read-layers.ts";
import { type CatalogueState, catalogueStamp, readState, removeState, writeState } from "./state.ts";

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
	const count = parseObject(read(indexPath) ?? "")?.layers;
	return typeof count === "number" ? count : 0;
}

/** Everything anew. */
async function writeAll(
	{ id, layers }: CatalogueSource,
	stamp: string,
	out: string,
	options: CatalogueOptions,
): Promise<CatalogueOutcome> {
	const { listed, history, reviewers } = await readAll(layers, options);
	// Loaded only here: the bundler takes memory that a running service needs only at its first start.
	const { buildPages } = await import("./pages.ts");
	const { files: pages, assets } = await buildPages(options);
	const settings = { assets, publicUrl: options.publicUrl, owners: reviewers.owners };
	const files: OutputFiles = new Map<string, string | Uint8Array | null>([
		...pages,
		...buildCatalogue(listed, history, settings),
	]);
	removeState(out);
	removeTemporary(out);
	const written = writeFiles(out, files, options.isCompressed);
	const { removed } = writeFiles(out, staleFiles(out, files), options.isCompressed);
	const commit = "commit" in layers ? layers.commit : null;
	writeState(out, { stamp, source: id, commit, reviewers: reviewers.stamp, assets });
	return { how: "all", layers: listed.length, written: written.written, removed };
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
	const index = new IndexUpdate(read);
	try {
		const changes = await readChanges({ repository, commit, history, state, read, index }, options);
		if (!changes) return null;
		const settings = { assets: state.assets, publicUrl: options.publicUrl, owners: changes.reviewers.owners };
		const files = updateCatalogue(read, { ...changes, history }, settings, index);
		if (!files) return null;
		removeState(out);
		const written = writeFiles(out, files, options.isCompressed);
		writeState(out, { ...state, source: id, commit, reviewers: changes.reviewers.stamp });
		return { how: "changes", layers: countLayers(read), ...written };
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
	index: IndexUpdate;
}

interface ReadChanges {
	layers: Map<string, ListedLayer | null>;
	reviewers: Reviewers & { stamp: string };
	isHealthKept: boolean;
}

async function readChanges(range: CatalogueRange, options: CatalogueOptions): Promise<ReadChanges | null> {
	const { repository, commit, history, state, read, index } = range;
	const mostChanges = Math.max(fewChanges, countLayers(read) * fewOfAll);
	const touched = new Set(history.flatMap((one) => one.layers.map(({ smallkey }) => smallkey)));
	if (touched.size > mostChanges) return null;
	const reviewers = await readReviewersAt(repository, commit);
	const areReviewersSame = reviewers.stamp === state.reviewers;
	if (!areReviewersSame) {
		const before = sickLayers(read);
		for (const smallkey of otherHealth(before, reviewers.health)) touched.add(smallkey);
		if (touched.size > mostChanges) return null;
	}
	const before = findEntries(index, touched);
	const changes = lastChanges(history, namesOf(options), (smallkey) => before.get(smallkey)?.sender ?? null);
	for (const [smallkey, { changed, sender }] of before) {
		if (changed && !changes.has(smallkey)) changes.set(smallkey, { changed, sender: sender ?? null });
	}
	const news = { changes, health: reviewers.health };
	const found = nothingFound();
	const lower = new Set([...touched].map((smallkey) => smallkey.toLowerCase()));
	for await (const some of commitLayers(repository, commit)(lower)) {
		for (const spellings of some) take(spellings, found, news, options);
	}
	// A layer came up of whose history nothing is known here: one that differs from it only in case has gone.
	if (found.listed.some(({ entry }) => !touched.has(entry.smallkey))) return null;
	const layers = new Map<string, ListedLayer | null>();
	const wrong = new Set(found.wrong);
	for (const smallkey of [...touched, ...found.gone]) if (!wrong.has(smallkey)) layers.set(smallkey, null);
	// What goes comes first: the index has one place for all spellings of a smallkey.
	for (const layer of found.listed) {
		layers.delete(layer.entry.smallkey);
		layers.set(layer.entry.smallkey, layer);
	}
	const wasSick = [...before.values()].some(({ health }) => health);
	const isSick = found.listed.some(({ entry }) => entry.health);
	return { layers, reviewers, isHealthKept: areReviewersSame && !wasSick && !isSick };
}

/** The smallkeys of layers whose health is another now. */
function otherHealth(before: ReturnType<typeof sickLayers>, now: Reviewers["health"]): string[] {
	const known = new Map(before.map(({ smallkey, health }) => [smallkey, health]));
	const all = new Set([...known.keys(), ...now.keys()]);
	return [...all].filter((smallkey) => {
		const [one, other] = [known.get(smallkey), now.get(smallkey)];
		return one?.state !== other?.state || one?.since !== other?.since;
	});
}
