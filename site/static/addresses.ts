import type { Lang } from "../../registry/smallkey.ts";
import type { LayerPage } from "../data/entries.ts";

export const repairFolders: Readonly<Record<Lang, string>> = { en: "en/repair", fr: "fr/repair" };

export function repairAddress(lang: Lang, smallkey = ""): string {
	return `${repairFolders[lang]}/${encodeURIComponent(smallkey)}`;
}

export function repairFile(lang: Lang, smallkey: string): string {
	return `${repairFolders[lang]}/${smallkey}.html`;
}

/** Its page below the site's root, or the pull requests of the repository; empty if neither is known. */
export function repairPlace(
	lang: Lang,
	smallkey: string,
	{ canSend, repository }: { canSend: boolean; repository: string },
): string {
	if (canSend) return repairAddress(lang, smallkey);
	return repository && `${repository}/pulls?q=${encodeURIComponent("is:pr is:open head:repair/")}`;
}

export const feedPath = "changes/feed.xml";

export const listFolders: Readonly<Record<Lang, string>> = { en: "list", fr: "list/fr" };

export function layerFile(lang: Lang, smallkey: string, page: LayerPage): string {
	return `${lang}/${page}/${smallkey}.html`;
}

/** @param page counted from 1 */
export function listFile(lang: Lang, page: number): string {
	return `${listFolders[lang]}/${page === 1 ? "index" : page}.html`;
}

/** The OpenSearch 1.1 description, for browsers; it exists only if the site's address is known. */
export function openSearchFile(lang: Lang): string {
	return `opensearch-${lang}.xml`;
}

export const changesFolders: Readonly<Record<Lang, string>> = { en: "en/changes", fr: "fr/changes" };
export const healthFolders: Readonly<Record<Lang, string>> = { en: "en/health", fr: "fr/health" };
export const publisherFolders: Readonly<Record<Lang, string>> = { en: "en/publisher", fr: "fr/publisher" };

export function publisherAddress(lang: Lang, slug: string): string {
	return `${publisherFolders[lang]}/${slug}`;
}

export const publisherFilesFolder = "publisher";

export function publisherTable(slug: string): string {
	return `${publisherFilesFolder}/${slug}.csv`;
}
