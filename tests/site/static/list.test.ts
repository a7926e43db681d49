import * as assert from "uvu/assert";
import type { Entry } from "../../../registry/entries.ts";
import { byTitle, listHtml, pagesOf } from "../../../site/static/list.ts";
import { pageSettings } from "../../catalogue/pages.ts";
import { test } from "../../helpers/suite.ts";

function layer(smallkey: string, en: string, fr: string): Entry {
	return { smallkey, type: "wms", title: { en, fr }, address: { en: "https://h.example/wms" } };
}

test("layers are listed by the title of the language, without regard to accents, figures by their value", () => {
	const entries = [
		layer("z9", "Water 10", "Eau 10"),
		layer("a1", "Water 9", "Eau 9"),
		layer("b2", "Schools", "Écoles"),
		layer("c3", "rivers", "Rivières"),
		layer("d4", "Roads", "Édifices"),
	];
	const keys = (lang: "en" | "fr") => byTitle(entries, lang).map(({ entry }) => entry.smallkey);
	assert.equal(keys("en"), ["c3", "d4", "b2", "a1", "z9"]);
	assert.equal(keys("fr"), ["a1", "z9", "b2", "d4", "c3"]);
});

test("every layer is on one page of the list, which leads to the others and to the other language", () => {
	const entries = Array.from({ length: 401 }, (_, index) =>
		layer(`k${index}`, `Layer ${index}`, `Couche ${index}`),
	);
	const sorted = byTitle(entries, "fr");
	const pagesOfAll = pagesOf(sorted);
	const pages = [1, 2, 3].map((page) => listHtml("fr", pagesOfAll, page, pageSettings) ?? "");
	assert.is(listHtml("fr", pagesOfAll, 4, pageSettings), null);
	assert.is(listHtml("fr", pagesOfAll, 0, pageSettings), null);
	const found = pages.flatMap((html) =>
		[...html.matchAll(/<li><a href="\.\.\/\.\.\/fr\/layer\/(k\d+)">/g)].map(([, key]) => key),
	);
	assert.equal(
		found,
		sorted.map(({ entry }) => entry.smallkey),
	);
	assert.match(pages[1] ?? "", '<a href="../../list/fr/index.html" rel="prev">Page précédente</a>');
	assert.match(pages[1] ?? "", '<a href="../../list/fr/3.html" rel="next">Page suivante</a>');
	assert.match(pages[1] ?? "", '<a class="language" href="../../list/index.html" hreflang="en" lang="en">');
	assert.match(pages[0] ?? "", "<p>401 couches, par titre</p>");
});

test("without pages of layers a row has the address of the service and the fragments; titles are text", () => {
	const odd = { ...layer("k", "<img src=x>", "x"), unread: ["v1/en"] };
	const html =
		listHtml("en", [[odd]], 1, { ...pageSettings, site: { ...pageSettings.site, hasLayerPages: false } }) ??
		"";
	assert.not.match(html, "<img");
	assert.ok(html.includes('<span class="address">https://h.example/wms</span>'));
	assert.ok(html.includes('href="../v0.9/doc/en/k"') && html.includes('href="../v1/doc/fr/k"'));
	assert.not.match(html, 'href="../v1/doc/en/k"');
});

test("one more layer, or one less, changes few pages of a long list", () => {
	const entries = Array.from({ length: 3_000 }, (_, index) => layer(`k${index}`, `Layer ${index}`, "x"));
	const textsOf = (list: readonly Entry[]) =>
		pagesOf(byTitle(list, "en")).map((page) => page.map(({ smallkey }) => smallkey).join());
	const all = textsOf(entries);
	assert.ok(all.length > 10 && all.every((page) => page.split(",").length <= 400));
	for (const removed of [0, 1_000, 1_001, 2_500]) {
		const some = new Set(textsOf(entries.filter((_, index) => index !== removed)));
		assert.ok(all.filter((page) => !some.has(page)).length <= 4, String(removed));
	}
});

test.run();
