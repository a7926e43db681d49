import type { Extension } from "../../api/service/extensions.ts";
import {
	healthReportPath,
	healthReportText,
	parseHealthReport,
	type SickLayer,
} from "../../registry/health.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { slugOf } from "../search/entry.ts";
import { layerFile, listFile } from "../static/addresses.ts";
import type { PageSettings } from "../static/html.ts";
import { layerRenderers } from "../static/layer.ts";
import { byTitle, listHtml, pagesOf, withAdded } from "../static/list.ts";
import { type ListData, listedEntries, listPagePaths, renderListPage } from "../static/list-pages.ts";
import { slugOfChange } from "../static/publishers.ts";
import { sitemapFile, sitemapXml } from "../static/search-engines.ts";
import { type CommitChanges, type Titles, updateChanges } from "./changes.ts";
import { type Files, Index, IndexBroken, type ReadFile } from "./chunks.ts";
import type { Entry } from "./entries.ts";
import { parseRecent, recentPath } from "./recent.ts";

/** Most layers for which a build writes one page per layer and language. */
export const maxLayerPages = 2_000;

/** The owners of a layer, who can correct it, by its smallkey. */
export type OwnersOf = (smallkey: string) => readonly string[];

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
	/** The extensions whose files are written, too. */
	extensions?: readonly Extension[];
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
	{ pages, isServed, commit, owners, extensions = [] }: CatalogueSettings,
	index = new Index(read),
): Files {
	const before = index.find(layers.keys());
	const allBefore = read && !isServed ? index.chunks().flat() : [];
	const { files, chunks: changedChunks } = index.change(layers, commit);
	// Lists, sitemap and page settings depend on whether layers have pages: all of them have to be written again.
	if (read && hasLayerPages(index.manifest.layers, isServed) !== pages.site.hasLayerPages)
		throw new IndexBroken("the pages of layers are switched on or off");
	files.set(healthReportPath, updateHealth(read && (read(healthReportPath) ?? ""), before, layers, owners));
	const set = (path: string, text: string | null) => {
		if (read || text !== null) files.set(path, text);
	};
	const titles: Titles = {
		of: (smallkey) => (layers.has(smallkey) ? layers.get(smallkey) : index.find([smallkey])[0])?.title,
		mayDiffer: (smallkey) => layers.has(smallkey),
	};
	for (const [path, text] of updateChanges(read, history, pages.publicUrl, titles)) files.set(path, text);
	for (const number of changedChunks) {
		const entries = index.chunk(number);
		if (pages.site.hasLayerPages && pages.publicUrl)
			set(sitemapFile(number), sitemapXml(entries, pages.publicUrl));
	}
	if (isServed) return files;
	const chunks = index.chunks();
	const now = [...layers.values()].filter((entry) => entry !== null);
	const touched = [...before, ...now];
	for (const [path, text] of listPagesOf(read, files, chunks.flat(), touched, pages)) set(path, text);
	for (const { files: filesOf } of extensions)
		for (const [path, text] of filesOf?.(chunks, new Set(changedChunks), pages.publicUrl) ?? [])
			set(path, text);
	for (const lang of langs) {
		for (const [page, text] of listFiles(lang, allBefore, layers, pages)) set(listFile(lang, page), text);
		if (!pages.site.hasLayerPages) continue;
		for (const [smallkey, entry] of layers)
			for (const [page, render] of layerRenderers)
				set(layerFile(lang, smallkey, page), entry && render(lang, entry, pages));
	}
	return files;
}

/**
 * Renders the pages of the plain list that differ after some changes, by their numbers; null for a page that is removed.
 * @param allBefore all layers before the changes
 */
function listFiles(
	lang: Lang,
	allBefore: readonly Entry[],
	changes: CatalogueChanges["layers"],
	settings: PageSettings,
): Map<number, string | null> {
	const sorted = byTitle(allBefore, lang);
	const kept = sorted.filter(({ entry }) => !changes.has(entry.smallkey));
	const changed = [...changes.values()].filter((entry) => entry !== null);
	const [before, after] = [pagesOf(sorted), pagesOf(withAdded(kept, byTitle(changed, lang)))];
	const isSame = (page: number) => {
		const [one = [], other = []] = [before[page - 1], after[page - 1]];
		return one.length === other.length && one.every((entry, at) => entry === other[at]);
	};
	// Each page links to all pages, and the first one has the number of layers.
	const isAll = allBefore.length === 0 || before.length !== after.length;
	const isCountSame = sorted.length === kept.length + changed.length;
	const files = new Map<number, string | null>();
	for (let page = 1; page <= Math.max(before.length, after.length); page += 1) {
		if (isAll || !isSame(page) || (page === 1 && !isCountSame))
			files.set(page, listHtml(lang, after, page, settings));
	}
	return files;
}

/**
 * Renders the pages, tables and feeds of changes, health and publishers that may differ; null for one that is removed.
 * @param files the changed files of the index
 * @param entries all layers
 * @param touched changed layers as they were, and as they are
 */
function listPagesOf(
	read: ReadFile | null,
	files: Files,
	entries: readonly Entry[],
	touched: readonly Entry[],
	settings: PageSettings,
): Files {
	const before = parseRecent(read?.(recentPath) ?? null) ?? [];
	const changes = parseRecent(files.get(recentPath) ?? null) ?? before;
	const report = parseHealthReport(files.get(healthReportPath) ?? "");
	const data: ListData = { ...listedEntries(entries), changes, report, lastLook: null, settings };
	// A publisher's files have its layers and its last changes: new ones are of touched layers, others become too old.
	const tooOld = before.flatMap((change) => slugOfChange(change, { ...data, changes: before }) ?? []);
	const slugs = read
		? [...touched.flatMap((entry) => slugOf(entry) ?? []), ...tooOld]
		: data.publishers.keys();
	const named = [...before, ...changes].flatMap(({ what }) => ("many" in what ? [] : what.smallkey));
	const feeds = settings.site.hasLayerPages ? [...touched.map(({ smallkey }) => smallkey), ...named] : [];
	const paths = new Set(listPagePaths(slugs, feeds));
	return new Map([...paths].map((path) => [path, renderListPage(path, data)]));
}

/** Longest title in the report of health, in characters. */
const maxTitleLength = 200;

/**
 * Renders the report of health after some layers have changed.
 * @param text the earlier report; null if there were no layers
 * @param before the changed layers as they were
 * @param after the same layers as they are now, by smallkey; null for a removed layer
 * @throws {IndexBroken} if the earlier report is incomplete
 */
export function updateHealth(
	text: string | null,
	before: readonly Entry[],
	after: ReadonlyMap<string, Entry | null>,
	ownersOf: OwnersOf,
): string {
	const report = text === null ? { checked: 0, unchecked: 0, groups: [] } : parseHealthReport(text);
	if (!report) throw new IndexBroken(`${healthReportPath}: not whole or of another version`);
	const now = [...after.values()].filter((entry) => entry !== null);
	const sick = report.groups.flatMap(({ host, layers }) => layers.map((layer) => ({ host, layer })));
	const all = sick.filter(({ layer }) => !after.has(layer.smallkey));
	for (const { smallkey, title, health, address } of now) {
		const cut = { en: title.en.slice(0, maxTitleLength), fr: title.fr.slice(0, maxTitleLength) };
		const { host } = new URL(address.en);
		if (health) all.push({ host, layer: { smallkey, title: cut, ...health } });
	}
	const groups = new Map<string, { owner: string; host: string; layers: SickLayer[] }>();
	for (const { host, layer } of all.sort((a, b) => (a.layer.smallkey < b.layer.smallkey ? -1 : 1))) {
		const owner = ownersOf(layer.smallkey).join(", ");
		const name = JSON.stringify([owner, host]);
		const group = groups.get(name) ?? { owner, host, layers: [] };
		groups.set(name, group);
		group.layers.push(layer);
	}
	const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
	const countUnchecked = (entries: readonly Entry[]) =>
		entries.filter(({ health }) => health === null).length;
	const unchecked = report.unchecked - countUnchecked(before) + countUnchecked(now);
	const count = report.checked + report.unchecked - before.length + now.length;
	return healthReportText(count - unchecked, unchecked, sorted);
}
