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

/** Layers up to which each has pages as files. */
export const maxLayerPages = 2_000;

export interface CatalogueSettings {
	pages: PageSettings;
	/**
	 * Whether a service renders the pages of layers, the plain list and records when they are asked for. Without it they
	 * are files, the pages of layers up to `maxLayerPages`.
	 */
	isServed: boolean;
	/** The commit that the layers are of; null where it is not known. */
	commit: string | null;
	owners: OwnersOf;
}

/** Whether each layer has a page without a script. */
export function hasLayerPages(layers: number, isServed: boolean): boolean {
	return isServed || layers <= maxLayerPages;
}

/** What a range of commits changes in the catalogue. */
export interface CatalogueChanges {
	/** Smallkey → the layer, or null where it is gone; those whose health changed are among them. */
	layers: ReadonlyMap<string, Entry | null>;
	/** The commits that touched layers, oldest first; empty where no history is known. */
	history: readonly CommitChanges[];
}

/**
 * The files of the catalogue that differ after some changes; null for one that is removed. The chunks before stay.
 * @param read reads the files as they are; null: there are none, and the changes are all layers
 * @param index theirs, in which the changed layers were looked up
 * @throws {IndexBroken} where the files are not whole or of another version: everything has to be built
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
	// Every page says which others there are.
	if (read && hasLayerPages(count, isServed) !== hasLayerPages(layersBefore, isServed))
		throw new IndexBroken("the pages of layers come or go");
	files.set(healthReportPath, updateHealth(read && (read(healthReportPath) ?? ""), before, layers, owners));
	const all = [
		...updateChanges(read, history.map(listedCommit), pages.publicUrl),
		...chunks.flatMap((number) => chunkFiles(number, index.chunk(number), settings)),
		...[...layers].flatMap(([smallkey, entry]) => layerFiles(smallkey, entry, settings)),
		...(isServed ? [] : fileLists(index.chunks(), pages, layersBefore)),
	];
	for (const [path, text] of all) if (read || text !== null) files.set(path, text);
	return files;
}

/** What is published of a commit: its author may have no public name. */
function listedCommit({ commit, date, layers, repairs }: CommitChanges): CommitChanges {
	return { commit, date, layers, ...(repairs && { repairs }) };
}

type File = [path: string, text: string | null];

/** The files beside a chunk: its part of the sitemap, and its records for crawlers. */
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

/** What lists all layers, for a hosting of files. @param before number of layers that there were */
function fileLists(chunks: readonly (readonly Entry[])[], pages: PageSettings, before: number): File[] {
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
