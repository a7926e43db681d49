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
	const before = index.find(layers.keys());
	const layersBefore = index.manifest.layers;
	const { files, chunks, layers: count } = index.change(layers, settings.commit);
	// Every page says which others there are.
	const { isServed } = settings;
	if (read && hasLayerPages(count, isServed) !== hasLayerPages(layersBefore, isServed))
		throw new IndexBroken("the pages of layers come or go");
	const report = updateHealth(read && (read(healthReportPath) ?? ""), before, layers, settings.owners);
	if (report === null) throw new IndexBroken(`${healthReportPath}: not whole or of another version`);
	files.set(healthReportPath, report);
	const commits = updateChanges(read, history.map(listedCommit), settings.publicUrl);
	if (!commits) throw new IndexBroken("changes/: not whole or of another version");
	const all = [
		commits,
		...chunks.map((number) => chunkFiles(number, index.chunk(number), settings)),
		...[...layers].map(([smallkey, entry]) => layerFiles(smallkey, entry, settings)),
		...(isServed || !settings.pages ? [] : [fileLists(index.chunks(), settings, layersBefore)]),
	];
	for (const [path, text] of all.flatMap((some) => [...some])) {
		if (read || text !== null) files.set(path, text);
	}
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
	before: number,
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
