import type { Lang } from "../registry/smallkey.ts";

/** Folder of the pages of waiting repairs, by language. Only a service has them. */
export const repairFolders: Readonly<Record<Lang, string>> = { en: "en/repair", fr: "fr/repair" };

/** Address of the page of a layer's waiting repair below the site's root; without a smallkey, of the page of all. */
export function repairAddress(lang: Lang, smallkey = ""): string {
	return `${repairFolders[lang]}/${encodeURIComponent(smallkey)}`;
}

/** The name of a page of repairs, as for a file: `en/repair/23ax5t.html`; `en/repair/.html` for all. */
export function repairFile(lang: Lang, smallkey: string): string {
	return `${repairFolders[lang]}/${smallkey}.html`;
}

/**
 * Where a waiting repair of a layer is shown: its page below the site's root, or the pull requests of the repository; empty if
 * neither is known.
 */
export function repairPlace(
	lang: Lang,
	smallkey: string,
	{ canSend, repository }: { canSend: boolean; repository: string },
): string {
	if (canSend) return repairAddress(lang, smallkey);
	return repository && `${repository}/pulls?q=${encodeURIComponent("is:pr is:open head:repair/")}`;
}
