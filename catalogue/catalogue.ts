import { chunkCount, type Entry } from "../registry/entries.ts";
import { healthReportPath } from "../registry/health-report.ts";
import { langs } from "../registry/smallkey.ts";
import { buildChanges, type CommitChanges, updateChanges } from "./changes.ts";
import { buildIndex, Index, IndexBroken, inChunks } from "./chunks.ts";
import type { Files, ReadFile } from "./files.ts";
import { buildHealth, type OwnersOf, updateHealth } from "./health.ts";
import { layerFile, listFile } from "./static/addresses.ts";
import type { PageSettings } from "./static/html.ts";
import { layerHtml } from "./static/layer.ts";
import { byTitle, listHtml, listPages } from "./static/list.ts";
import { crawlableFile, crawlableIndex, crawlablePage, crawlablePath } from "./static/records.ts";
import { sitemapFile, sitemapXml } from "./static/search-engines.ts";

/** Layers up to which each has pages as files. */
export const maxLayerPages = 2_000;

/** What the catalogue needs beside the layers. */
export interface CatalogueSettings {
	/** What pages need; null: no pages are written, only what programs read. */
	pages: PageSettings | null;
	/**
	 * Whether a service renders the pages of layers, the plain list and records when they are asked for. Without it they
	 * are files, the pages of layers up to `maxLayerPages`.
	 */
	isServed: boolean;
	/** Address of the service with a slash at its end; empty where it is not known. */
	publicUrl: string;
	/** The commit that the layers are of; null where it is not known. */
	commit: string | null;
	owners: OwnersOf;
}

/** Whether each layer has a page without a script. */
export function hasLayerPages(layers: number, isServed: boolean): boolean {
	return isServed || layers <= maxLayerPages;
}

/**
 * All files of the catalogue that depend on layers: the index, the report of health, the changes, and the pages.
 * @param entries each smallkey once
 * @param history commits that touched layers, oldest first; null where it is not known
 */
export function buildCatalogue(
	entries: readonly Entry[],
	history: readonly CommitChanges[] | null,
	settings: CatalogueSettings,
): Files {
	const chunks = inChunks(entries);
	const files: Files = new Map([
		...buildIndex(chunks, settings.commit),
		[healthReportPath, buildHealth(entries, settings.owners)],
		...buildChanges((history ?? []).map(listedCommit), settings),
		...chunks.flatMap((chunk, number) => [...chunkFiles(number, chunk, settings)]),
		...entries.flatMap((entry) => [...layerFiles(entry.smallkey, entry, settings)]),
		...fileLists(chunks, settings),
	]);
	for (const [path, text] of files) if (text === null) files.delete(path);
	return files;
}

/** What changed since the catalogue's files were written. */
export interface CatalogueChanges {
	/** Smallkey → the layer, or null where it is gone; those whose health changed are among them. */
	layers: ReadonlyMap<string, Entry | null>;
	/** The commits that did it, oldest first; empty where no history is known. */
	history: readonly CommitChanges[];
}

/**
 * The files of the catalogue that differ after some changes, the same ones as in a whole build; null for one that goes.
 * The chunks before stay.
 * @param read the files as they are
 * @param index theirs, in which the changed layers were looked up
 * @returns null where they are not whole or of another version: everything has to be built
 */
export function updateCatalogue(
	read: ReadFile,
	changes: CatalogueChanges,
	settings: CatalogueSettings,
	index?: Index,
): Files | null {
	try {
		return changedFiles(read, changes, settings, index ?? new Index(read));
	} catch (error) {
		if (error instanceof IndexBroken) return null;
		throw error;
	}
}

function changedFiles(
	read: ReadFile,
	{ layers, history }: CatalogueChanges,
	settings: CatalogueSettings,
	index: Index,
): Files {
	const before = index.find(layers.keys());
	const layersBefore = index.manifest.layers;
	const { files, chunks, layers: count } = index.change(layers, settings.commit);
	// Every page says which others there are.
	const { isServed } = settings;
	if (hasLayerPages(count, isServed) !== hasLayerPages(layersBefore, isServed))
		throw new IndexBroken("the pages of layers come or go");
	const report = updateHealth(read(healthReportPath) ?? "", before, layers, settings.owners);
	if (report === null) throw new IndexBroken(`${healthReportPath}: not whole or of another version`);
	files.set(healthReportPath, report);
	const commits = updateChanges(read, history.map(listedCommit), settings);
	if (!commits) throw new IndexBroken("changes/: not whole or of another version");
	for (const [path, text] of commits) files.set(path, text);
	for (const number of chunks)
		for (const [path, text] of chunkFiles(number, index.chunk(number), settings)) files.set(path, text);
	for (const [smallkey, entry] of layers)
		for (const [path, text] of layerFiles(smallkey, entry, settings)) files.set(path, text);
	if (isServed || !settings.pages) return files;
	const all = Array.from({ length: chunkCount }, (_, number) => index.chunk(number));
	for (const [path, text] of fileLists(all, settings, layersBefore)) files.set(path, text);
	return files;
}

/** What is published of a commit: its author may have no public name. */
function listedCommit({ commit, date, layers }: CommitChanges): CommitChanges {
	return { commit, date, layers };
}

/** The files beside a chunk: its part of the sitemap, and its records for crawlers. */
function chunkFiles(
	number: number,
	entries: readonly Entry[],
	{ pages, isServed, publicUrl }: CatalogueSettings,
): Files {
	const files: Files = new Map();
	if (pages?.hasLayerPages && publicUrl) files.set(sitemapFile(number), sitemapXml(entries, publicUrl));
	if (pages && !isServed)
		files.set(crawlableFile(number), entries.length > 0 ? crawlablePage(number, entries, publicUrl) : null);
	return files;
}

function layerFiles(smallkey: string, entry: Entry | null, { pages, isServed }: CatalogueSettings): Files {
	if (!pages?.hasLayerPages || isServed) return new Map();
	return new Map(langs.map((lang) => [layerFile(lang, smallkey), entry && layerHtml(lang, entry, pages)]));
}

/** What lists all layers, for a hosting of files. @param before number of layers that there were */
function fileLists(
	chunks: readonly (readonly Entry[])[],
	{ pages, isServed, publicUrl }: CatalogueSettings,
	before = 0,
): Files {
	const files: Files = new Map();
	if (!pages || isServed) return files;
	const filled = chunks.flatMap(({ length }, number) => (length > 0 ? [number] : []));
	files.set(crawlablePath, crawlableIndex(filled, publicUrl));
	const entries = chunks.flat();
	for (const lang of langs) {
		const sorted = byTitle(entries, lang);
		const last = Math.max(listPages(entries.length), listPages(before));
		for (let page = 1; page <= last; page += 1)
			files.set(listFile(lang, page), listHtml(lang, sorted, page, pages));
	}
	return files;
}
