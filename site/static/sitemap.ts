import { type Lang, langs } from "../../registry/smallkey.ts";
import { chunkCount, type Entry, layerAddress } from "../data/entries.ts";
import { html } from "./html.ts";
import type { PageSettings } from "./page-settings.ts";

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
