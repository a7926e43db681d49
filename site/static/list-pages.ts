import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { chunkCount, type Entry, type HealthReport, layerAddress } from "../data/entries.ts";
import { stateOf } from "../search/select.ts";
import { siteName, textsIn } from "../text/static.ts";
import {
	changesFolders,
	healthFolders,
	openSearchFile,
	publisherAddress,
	publisherFilesFolder,
	publisherFolders,
	publisherTable,
} from "./addresses.ts";
import { changeList, changesHtml } from "./changes-page.ts";
import { frameHtml } from "./frame.ts";
import { dayHtml, healthHtml, layerTable, sickOf, sickTable } from "./health-page.ts";
import { html, type PageSettings, root } from "./html.ts";
import {
	byTitle,
	type Lists,
	namesOf,
	type Publishers,
	publisherCsv,
	publishersOf,
	slugOfChange,
} from "./publishers.ts";

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
	if (publicUrl === "") return files;
	for (const lang of langs)
		files.set(openSearchFile(lang), openSearchXml(lang, publicUrl, siteName(site, lang)));
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

/** In characters (OpenSearch 1.1). */
const maxName = { short: 16, long: 48 };

/** OpenSearch 1.1. A name that is too long is replaced or left out, never cut. */
function openSearchXml(lang: Lang, publicUrl: string, name: string): string {
	const { t } = textsIn[lang];
	const short = [name, t("map-layers"), t("layers")].find(({ length }) => length <= maxName.short);
	const long = name.length <= maxName.long && html`<LongName>${name}</LongName>\n`;
	return html`<?xml version="1.0" encoding="utf-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${short}</ShortName>
${long}<Description>${t("tagline")}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Language>${lang}</Language>
<Url type="text/html" template="${publicUrl}${lang}/?q={searchTerms}"/>
</OpenSearchDescription>
`.text;
}

/** The files have all layers. */
const maxRows = 1_000;

const maxChanges = 50;

function publisherHtml(lang: Lang, slug: string, layers: readonly Entry[], lists: Lists): string {
	const { settings, lastLook } = lists;
	const { t, plural, typeText, stateText } = textsIn[lang];
	const name = namesOf(layers, lang);
	const columns = [
		[t("smallkey"), ({ smallkey }: Entry) => html`<code>${smallkey}</code>`],
		[t("type"), ({ type }: Entry) => typeText(type)],
		[t("health"), (entry: Entry) => stateText(stateOf(entry))],
		[t("last-change"), ({ changed }: Entry) => dayHtml(changed?.date)],
	] as const;
	const sick = layers.filter(({ health }) => health);
	const repairs = sick.filter(({ health }) => health?.repair).length;
	const sorted = byTitle(layers, lang);
	const recent = lists.changes.filter((change) => slugOfChange(change, lists) === slug);
	const facts = [
		plural(layers.length, "layer-count"),
		sick.length > 0 && t("with-problem", sick.length),
		repairs > 0 && t("with-repair", repairs),
	];
	return frameHtml(settings, {
		lang,
		root,
		title: name,
		hasTables: true,
		other: root + publisherAddress(otherLang[lang], slug),
		content: html`<h1>${name}</h1>
<p>${facts.filter(Boolean).join(", ")}.</p>
<p class="links"><a href="${root}${publisherTable(slug)}" download>${t("table-csv")}</a> <a href="${root}${publisherFolders[lang]}/">${t("all-publishers")}</a></p>
${
	sick.length > 0 &&
	html`<h2>${t("what-is-wrong")}</h2>\n${sickTable(
		lang,
		sick.map((entry) => sickOf(entry)),
		{ settings, lastLook, isOnePublisher: true },
	)}`
}
<h2>${t("layers")}</h2>
${layers.length > maxRows && html`<p>${t("first-of-table", maxRows)}</p>`}
${layerTable(lang, sorted.slice(0, maxRows), columns, settings)}
<h2>${t("changes")}</h2>
${recent.length === 0 ? html`<p>${t("no-own-changes")}</p>` : changeList(lang, recent.slice(0, maxChanges), { ...lists, isOnePublisher: true })}`,
	});
}

function publishersHtml(lang: Lang, { publishers, settings }: ListData): string {
	const { t, plural } = textsIn[lang];
	const all = [...publishers].map(([slug, layers]) => ({ slug, layers, name: namesOf(layers, lang) }));
	const sorted = all.sort((a, b) => b.layers.length - a.layers.length || (a.name < b.name ? -1 : 1));
	const rows = sorted.map(({ slug, layers, name }) => {
		const sick = layers.filter(({ health }) => health).length;
		const problems = sick > 0 ? t("with-problem", sick) : "";
		return html`<li><a href="${root}${publisherAddress(lang, slug)}">${name}</a> <span>${[plural(layers.length, "layer-count"), problems].filter(Boolean).join(", ")}</span></li>\n`;
	});
	return frameHtml(settings, {
		lang,
		root,
		title: t("publishers"),
		other: `${root}${publisherFolders[otherLang[lang]]}/`,
		content: html`<h1>${t("publishers")}</h1>
${rows.length === 0 ? html`<p>${t("no-publishers")}</p>` : html`<ul class="plain">\n${rows}</ul>`}`,
	});
}

export interface ListData extends Lists {
	publishers: Publishers;
	report: HealthReport | null;
}

export function listedEntries(entries: readonly Entry[]): Pick<ListData, "entryOf" | "publishers"> {
	const byKey = new Map(entries.map((entry) => [entry.smallkey, entry]));
	return { entryOf: (smallkey) => byKey.get(smallkey), publishers: publishersOf(entries) };
}

const publisherPath = new RegExp(
	`^(?:${publisherFolders.en}|${publisherFolders.fr}|${publisherFilesFolder})/([a-z0-9-]+)\\.(?:html|csv)$`,
);

type IndexPage = (lang: Lang, data: ListData) => string;

const indexPages = new Map<string, readonly [Lang, IndexPage]>();
const indexes: readonly (readonly [Readonly<Record<Lang, string>>, IndexPage])[] = [
	[changesFolders, changesHtml],
	[healthFolders, healthHtml],
	[publisherFolders, publishersHtml],
];
for (const [folders, page] of indexes)
	for (const lang of langs) indexPages.set(`${folders[lang]}/index.html`, [lang, page]);

export function isListPage(file: string): boolean {
	return indexPages.has(file) || publisherPath.test(file);
}

/** Null if the publisher or layer does not exist. Pure. */
export function renderListPage(file: string, data: ListData): string | null {
	const [indexLang, page] = indexPages.get(file) ?? [];
	if (indexLang && page) return page(indexLang, data);
	const slug = publisherPath.exec(file)?.[1] ?? "";
	const layers = data.publishers.get(slug);
	if (!layers) return null;
	if (file === publisherTable(slug)) return publisherCsv(layers);
	const lang = langs.find((lang) => file === `${publisherAddress(lang, slug)}.html`);
	return lang ? publisherHtml(lang, slug, layers, data) : null;
}

export function listPagePaths(slugs: Iterable<string>): string[] {
	const pagesOf = (slug: string) => langs.map((lang) => `${publisherAddress(lang, slug)}.html`);
	return [...indexPages.keys(), ...[...slugs].flatMap((slug) => [...pagesOf(slug), publisherTable(slug)])];
}
