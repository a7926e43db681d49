import { type Lang, langs } from "../../registry/smallkey.ts";
import { chunkCount, type Entry, layerAddress } from "../data/entries.ts";
import { openSearchFile } from "./addresses.ts";
import { html, type PageSettings, siteName, textsIn } from "./html.ts";

export function sitemapFile(chunk: number): string {
	return `sitemap/${String(chunk).padStart(2, "0")}.xml`;
}

/** Sitemaps.org, protocol 0.9. */
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
