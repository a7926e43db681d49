import type { Lang } from "../../registry/smallkey.ts";
import type { LayerPage } from "../data/entries.ts";

export { repairAddress, repairFile, repairFolders, repairPlace } from "../repairs.ts";

/** The feed of changes. */
export const feedPath = "changes/feed.xml";

/** Folder of the plain list, by language. */
export const listFolders: Readonly<Record<Lang, string>> = { en: "list", fr: "list/fr" };

/** The file of a layer's page: `en/layer/23ax5t.html`. */
export function layerFile(lang: Lang, smallkey: string, page: LayerPage = "layer"): string {
	return `${lang}/${page}/${smallkey}.html`;
}

/** The file of a page of the plain list. @param page counted from 1 */
export function listFile(lang: Lang, page: number): string {
	return `${listFolders[lang]}/${page === 1 ? "index" : page}.html`;
}

/** The OpenSearch 1.1 description of the search, for browsers; it exists only if the site's address is known. */
export function openSearchFile(lang: Lang): string {
	return `opensearch-${lang}.xml`;
}

/** Folders of the pages of changes, of health and of publishers, by language. */
export const changesFolders: Readonly<Record<Lang, string>> = { en: "en/changes", fr: "fr/changes" };
export const healthFolders: Readonly<Record<Lang, string>> = { en: "en/health", fr: "fr/health" };
export const publisherFolders: Readonly<Record<Lang, string>> = { en: "en/publisher", fr: "fr/publisher" };

/** Address of a publisher's page below the site's root: `en/publisher/office-of-maps`. @param slug of `slugOf` */
export function publisherAddress(lang: Lang, slug: string): string {
	return `${publisherFolders[lang]}/${slug}`;
}

/** Folder of the publishers' tables. */
export const publisherFilesFolder = "publisher";

/** A publisher's layers as a table. */
export function publisherTable(slug: string): string {
	return `${publisherFilesFolder}/${slug}.csv`;
}
