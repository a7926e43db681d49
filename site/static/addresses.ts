import { type Lang, langs } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import type { LayerPage } from "../data/entries.ts";

/** Empty on one machine, or if the repository is unknown. */
export function repairPulls({ canSend, repository }: { canSend: boolean; repository: string }): string {
	if (canSend || repository === "") return "";
	return `${repository}/pulls?q=${encodeURIComponent("is:pr is:open head:repair/")}`;
}

export const feedPath = "changes/feed.xml";

export const listFolders: Readonly<Record<Lang, string>> = { en: "list", fr: "list/fr" };

/** Folders with an index page. */
export const pageFolders: readonly string[] = [
	...langs.flatMap((lang) => [lang, listFolders[lang], `${lang}/changes`]),
	...["guide", "guide/fr"],
];

/** As `targetPath`, whose table would add all renderers to what a page loads. */
export function fragmentPath(target: TargetName, lang: Lang, smallkey: string): string {
	const folder = /^v\d/.test(target) ? `${target}/doc` : target;
	return `${folder}/${lang}/${encodeURIComponent(smallkey)}`;
}

export function layerFile(lang: Lang, smallkey: string, page: LayerPage): string {
	return `${lang}/${page}/${smallkey}.html`;
}

export function listFile(lang: Lang, page: number): string {
	return `${listFolders[lang]}/${page === 1 ? "index" : page}.html`;
}
