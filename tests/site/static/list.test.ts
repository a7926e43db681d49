import * as assert from "uvu/assert";
import { byTitle, listHtml, pagesOf } from "../../../site/static/plain-list.ts";
import { test } from "../../helpers/suite.ts";
import { pageSettings } from "../data/pages.ts";

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

test.run();
