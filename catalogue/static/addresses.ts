import type { Lang } from "../../registry/smallkey.ts";

/** The feed of changes. */
export const feedPath = "changes/feed.xml";

/** Folder of the pages of layers, by language. */
export const layerFolders: Readonly<Record<Lang, string>> = { en: "en/layer", fr: "fr/couche" };

/** Folder of the plain list, by language. */
export const listFolders: Readonly<Record<Lang, string>> = { en: "list", fr: "list/fr" };

/** Address of the page of a layer, below the site's root: `en/layer/23ax5t`. Its file has the ending `.html`. */
export function layerAddress(lang: Lang, smallkey: string): string {
	return `${layerFolders[lang]}/${encodeURIComponent(smallkey)}`;
}

/** The file of the page of a layer. */
export function layerFile(lang: Lang, smallkey: string): string {
	return `${layerFolders[lang]}/${smallkey}.html`;
}

/** The file of a page of the plain list. @param page from 1 on */
export function listFile(lang: Lang, page: number): string {
	return `${listFolders[lang]}/${page === 1 ? "index" : page}.html`;
}

/** The search's description for browsers (OpenSearch 1.1); there is one where the site's address is known. */
export function openSearchFile(lang: Lang): string {
	return `opensearch-${lang}.xml`;
}
