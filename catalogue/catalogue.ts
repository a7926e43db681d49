import type { Entry } from "../registry/entries.ts";
import { healthReportPath } from "../registry/health.ts";
import { langs } from "../registry/smallkey.ts";
import { type CommitChanges, updateChanges } from "./changes.ts";
import { type Files, Index, IndexBroken, type ReadFile } from "./chunks.ts";
import { type OwnersOf, updateHealth } from "./health.ts";
import { layerFile, listFile } from "./static/addresses.ts";
import type { PageSettings } from "./static/html.ts";
import { layerHtml } from "./static/layer.ts";
import { byTitle, listHtml, listPages } from "./static/list.ts";
import { crawlableFile, crawlableIndex, crawlablePage, crawlablePath } from "./static/records.ts";
import { sitemapFile, sitemapXml } from "./static/search-engines.ts";

/** Most layers for which a build writes one page per layer and language. */
export const maxLayerPages = 2_000;

export interface CatalogueSettings {
	pages: PageSettings;
	/**
	 * Whether a service renders the layer pages, the plain list and the records on request. If not, they are written as
	 * files, and layer pages only up to `maxLayerPages` layers.
	 */
	isServed: boolean;
	/** The commit that the layers come from; null if unknown. */
	commit: string | null;
	owners: OwnersOf;
}

/** Whether each layer has a page without a script. */
export function hasLayerPages(layers: number, isServed: boolean): boolean {
	return isServed || layers <= maxLayerPages;
}

/** What a range of commits changes in the catalogue. */
export interface CatalogueChanges {
	/** Smallkey → the layer's entry, or null if the layer was removed. Layers whose health changed are included. */
	layers: ReadonlyMap<string, Entry | null>;
	/** The commits that touched layers, oldest first; empty if no history is known. */
	history: readonly CommitChanges[];
}

/**
 * Renders the catalogue's files that differ after some changes; null for a removed file. Replaced chunks are not removed.
 * @param read reads the existing files; null if there are none, and then `layers` has all layers
 * @param index the index of the existing files
 * @throws {IndexBroken} if the existing files are incomplete or of another version: everything has to be built
 */
export function catalogueFiles(
	read: ReadFile | null,
	{ layers, history }: CatalogueChanges,
	settings: CatalogueSettings,
	index = new Index(read),
): Files {
	const { pages, isServed, commit, owners } = settings;
	const before = index.find(layers.keys());
	const layersBefore = index.manifest.layers;
	const { files, chunks, layers: count } = index.change(layers, commit);
	// Lists, sitemap and page settings depend on whether layers have pages: all of them have to be written again.
	if (read && hasLayerPages(count, isServed) !== hasLayerPages(layersBefore, isServed))
		throw new IndexBroken("the pages of layers come or go");
	files.set(healthReportPath, updateHealth(read && (read(healthReportPath) ?? ""), before, layers, owners));
	const all = [
		...updateChanges(read, history.map(listedCommit), pages.publicUrl),
		...chunks.flatMap((number) => chunkFiles(number, index.chunk(number), settings)),
		...[...layers].flatMap(([smallkey, entry]) => layerFiles(smallkey, entry, settings)),
		...(isServed ? [] : listFiles(index.chunks(), pages, layersBefore)),
	];
	for (const [path, text] of all) if (read || text !== null) files.set(path, text);
	return files;
}

/** The published part of a commit, without its sender: a sender may have no public name. */
function listedCommit({ commit, date, layers, repairs }: CommitChanges): CommitChanges {
	return { commit, date, layers, ...(repairs && { repairs }) };
}

type File = [path: string, text: string | null];

/** The files that depend on one chunk: its part of the sitemap, and its records for crawlers. */
function chunkFiles(
	number: number,
	entries: readonly Entry[],
	{ pages: { hasLayerPages, publicUrl }, isServed }: CatalogueSettings,
): File[] {
	const records = entries.length > 0 ? crawlablePage(number, entries, publicUrl) : null;
	return [
		...(hasLayerPages && publicUrl ? [[sitemapFile(number), sitemapXml(entries, publicUrl)] as File] : []),
		...(isServed ? [] : [[crawlableFile(number), records] as File]),
	];
}

function layerFiles(smallkey: string, entry: Entry | null, { pages, isServed }: CatalogueSettings): File[] {
	if (!pages.hasLayerPages || isServed) return [];
	return langs.map((lang) => [layerFile(lang, smallkey), entry && layerHtml(lang, entry, pages)]);
}

/** The files that list all layers, for a hosting of files. @param before earlier number of layers */
function listFiles(chunks: readonly (readonly Entry[])[], pages: PageSettings, before: number): File[] {
	const filled = chunks.flatMap(({ length }, number) => (length > 0 ? [number] : []));
	const entries = chunks.flat();
	const last = Math.max(listPages(entries.length), listPages(before));
	const lists = langs.flatMap((lang) => {
		const sorted = byTitle(entries, lang);
		return Array.from({ length: last }, (_, at): File => {
			return [listFile(lang, at + 1), listHtml(lang, sorted, at + 1, pages)];
		});
	});
	return [[crawlablePath, crawlableIndex(filled, pages.publicUrl)], ...lists];
}
