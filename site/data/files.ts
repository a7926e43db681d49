import type { Extension } from "../../api/service/extensions.ts";
import {
	healthReportPath,
	healthReportText,
	parseHealthReport,
	type SickLayer,
} from "../../registry/health.ts";
import { langs } from "../../registry/smallkey.ts";
import { layerFile, listFile } from "../static/addresses.ts";
import type { PageSettings } from "../static/html.ts";
import { layerRenderers } from "../static/layer-page.ts";
import {
	type ListData,
	listedEntries,
	listPagePaths,
	renderListPage,
	sitemapFile,
	sitemapXml,
} from "../static/list-pages.ts";
import { byTitle, listHtml, pagesOf } from "../static/publishers.ts";
import { type CommitChanges, changesFiles, type Files, indexFiles } from "./change-list.ts";
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

/** What a catalogue shows. */
export interface CatalogueContent {
	entries: readonly Entry[];
	/** The commits that touched layers, oldest first; empty if no history is known. */
	history: readonly CommitChanges[];
}

/** Renders the catalogue's files that depend on layers. @returns the files, and the index's manifest */
export function catalogueFiles(
	{ entries, history }: CatalogueContent,
	{ pages, isServed, commit, owners, extensions = [] }: CatalogueSettings,
) {
	const { files: indexed, chunks, manifest } = indexFiles(entries, commit);
	const files: Files = new Map(indexed);
	const report = healthReportOf(entries, owners);
	files.set(healthReportPath, report);
	const titles = new Map(entries.map(({ smallkey, title }) => [smallkey, title]));
	for (const [path, text] of changesFiles(history, pages.publicUrl, (key) => titles.get(key)))
		files.set(path, text);
	const { publicUrl, site } = pages;
	for (const [number, some] of chunks.entries()) {
		const text = site.hasLayerPages && publicUrl ? sitemapXml(some, publicUrl) : null;
		if (text !== null) files.set(sitemapFile(number), text);
	}
	if (!isServed) addPages(files, chunks, report, pages, extensions);
	return { files, manifest };
}

/** Adds the pages, tables and feeds that a service renders on request. */
function addPages(
	files: Files,
	chunks: readonly (readonly Entry[])[],
	report: string,
	pages: PageSettings,
	extensions: readonly Extension[],
): void {
	const entries = chunks.flat();
	const set = (path: string, text: string | null) => {
		if (text !== null) files.set(path, text);
	};
	const changes = parseRecent(files.get(recentPath) ?? null) ?? [];
	const data: ListData = {
		...listedEntries(entries),
		...{ changes, report: parseHealthReport(report), lastLook: null, settings: pages },
	};
	const { hasLayerPages } = pages.site;
	for (const path of listPagePaths(data.publishers.keys())) set(path, renderListPage(path, data));
	for (const { files: filesOf } of extensions)
		for (const [path, text] of filesOf?.(chunks, pages.publicUrl) ?? []) set(path, text);
	for (const lang of langs) {
		const list = pagesOf(byTitle(entries, lang));
		for (let page = 1; page <= list.length; page += 1)
			set(listFile(lang, page), listHtml(lang, list, page, pages));
		if (!hasLayerPages) continue;
		for (const entry of entries)
			for (const [page, render] of layerRenderers)
				set(layerFile(lang, entry.smallkey, page), render(lang, entry, pages));
	}
}

/** Longest title in the report of health, in characters. */
const maxTitleLength = 200;

/** Renders the report of health. */
export function healthReportOf(entries: readonly Entry[], ownersOf: OwnersOf): string {
	const groups = new Map<string, { owner: string; host: string; layers: SickLayer[] }>();
	for (const { smallkey, title, health, address } of [...entries].sort((a, b) =>
		a.smallkey < b.smallkey ? -1 : 1,
	)) {
		if (!health) continue;
		const cut = { en: title.en.slice(0, maxTitleLength), fr: title.fr.slice(0, maxTitleLength) };
		const { host } = new URL(address.en);
		const owner = ownersOf(smallkey).join(", ");
		const name = JSON.stringify([owner, host]);
		const group = groups.get(name) ?? { owner, host, layers: [] };
		groups.set(name, group);
		group.layers.push({ smallkey, title: cut, ...health });
	}
	const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
	const unchecked = entries.filter(({ health }) => health === null).length;
	return healthReportText(entries.length - unchecked, unchecked, sorted);
}
