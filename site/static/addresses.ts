import type { Lang } from "../../registry/smallkey.ts";

/** The feed of changes. */
export const feedPath = "changes/feed.xml";

/** Folder of the layer pages, by language. */
export const layerFolders: Readonly<Record<Lang, string>> = { en: "en/layer", fr: "fr/couche" };

/** Folder of the plain list, by language. */
export const listFolders: Readonly<Record<Lang, string>> = { en: "list", fr: "list/fr" };

/** Address of a layer page below the site's root, without the extension of its file: `en/layer/23ax5t`. */
export function layerAddress(lang: Lang, smallkey: string): string {
	return `${layerFolders[lang]}/${encodeURIComponent(smallkey)}`;
}

/** The file of a layer page: `en/layer/23ax5t.html`. */
export function layerFile(lang: Lang, smallkey: string): string {
	return `${layerFolders[lang]}/${smallkey}.html`;
}

/** The file of a page of the plain list. @param page counted from 1 */
export function listFile(lang: Lang, page: number): string {
	return `${listFolders[lang]}/${page === 1 ? "index" : page}.html`;
}

/** The OpenSearch 1.1 description of the search, for browsers; it exists only if the site's address is known. */
export function openSearchFile(lang: Lang): string {
	return `opensearch-${lang}.xml`;
}
