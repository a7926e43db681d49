import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { chunkCount, type Entry, layerAddress } from "../data/entries.ts";
import { slugOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { listPageNames, pageFolder, publisherAddress, publisherTable } from "./addresses.ts";
import { changeList, changesHtml } from "./changes-page.ts";
import { frameHtml } from "./frame.ts";
import { dayHtml, healthCell, healthHtml, isSick, layerTable } from "./health-page.ts";
import { html, type PageSettings, root } from "./html.ts";
import { byTitle, type ListData, listHtml, namesOf, publisherCsv } from "./publishers.ts";

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

const maxChanges = 50;

function publisherHtml(lang: Lang, slug: string, layers: readonly Entry[], data: ListData): string {
	const { settings } = data;
	const { t, typeText } = textsIn[lang];
	const name = namesOf(layers, lang);
	const columns = [
		[t("smallkey"), ({ smallkey }: Entry) => html`<code>${smallkey}</code>`],
		[t("type"), ({ type }: Entry) => typeText(type)],
		[t("health"), (entry: Entry) => healthCell(lang, entry, settings)],
		[t("last-change"), ({ changed }: Entry) => dayHtml(changed?.date)],
	] as const;
	const sickFirst = byTitle(layers, lang).sort((a, b) => Number(isSick(b)) - Number(isSick(a)));
	const recent = data.changes.filter(
		({ what }) => "smallkey" in what && slugOf(data.entryOf(what.smallkey) ?? {}) === slug,
	);
	return frameHtml(settings, {
		lang,
		root,
		title: name,
		className: "tables",
		other: root + publisherAddress(otherLang[lang], slug),
		content: html`<h1>${name}</h1>
<p>${countText(lang, layers)}.</p>
<p class="links"><a href="${root}${publisherTable(slug)}" download>${t("table-csv")}</a> <a href="${root}${pageFolder(lang, "publisher")}">${t("all-publishers")}</a></p>
<h2>${t("layers")}</h2>
${layerTable(lang, sickFirst, columns, settings)}
<h2>${t("changes")}</h2>
${recent.length === 0 ? html`<p>${t("no-changes")}</p>` : changeList(lang, recent.slice(0, maxChanges), data, true)}`,
	});
}

function countText(lang: Lang, layers: readonly Entry[]): string {
	const { t, plural } = textsIn[lang];
	const sick = layers.filter(isSick).length;
	return plural(layers.length, "layer-count") + (sick > 0 ? `, ${t("with-problem", sick)}` : "");
}

function publishersHtml(lang: Lang, { publishers, settings }: ListData): string {
	const { t } = textsIn[lang];
	const all = [...publishers].map(([slug, layers]) => ({ slug, layers, name: namesOf(layers, lang) }));
	const sorted = all.sort((a, b) => b.layers.length - a.layers.length || (a.name < b.name ? -1 : 1));
	const rows = sorted.map(({ slug, layers, name }) => {
		const address = root + publisherAddress(lang, slug);
		return html`<li><a href="${address}">${name}</a> <span>${countText(lang, layers)}</span></li>\n`;
	});
	return frameHtml(settings, {
		lang,
		root,
		title: t("publishers"),
		other: root + pageFolder(otherLang[lang], "publisher"),
		content: html`<h1>${t("publishers")}</h1>
${rows.length === 0 ? html`<p>${t("no-publishers")}</p>` : html`<ul class="plain">\n${rows}</ul>`}`,
	});
}

const indexPages = { changes: changesHtml, health: healthHtml, publisher: publishersHtml };

/** Groups: language, and the name of the list, or the slug of a publisher. */
const pagePath = /^(en|fr)\/(?:(changes|health|publisher)\/index|publisher\/([a-z0-9-]+))\.html$/;
const tablePath = /^publisher\/([a-z0-9-]+)\.csv$/;

/** The plain list. Groups: whether it is in French, and the number of the page; `index` is the first. */
const plainPath = /^list\/(fr\/)?(index|[2-9]|[1-9]\d{1,5})\.html$/;

export function isListPage(file: string): boolean {
	return [pagePath, tablePath, plainPath].some((path) => path.test(file));
}

/** Null if the publisher or the page of the plain list does not exist. Pure. */
export function renderListPage(file: string, data: ListData): string | null {
	const [, french, number] = plainPath.exec(file) ?? [];
	if (number) {
		const listLang = french ? "fr" : "en";
		return listHtml(listLang, data.pagesIn(listLang), number === "index" ? 1 : Number(number), data.settings);
	}
	const [, lang, list, slug = tablePath.exec(file)?.[1] ?? ""] = pagePath.exec(file) ?? [];
	if (list) return indexPages[list as keyof typeof indexPages](lang as Lang, data);
	const layers = data.publishers.get(slug);
	if (!layers) return null;
	return lang ? publisherHtml(lang as Lang, slug, layers, data) : publisherCsv(layers);
}

export function listPagePaths(slugs: Iterable<string>): string[] {
	const lists = langs.flatMap((lang) => listPageNames.map((list) => `${pageFolder(lang, list)}index.html`));
	const pagesOf = (slug: string) => langs.map((lang) => `${publisherAddress(lang, slug)}.html`);
	return [...lists, ...[...slugs].flatMap((slug) => [...pagesOf(slug), publisherTable(slug)])];
}
