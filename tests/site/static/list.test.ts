import * as assert from "uvu/assert";
import { byTitle, listHtml, pagesOf } from "../../../site/static/plain-list.ts";
import { searchEngineFiles } from "../../../site/static/site-pages.ts";
import { test } from "../../helpers/suite.ts";
import { buildCatalogue } from "../data/entries.ts";
import { pageSettings, plainSettings } from "../data/pages.ts";
import { generateCatalogue } from "../search/catalogue.ts";

function layer(smallkey: string, en: string, fr: string) {
	return { smallkey, type: "wms", title: { en, fr }, address: { en: "https://h.example/wms" } };
}

test("every layer is on one page of the list, which leads to the other pages", () => {
	const entries = Array.from({ length: 401 }, (_, at) => layer(`k${at}`, `Layer ${at}`, `Couche ${at}`));
	const sorted = byTitle(entries, "fr");
	const paged = pagesOf(sorted);
	const htmlOf = (page: number) => listHtml("fr", paged, page, pageSettings);
	const pages = [1, 2, 3].map((page) => htmlOf(page) ?? "");
	assert.equal([htmlOf(4), htmlOf(0)], [null, null]);
	const keys = pages.flatMap((html) =>
		[...html.matchAll(/<li><a href="\.\.\/\.\.\/fr\/layer\/(k\d+)">/g)].map(([, key]) => key),
	);
	assert.equal(
		keys,
		sorted.map(({ smallkey }) => smallkey),
	);
	for (const part of [
		'<a href="../../list/fr/index.html">1</a>',
		'<a href="../../list/fr/2.html" aria-current="page">2</a>',
		'<a class="language" href="../../list/index.html" hreflang="en" lang="en">',
	])
		assert.match(pages[1] ?? "", part);
	assert.match(pages[0] ?? "", "<p>401 couches, par titre</p>");
});

function elements(xml: string, name: string): (string | undefined)[] {
	return [...xml.matchAll(new RegExp(`<${name}[^>]*>([^<]*)</${name}>`, "g"))].map(([, text]) => text);
}

test("the sitemap has both pages of every layer, by their addresses", () => {
	const publicUrl = "https://layers.example.ca/";
	const files = searchEngineFiles({ publicUrl, site: plainSettings });
	assert.match(files.get("robots.txt") ?? "", "Sitemap: https://layers.example.ca/sitemap.xml");
	const [first, ...others] = generateCatalogue(100);
	assert.ok(first);
	const entries = [{ ...first, smallkey: "a+b" }, ...others];
	const settings = { pages: { ...pageSettings, publicUrl }, isServed: true, commit: null, owners: () => [] };
	const built = buildCatalogue(entries, null, settings);
	const parts = elements(files.get("sitemap.xml") ?? "", "loc");
	const pages = parts.flatMap((part = "") => elements(built.get(part.slice(publicUrl.length)) ?? "", "loc"));
	assert.equal([pages.length, new Set(pages).size], [200, 200]);
	assert.ok(pages.includes("https://layers.example.ca/fr/layer/a%2Bb"));
});

test("without a public address there is no sitemap", () => {
	const files = searchEngineFiles({ publicUrl: "", site: plainSettings });
	assert.equal([...files], [["robots.txt", "User-agent: *\nDisallow:\n"]]);
});

test.run();
