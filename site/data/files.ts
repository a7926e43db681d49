import { createHash } from "node:crypto";
import type { Extension } from "../../api/service/extensions.ts";
import {
	healthReportPath,
	healthReportText,
	parseHealthReport,
	type SickLayer,
} from "../../registry/health.ts";
import { langs } from "../../registry/smallkey.ts";
import { feedPath, layerFile, listFile } from "../static/addresses.ts";
import { feedText, feedTitle } from "../static/feed.ts";
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
import {
	type Chunk,
	chunkCount,
	chunkOf,
	chunkPath,
	type Entry,
	indexVersion,
	type Manifest,
	manifestPath,
} from "./entries.ts";
import { type RecentChange, recentPath, recentText } from "./recent.ts";

/** A file that is rendered only if what it is made from has changed. */
export interface DerivedFile {
	/** A hash of all that the text depends on beside the options. */
	key: string;
	text: () => string | null;
}

export type Files = Map<string, string | DerivedFile>;

/** Most layers for which a build writes their pages. */
export const maxLayerPages = 2_000;

export type OwnersOf = (smallkey: string) => readonly string[];

export interface CatalogueSettings {
	pages: PageSettings;
	/**
	 * Whether a service renders the layer pages, the plain list and the records on request. If not, they are
	 * files.
	 */
	isServed: boolean;
	commit: string | null;
	owners: OwnersOf;
	extensions?: readonly Extension[];
}

export function hasLayerPages(layers: number, isServed: boolean): boolean {
	return isServed || layers <= maxLayerPages;
}

export interface CatalogueContent {
	entries: readonly Entry[];
	/** The last changes, newest first; empty if no history is known. */
	changes: readonly RecentChange[];
}

/** The catalogue's files that depend on layers. */
export function catalogueFiles(
	{ entries, changes }: CatalogueContent,
	{ pages, isServed, commit, owners, extensions = [] }: CatalogueSettings,
) {
	const index = indexFiles(entries, commit);
	const { chunks, keyOf } = index;
	const files: Files = new Map(index.files);
	const report = healthReportOf(entries, owners);
	files.set(healthReportPath, report);
	const { publicUrl, site } = pages;
	for (const [path, text] of changesFiles(changes, publicUrl, entries)) files.set(path, text);
	for (const [number, some] of chunks.entries()) {
		if (site.hasLayerPages && publicUrl && some.length > 0)
			files.set(sitemapFile(number), { key: keyOf(some), text: () => sitemapXml(some, publicUrl) });
	}
	if (!isServed) addPages();
	return { files, manifest: index.manifest };

	function addPages(): void {
		const all = chunks.flat();
		const data: ListData = {
			...listedEntries(all),
			...{ changes, report: parseHealthReport(report), lastLook: null, settings: pages },
		};
		for (const path of listPagePaths(data.publishers.keys())) {
			const text = renderListPage(path, data);
			if (text !== null) files.set(path, text);
		}
		for (const { files: filesOf } of extensions)
			for (const { path, from, text } of filesOf?.(chunks, publicUrl) ?? [])
				files.set(path, from ? { key: keyOf(from as readonly Entry[]), text } : text());
		for (const lang of langs) {
			const list = pagesOf(byTitle(all, lang));
			for (const [at, some] of list.entries()) {
				const text = () => listHtml(lang, list, at + 1, pages);
				files.set(listFile(lang, at + 1), { key: keyOf(some, at === 0 ? all.length : 0, list.length), text });
			}
			if (!site.hasLayerPages) continue;
			for (const entry of all)
				for (const [page, render] of layerRenderers)
					files.set(layerFile(lang, entry.smallkey, page), {
						key: keyOf([entry]),
						text: () => render(lang, entry, pages),
					});
		}
	}
}

/**
 * The index of all layers.
 * @returns its files, the layers of each chunk in the order of their smallkeys, the manifest, and a function
 * that hashes entries and numbers
 */
export function indexFiles(entries: Iterable<Entry>, commit: string | null) {
	const chunks: Entry[][] = Array.from({ length: chunkCount }, () => []);
	const texts = new Map<Entry, string>();
	for (const entry of entries) {
		chunks[chunkOf(entry.smallkey)]?.push(entry);
		texts.set(entry, JSON.stringify(entry));
	}
	const files = new Map<string, string>();
	const paths = chunks.map((some, number) => {
		if (some.length === 0) return null;
		some.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
		const { version } = { version: indexVersion } satisfies Partial<Chunk>;
		const text = `{"version":${version},"entries":[${some.map((entry) => texts.get(entry)).join()}]}\n`;
		const path = chunkPath(number, hashOf(text));
		files.set(path, text);
		return path;
	});
	const layers = chunks.reduce((sum, { length }) => sum + length, 0);
	const manifest: Manifest = { version: indexVersion, layers, ...(commit && { commit }), chunks: paths };
	files.set(manifestPath, `${JSON.stringify(manifest)}\n`);
	const keyOf = (some: readonly Entry[], ...numbers: number[]) =>
		hashOf(numbers.join() + some.map((entry) => texts.get(entry)).join());
	return { files, chunks, manifest, keyOf };
}

export function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The last changes as JSON and as a feed; no file without changes. */
export function changesFiles(
	changes: readonly RecentChange[],
	publicUrl: string,
	entries: Iterable<Pick<Entry, "smallkey" | "title">>,
): Map<string, string> {
	const files = new Map<string, string>();
	const [newest] = changes;
	if (!newest) return files;
	const titles = new Map(Array.from(entries, ({ smallkey, title }) => [smallkey, title]));
	const titleIn = (smallkey: string, was?: Entry["title"]) =>
		feedTitle(smallkey, titles.get(smallkey) ?? was);
	return files
		.set(recentPath, recentText(changes))
		.set(feedPath, feedText(changes, titleIn, publicUrl, newest.date));
}

const maxTitleLength = 200;

export function healthReportOf(entries: readonly Entry[], ownersOf: OwnersOf): string {
	const groups = new Map<string, { owner: string; host: string; layers: SickLayer[] }>();
	const sick = entries.flatMap(({ health, ...entry }) => (health ? [{ ...entry, health }] : []));
	sick.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	for (const { smallkey, title, health, address } of sick) {
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
