import * as assert from "uvu/assert";
import { searchEngineFiles } from "../../../site/static/site-pages.ts";
import { test } from "../../helpers/suite.ts";
import { buildCatalogue } from "../data/entries.ts";
import { pageSettings, plainSettings } from "../data/pages.ts";
import { generateCatalogue } from "../search/catalogue.ts";

function elements(xml: string, name: string): (string | undefined)[] {
	return [...xml.matchAll(new RegExp(`<${name}[^>]*>([^<]*)</${name}>`, "g"))].map(([, text]) => text);
}

test("the sitemap has both pages of every layer, each in the form of the address where it is read", () => {
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
