import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/values.ts";
import { chunkCount, chunkOf, type Entry, layerAddress, type RecentChange } from "../data/entries.ts";
import { addressOf, slugOf, titleOf } from "../search/select.ts";
import { sortKey } from "../search/words.ts";
import { textsIn } from "../text/static.ts";
import { listFile, listFolders } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type PageSettings } from "./html.ts";

/** Equal titles by smallkey. */
export function byTitle(entries: readonly Entry[], lang: Lang): Entry[] {
	const orderOf = (entry: Entry) => `${sortKey(titleOf(entry, lang))}\0${entry.smallkey}`;
	const list = entries.map((entry) => [orderOf(entry), entry] as const);
	return list.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** Except the last page of the plain list; the average is some 160. */
const layersPerPage = { least: 100, most: 400 };

/**
 * At least one page. Certain smallkeys end a page, so that a layer that is added or removed changes a page or
 * two, not all pages after it.
 */
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

/** For readers without a script. Pure. @param pages from `pagesOf` @param page counted from 1 */
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
	/** Newest first. */
	changes: readonly RecentChange[];
	settings: PageSettings;
}

export function listedEntries(entries: readonly Entry[]) {
	const bySmallkey = new Map(entries.map((entry) => [entry.smallkey, entry]));
	const pages: Partial<Record<Lang, Entry[][]>> = {};
	/** By slug; without the layers that have no public name. */
	const publishers = groupBy(entries, (entry) => slugOf(entry) ?? "");
	publishers.delete("");
	return {
		entries,
		entryOf: (smallkey: string) => bySmallkey.get(smallkey),
		publishers,
		/** Of the plain list. */
		pagesIn: (lang: Lang) => {
			pages[lang] ??= pagesOf(byTitle(entries, lang));
			return pages[lang];
		},
	};
}

export function sitemapFile(chunk: number): string {
	return `sitemap/${String(chunk).padStart(2, "0")}.xml`;
}

export function sitemapXml(entries: readonly Entry[], publicUrl: string): string {
	const urls = entries.flatMap(({ smallkey, changed }) => {
		const at = (lang: Lang) => publicUrl + layerAddress(lang, smallkey);
		const link = (lang: Lang) => html`<xhtml:link rel="alternate" hreflang="${lang}" href="${at(lang)}"/>`;
		const date = changed && html`<lastmod>${changed.date}</lastmod>`;
		return langs.map((lang) => html`<url><loc>${at(lang)}</loc>${date}${langs.map(link)}</url>\n`);
	});
	return html`<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
${urls}</urlset>
`.text;
}

export function searchEngineFiles({ publicUrl, site }: Pick<PageSettings, "publicUrl" | "site">) {
	const hasSitemap = publicUrl !== "" && site.hasLayerPages;
	const sitemap = hasSitemap ? `Sitemap: ${publicUrl}sitemap.xml\n` : "";
	const files = new Map([["robots.txt", `User-agent: *\nDisallow:\n${sitemap}`]]);
	if (!hasSitemap) return files;
	const parts = Array.from({ length: chunkCount }, (_, chunk) => {
		return html`<sitemap><loc>${publicUrl + sitemapFile(chunk)}</loc></sitemap>\n`;
	});
	const index = html`<?xml version="1.0" encoding="utf-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${parts}</sitemapindex>
`;
	return files.set("sitemap.xml", index.text);
}
