import type { Extension } from "../../api/service/extensions.ts";
import { langs } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/untrusted.ts";
import { feedPath, layerFile, listFile } from "../static/addresses.ts";
import { feedText } from "../static/feed.ts";
import { layerRenderers } from "../static/layer-page.ts";
import { listPagePaths, renderListPage } from "../static/list-pages.ts";
import type { PageSettings } from "../static/page-settings.ts";
import { byTitle, listedEntries, listHtml, pagesOf } from "../static/plain-list.ts";
import {
	type Chunk,
	chunkCount,
	chunkOf,
	chunksFolder,
	type Entry,
	indexVersion,
	layerPages,
	type Manifest,
	manifestPath,
	type RecentChange,
	recentPath,
	recentText,
} from "./entries.ts";
import { hashOf } from "./output.ts";

const healthReportPath = "index/health.json";

export type OwnersOf = (smallkey: string) => readonly string[];

interface DerivedFile {
	/** All that the text depends on, beside the options. */
	from: readonly unknown[];
	text: () => string | null;
}

export interface EarlierChunk {
	path: string | null;
	entries: readonly Entry[];
}

export function areSame(before: readonly unknown[] | undefined, after: readonly unknown[]): boolean {
	return before?.length === after.length && after.every((value, at) => value === before[at]);
}

export interface CatalogueSettings {
	pages: PageSettings;
	/** A service renders layer pages, lists and records on request; else they are files. */
	isServed: boolean;
	commit: string | null;
	owners: OwnersOf;
	extensions?: readonly Extension[];
}

export interface CatalogueContent {
	entries: readonly Entry[];
	/** Newest first. */
	changes: readonly RecentChange[];
}

/** The catalogue's files that depend on layers. @param earlier chunks of the same options */
export function catalogueFiles(
	{ entries, changes }: CatalogueContent,
	settings: CatalogueSettings,
	earlier: readonly EarlierChunk[] = [],
) {
	const { pages, isServed, commit, owners } = settings;
	const { files, chunks, manifest } = indexFiles(entries, commit, earlier);
	files.set(healthReportPath, `${JSON.stringify(healthReportOf(entries, owners))}\n`);
	if (changes.length > 0) {
		const titles = new Map(entries.map(({ smallkey, title }) => [smallkey, title]));
		files.set(recentPath, recentText(changes)).set(feedPath, feedText(changes, titles, pages.publicUrl));
	}
	if (!isServed) {
		const data = { ...listedEntries(chunks.flat()), changes, settings: pages };
		for (const path of listPagePaths) {
			const text = renderListPage(path, data);
			if (text !== null) files.set(path, text);
		}
	}
	return { files, derived: derivedFiles(chunks, settings), manifest };
}

export function derivedFiles(
	chunks: readonly (readonly Entry[])[],
	{ pages, isServed, extensions = [] }: CatalogueSettings,
): Map<string, DerivedFile> {
	const { publicUrl, site } = pages;
	const files = new Map<string, DerivedFile>();
	if (isServed) return files;
	const all = chunks.flat();
	for (const { files: filesOf } of extensions)
		for (const { path, from, text } of filesOf?.(chunks, publicUrl) ?? [])
			files.set(path, { from: from ?? [text], text });
	for (const lang of langs) {
		const lists = pagesOf(byTitle(all, lang));
		for (const [index, list] of lists.entries())
			files.set(listFile(lang, index + 1), {
				from: [...list, index === 0 ? all.length : 0, lists.length],
				text: () => listHtml(lang, lists, index + 1, pages),
			});
		if (!site.hasLayerPages) continue;
		for (const entry of all)
			for (const page of layerPages)
				files.set(layerFile(lang, entry.smallkey, page), {
					from: [entry],
					text: () => layerRenderers[page](lang, entry, pages),
				});
	}
	return files;
}

/** The index without the chunks that stay, and the layers of each chunk, sorted by smallkey. */
export function indexFiles(
	entries: Iterable<Entry>,
	commit: string | null,
	earlier: readonly EarlierChunk[] = [],
) {
	const chunks: Entry[][] = Array.from({ length: chunkCount }, () => []);
	for (const entry of entries) chunks[chunkOf(entry.smallkey)]?.push(entry);
	const files = new Map<string, string>();
	const paths = chunks.map((chunk, number) => {
		if (chunk.length === 0) return null;
		chunk.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
		const last = earlier[number];
		if (last && areSame(last.entries, chunk)) return last.path;
		const text = `${JSON.stringify({ version: indexVersion, entries: chunk } satisfies Chunk)}\n`;
		const path = `${chunksFolder}/${String(number).padStart(2, "0")}-${hashOf(text)}.json`;
		files.set(path, text);
		return path;
	});
	const layers = chunks.reduce((sum, { length }) => sum + length, 0);
	const manifest: Manifest = { version: indexVersion, layers, ...(commit && { commit }), chunks: paths };
	files.set(manifestPath, `${JSON.stringify(manifest)}\n`);
	return { files, chunks, manifest };
}

/** Groups by owners, who can correct the layers, and host. */
export function healthReportOf(entries: readonly Entry[], ownersOf: OwnersOf) {
	const sick = entries.flatMap(({ smallkey, title, address, health }) => {
		if (!health) return [];
		const place = { owner: ownersOf(smallkey).join(", "), host: new URL(address.en).host };
		return [{ place, layer: { smallkey, title, ...health } }];
	});
	const orderOf = ({ place, layer }: (typeof sick)[number]) =>
		`${place.owner} ${place.host} ${layer.smallkey}`;
	sick.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
	const sorted = [...groupBy(sick, ({ place }) => `${place.owner} ${place.host}`).values()].map((group) => {
		const [{ place }] = group as [(typeof sick)[number]];
		return { ...place, layers: group.map(({ layer }) => layer) };
	});
	const unchecked = entries.filter(({ health }) => health === null).length;
	const checked = entries.length - unchecked;
	return { version: 3, sick: sick.length, checked, unchecked, groups: sorted };
}
