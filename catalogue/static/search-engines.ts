import { chunkCount, type Entry } from "../../registry/entries.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { tagline } from "../../site/text/translate.ts";
import { layerAddress } from "./addresses.ts";
import { escapeHtml, type PageSettings, textsIn } from "./html.ts";

/** The file of the sitemap with the layers of one chunk. */
export function sitemapFile(chunk: number): string {
	return `sitemap/${String(chunk).padStart(2, "0")}.xml`;
}

/** Renders the sitemap of one chunk (sitemaps.org, protocol 0.9): each layer page, with its addresses in both languages. */
export function sitemapXml(entries: readonly Entry[], publicUrl: string): string {
	const urls = entries.flatMap(({ smallkey, changed }) => {
		const at = (lang: Lang) => escapeHtml(publicUrl + layerAddress(lang, smallkey));
		const pair = langs
			.map((lang) => `<xhtml:link rel="alternate" hreflang="${lang}" href="${at(lang)}"/>`)
			.join("");
		const date = changed ? `<lastmod>${changed.date}</lastmod>` : "";
		return langs.map((lang) => `<url><loc>${at(lang)}</loc>${date}${pair}</url>`);
	});
	return `<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
${urls.join("\n")}
</urlset>
`;
}

/** `robots.txt`, `sitemap.xml` and the OpenSearch descriptions, by path. They depend on no layer. */
export function searchEngineFiles({
	publicUrl,
	hasLayerPages,
}: Pick<PageSettings, "publicUrl" | "hasLayerPages">): Map<string, string> {
	const hasSitemap = publicUrl !== "" && hasLayerPages;
	const sitemap = hasSitemap ? `Sitemap: ${publicUrl}sitemap.xml\n` : "";
	const files = new Map([["robots.txt", `User-agent: *\nDisallow:\n${sitemap}`]]);
	if (publicUrl === "") return files;
	for (const lang of langs) files.set(`opensearch-${lang}.xml`, openSearchXml(lang, publicUrl));
	if (!hasSitemap) return files;
	const parts = Array.from({ length: chunkCount }, (_, chunk) => {
		return `<sitemap><loc>${escapeHtml(publicUrl + sitemapFile(chunk))}</loc></sitemap>`;
	});
	return files.set(
		"sitemap.xml",
		`<?xml version="1.0" encoding="utf-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${parts.join("\n")}
</sitemapindex>
`,
	);
}

/** Renders an OpenSearch 1.1 description document, whose short name has at most 16 characters. */
function openSearchXml(lang: Lang, publicUrl: string): string {
	const { t } = textsIn[lang];
	const template = escapeHtml(`${publicUrl}${lang}/?q=`);
	return `<?xml version="1.0" encoding="utf-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${escapeHtml(t("Map layers").slice(0, 16))}</ShortName>
<Description>${escapeHtml(t(tagline))}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Language>${lang}</Language>
<Url type="text/html" template="${template}{searchTerms}"/>
</OpenSearchDescription>
`;
}
