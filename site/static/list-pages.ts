import type { HealthReport } from "../../registry/health.ts";
import { langs, parseSmallkey } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import {
	changesFolders,
	healthFolders,
	layerFeedFile,
	layerFeedsFolder,
	publisherAddress,
	publisherFile,
	publisherFilesFolder,
	publisherFolders,
} from "./addresses.ts";
import { changesHtml } from "./changes.ts";
import { layerFeed, publisherFeed } from "./feeds.ts";
import { healthHtml } from "./health.ts";
import { publisherHtml, publishersHtml } from "./publisher.ts";
import { type Lists, type Publishers, publisherCsv, publisherJson, publishersOf } from "./publishers.ts";

/** What the pages, tables and feeds of changes, health and publishers are rendered from. */
export interface ListData extends Lists {
	publishers: Publishers;
	/** Null if there is none. */
	report: HealthReport | null;
}

/** The entries of all layers, as `ListData` has them. */
export function listedEntries(entries: readonly Entry[]): Pick<ListData, "entryOf" | "publishers"> {
	const byKey = new Map(entries.map((entry) => [entry.smallkey, entry]));
	return { entryOf: (smallkey) => byKey.get(smallkey), publishers: publishersOf(entries) };
}

const layerFeedPath = new RegExp(`^${layerFeedsFolder}/(.+)\\.xml$`);
const publisherPath = new RegExp(
	`^(?:${publisherFolders.en}|${publisherFolders.fr}|${publisherFilesFolder})/([a-z0-9-]+)\\.(?:html|csv|json|xml)$`,
);

/** Whether a path below the site is that of such a file. */
export function isListPage(file: string): boolean {
	const isIndex = [changesFolders, healthFolders, publisherFolders].some((folders) =>
		langs.some((lang) => file === `${folders[lang]}/index.html`),
	);
	return isIndex || publisherPath.test(file) || layerFeedPath.test(file);
}

/** Renders such a file; null if there is no such publisher or layer. Pure. */
export function renderListPage(file: string, data: ListData): string | null {
	const { publishers, report, settings } = data;
	for (const lang of langs) {
		if (file === `${changesFolders[lang]}/index.html`) return changesHtml(lang, data);
		if (file === `${healthFolders[lang]}/index.html`) return healthHtml(lang, report, data);
		if (file === `${publisherFolders[lang]}/index.html`) return publishersHtml(lang, publishers, settings);
	}
	const smallkey = parseSmallkey(layerFeedPath.exec(file)?.[1] ?? "");
	if (smallkey !== null) return layerFeed(smallkey, data);
	const slug = publisherPath.exec(file)?.[1] ?? "";
	const layers = publishers.get(slug);
	if (!layers) return null;
	for (const lang of langs)
		if (file === `${publisherAddress(lang, slug)}.html`) return publisherHtml(lang, slug, layers, data);
	if (file === publisherFile(slug, "csv")) return publisherCsv(layers);
	if (file === publisherFile(slug, "json")) return publisherJson(layers);
	return file === publisherFile(slug, "xml") ? publisherFeed(slug, layers, data) : null;
}

/** The paths of all such files. @param slugs of publishers @param smallkeys of layers whose feeds are wanted */
export function listPagePaths(slugs: Iterable<string>, smallkeys: Iterable<string>): string[] {
	const folders = langs.flatMap((lang) => [
		changesFolders[lang],
		healthFolders[lang],
		publisherFolders[lang],
	]);
	const ofPublisher = (slug: string) => [
		...langs.map((lang) => `${publisherAddress(lang, slug)}.html`),
		...(["csv", "json", "xml"] as const).map((ending) => publisherFile(slug, ending)),
	];
	return [
		...folders.map((folder) => `${folder}/index.html`),
		...[...slugs].flatMap(ofPublisher),
		...[...smallkeys].map(layerFeedFile),
	];
}
