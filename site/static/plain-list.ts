import { type Lang, otherLang } from "../../registry/smallkey.ts";
import { chunkOf, type Entry, layerAddress, type RecentChange } from "../data/entries.ts";
import { addressOf, titleOf } from "../search/select.ts";
import { sortKey } from "../search/words.ts";
import { textsIn } from "../text/static.ts";
import { listFile, listFolders } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html } from "./html.ts";
import type { PageSettings } from "./page-settings.ts";

export function byTitle(entries: readonly Entry[], lang: Lang): Entry[] {
	const orderOf = (entry: Entry) => `${sortKey(titleOf(entry, lang))}\0${entry.smallkey}`;
	const list = entries.map((entry) => [orderOf(entry), entry] as const);
	return list.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** The average is some 160. */
const layersPerPage = { least: 100, most: 400 };

/** At least one page. Certain smallkeys end a page, so that an added or removed layer changes one or two. */
export function pagesOf(list: readonly Entry[]): Entry[][] {
	const pages: Entry[][] = [];
	let page: Entry[] = [];
	for (const entry of list) {
		if (page.length === 0) pages.push(page);
		const length = page.push(entry);
		const isFull = length >= layersPerPage.least && chunkOf(entry.smallkey) === 0;
		if (isFull || length === layersPerPage.most) page = [];
	}
	return pages.length > 0 ? pages : [page];
}

/** Null if there is no such page. @param page from 1 */
export function listHtml(
	lang: Lang,
	pages: readonly (readonly Entry[])[],
	page: number,
	settings: PageSettings,
): string | null {
	const shown = pages[page - 1];
	if (!shown) return null;
	const { t, plural } = textsIn[lang];
	const root = "../".repeat(listFolders[lang].split("/").length);
	const other = otherLang[lang];
	const others = pages.map((_, index) => {
		const isHere = index + 1 === page && html` aria-current="page"`;
		return html`<a href="${root}${listFile(lang, index + 1)}"${isHere}>${index + 1}</a> `;
	});
	const rows = shown.map((entry) => rowHtml(entry, lang, root, settings));
	const all = plural(pages.flat().length, "layer-count");
	// Only the first page has the number: one more layer would change all pages.
	const content = html`<h1>${t("all-layers")}</h1>
${page === 1 && html`<p>${shown.length === 0 ? t("no-layers-yet") : t("by-title", all)}</p>`}
${shown.length > 0 && html`<ul class="plain">\n${rows}</ul>`}
${
	pages.length > 1 && html`<nav aria-label="${t("pages")}"><p>${t("pages")}${t("colon")} ${others}</p></nav>`
}`;
	return frameHtml(settings, {
		lang,
		root,
		title: page === 1 ? t("all-layers") : `${t("all-layers")} (${page})`,
		// The other language has other pages.
		other: root + listFile(other, 1),
		content,
	});
}

function rowHtml(entry: Entry, lang: Lang, root: string, { site }: PageSettings): Html {
	const title = titleOf(entry, lang);
	const page = root + layerAddress(lang, entry.smallkey);
	const name = site.hasLayerPages ? html`<a href="${page}">${title}</a>` : title;
	// A layer's page shows the address itself.
	const address = !site.hasLayerPages && html` <span class="address">${addressOf(entry, lang)}</span>`;
	return html`<li>${name} <code>${entry.smallkey}</code>${address}</li>\n`;
}

export type Listed = ReturnType<typeof listedEntries>;

export interface ListData extends Listed {
	changes: readonly RecentChange[];
	settings: PageSettings;
}

export function listedEntries(entries: readonly Entry[]) {
	const bySmallkey = new Map(entries.map((entry) => [entry.smallkey, entry]));
	const pages: Partial<Record<Lang, Entry[][]>> = {};
	return {
		entries,
		entryOf: (smallkey: string) => bySmallkey.get(smallkey),
		pagesIn: (lang: Lang) => {
			pages[lang] ??= pagesOf(byTitle(entries, lang));
			return pages[lang];
		},
	};
}
