import type { LayerPage } from "../../registry/entries.ts";
import type { Lang } from "../../registry/smallkey.ts";

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
