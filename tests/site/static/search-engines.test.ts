import { SaxesParser } from "saxes";
import * as assert from "uvu/assert";
import { searchEngineFiles } from "../../../site/static/search-engines.ts";
import { buildCatalogue, generateEntries } from "../../catalogue/entries.ts";
import { pageSettings, plainSettings } from "../../catalogue/pages.ts";
import { test } from "../../helpers/suite.ts";

/** The texts of the elements of a name. */
function elements(xml: string, name: string): string[] {
	const found: string[] = [];
	let text: string | null = null;
	const parser = new SaxesParser();
	parser.on("opentag", (tag) => {
		if (tag.name === name) text = "";
	});
	parser.on("text", (part) => {
		if (text !== null) text += part;
	});
	parser.on("closetag", (tag) => {
		if (tag.name === name) found.push(text ?? "");
		if (tag.name === name) text = null;
	});
	parser.write(xml).close();
	return found;
}

test("the sitemap has both pages of every layer, each in the form of the address where it is read", () => {
	const publicUrl = "https://layers.example.ca/";
	const files = searchEngineFiles({ publicUrl, site: plainSettings });
	assert.match(files.get("robots.txt") ?? "", "Sitemap: https://layers.example.ca/sitemap.xml");
	const entries = [...generateEntries(100), { ...[...generateEntries(1)][0], smallkey: "a+b" }] as never[];
	const settings = { pages: { ...pageSettings, publicUrl }, isServed: true, commit: null, owners: () => [] };
	const built = buildCatalogue(entries, null, settings);
	const parts = elements(files.get("sitemap.xml") ?? "", "loc");
	assert.is(parts.length, 64);
	const pages = parts.flatMap((part) => elements(built.get(part.slice(publicUrl.length)) ?? "", "loc"));
	assert.is(pages.length, 202);
	assert.is(new Set(pages).size, 202);
	assert.ok(pages.includes("https://layers.example.ca/fr/layer/a%2Bb"));
});

test("a browser's search is described where the address is known; without it nothing is said of addresses", () => {
	const described = (name: typeof plainSettings.name) =>
		searchEngineFiles({
			publicUrl: "https://l.example/?x&",
			site: { ...plainSettings, hasLayerPages: false, name },
		}).get("opensearch-fr.xml") ?? "";
	const xml = described(null);
	assert.match(xml, 'template="https://l.example/?x&amp;fr/?q={searchTerms}"');
	// OpenSearch 1.1: a short name has at most 16 characters, a long one 48. No name is cut.
	const namesIn = (one: string) => [elements(one, "ShortName"), elements(one, "LongName")];
	assert.equal(namesIn(xml), [["Couches"], ["Couches cartographiques"]]);
	assert.equal(namesIn(described({ en: "Maps", fr: "Cartes" })), [["Cartes"], ["Cartes"]]);
	assert.equal(namesIn(described({ en: "Maps", fr: "C".repeat(49) })), [["Couches"], []]);
	const files = searchEngineFiles({ publicUrl: "", site: plainSettings });
	assert.equal([...files.keys()], ["robots.txt"]);
	assert.not.match(files.get("robots.txt") ?? "", "Sitemap");
});

test.run();
