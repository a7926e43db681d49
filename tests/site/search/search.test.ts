import * as assert from "uvu/assert";
import type { Entry } from "../../../site/data/entries.ts";
import { Matcher } from "../../../site/search/matcher.ts";
import { type Choice, Selection } from "../../../site/search/select.ts";
import { test } from "../../helpers/suite.ts";
import { generateCatalogue } from "./catalogue.ts";
import { heldOutLayers, heldOutQueries } from "./held-out.ts";

const any: Choice = { type: "", host: "", sender: "", health: "", sort: "best" };

const all = [...generateCatalogue(2_000 - heldOutLayers.length), ...heldOutLayers];
const matcher = new Matcher();
matcher.add(all);
const keysOf = (text: string) => matcher.match(text).ids.map((id) => all[id]?.smallkey);

test("other words, beginnings, abbreviations and the other language find a layer", () => {
	const textOf = ({ smallkey, title, sender }: Entry) =>
		[smallkey, title.en, title.fr, typeof sender === "object" ? sender.en : sender].join(" | ");
	const missed = heldOutQueries.filter(([text, expected]) => {
		const first = all[matcher.match(text).ids[0] ?? -1];
		if (typeof expected === "string") return first?.smallkey !== expected;
		return !expected.test(first ? textOf(first) : "");
	});
	const texts = missed.map(([text]) => text).join(" | ");
	assert.ok(missed.length <= 1, `missed: ${texts}`);
	for (const [text, expected] of heldOutQueries)
		if (expected === text.toLowerCase()) assert.is(keysOf(text)[0], expected);
});

test("an exact title and an exact key come first, of whatever layer", () => {
	for (let at = 0; at < all.length; at += 100) {
		const { smallkey, title } = all[at] as Entry;
		const likeTitle = title.fr.toLowerCase().replaceAll("’", "'").replaceAll(" – ", " - ");
		for (const text of [smallkey, smallkey.toUpperCase(), title.en, title.fr, ` ${likeTitle} `])
			assert.is(keysOf(text)[0], smallkey, text);
	}
});

const entry = (smallkey: string, en: string, fr = en, more: Partial<Entry> = {}): Entry => ({
	smallkey,
	type: "wms",
	title: { en, fr },
	address: { en: "https://maps.example.ca/wms" },
	...more,
});

function chosen(entries: Entry[], choice: Partial<Choice>, lang: "en" | "fr" = "en") {
	const selection = new Selection(lang);
	selection.add(entries);
	const { hits, ...counts } = selection.select(null, { ...any, ...choice });
	return { keys: hits.map(({ smallkey }) => smallkey), ...counts };
}

test("a list is sorted by titles of its language, without accents, and numbers by value", () => {
	const entries = [
		entry("a", "Basin 10", "Écoles"),
		entry("b", "Basin 9", "zones"),
		entry("c", "apples", "Eau"),
	];
	assert.equal(chosen(entries, {}).keys, ["c", "b", "a"]);
	assert.equal(chosen(entries, {}, "fr").keys, ["c", "a", "b"]);
});

test("the last changed come first where that is asked for", () => {
	const at = (date: string) => ({ changed: { commit: "0".repeat(40), date } });
	const entries = [
		entry("old", "A", "A", at("2020-01-01T00:00:00Z")),
		entry("none", "B"),
		entry("new", "C", "C", at("2026-01-01T00:00:00Z")),
	];
	assert.equal(chosen(entries, { sort: "changed" }).keys, ["new", "old", "none"]);
});

test("counts of a filter follow the text and all other filters", () => {
	const sender = { en: "Rivers Canada", fr: "Rivières Canada" };
	const entries = [
		entry("a", "Rivers", "Rivières", { sender, type: "feature" }),
		entry("b", "Rivers", "Rivières", { sender, health: { state: "down", since: "2026-W01" } }),
		entry("c", "Lakes", "Lacs", { health: null, address: { en: "http://x.example.ca:81/w" } }),
	];
	const all = chosen(entries, {}, "fr");
	assert.equal(all.facets.sender, [["Rivières Canada", 2]]);
	assert.equal(all.facets.health, [
		["down", 1],
		["ok", 1],
		["sick", 1],
		["unchecked", 1],
	]);
	assert.equal(all.facets.host, [
		["maps.example.ca", 2],
		["x.example.ca:81", 1],
	]);
	const filtered = chosen(entries, { type: "wms" });
	assert.equal(filtered.keys, ["c", "b"]);
	assert.equal(filtered.facets.type, [
		["wms", 2],
		["feature", 1],
	]);
	assert.equal(filtered.facets.sender, [["Rivers Canada", 1]]);
	const none = chosen(entries, { type: "feature", health: "unchecked" });
	assert.equal(none.keys, []);
	assert.equal(none.facets.type, [["wms", 1]]);
	assert.equal(none.facets.health, [["ok", 1]]);
	const selection = new Selection("en");
	selection.add(entries);
	assert.equal(selection.select([2], any).facets.type, [["wms", 1]]);
});

test("an exact title or key comes first in either number and language", () => {
	const matcher = new Matcher();
	const many = (word: string, mot: string) =>
		["outlook", "index", "extent"].map((what) =>
			entry(`${what}-${word}`, `${word} ${what} ${word}`, `${mot} ${what} ${mot}`, {
				keywords: { en: [word] },
			}),
		);
	const entries = [
		...many("droughts", "sécheresses"),
		...many("protected areas", "aires protégées"),
		entry("drought", "Canadian Drought Monitor", "Outil de surveillance des sécheresses au Canada"),
		entry("z-national", "Protected Area", "Aire protégée"),
	];
	matcher.add(entries);
	for (const text of ["drought", "Droughts", "sécheresse", "sécheresses"])
		assert.is(entries[matcher.match(text).ids[0] ?? -1]?.smallkey, "drought", text);
	for (const text of ["aires protégées", "Aire protégée", "protected areas"])
		assert.is(entries[matcher.match(text).ids[0] ?? -1]?.smallkey, "z-national", text);
});

test("an exact title comes first with any quotes and spaces, and of any length", () => {
	const long = `Limits of ${"the forest of ".repeat(50)}`;
	const matcher = new Matcher();
	matcher.add([
		entry("decoy", "Eau anse 2 5", "Eau anse 2 5", { keywords: { fr: ["eau", "anse", "2", "5"] } }),
		entry("title", "Eau  de l’Anse (2,5 m)", "Anse"),
		entry("longer", `${long}and more`),
		entry("long", long),
	]);
	for (const text of ["eau de l'anse (2,5 m)", "Eau de l’Anse 2,5 m", "  Eau de l‘Anse – (2,5\u00a0m)"])
		assert.is(matcher.match(text).ids[0], 1, text);
	assert.ok([2, 3].includes(matcher.match(long).ids[0] ?? -1));
});

test("a word weighs most in a title, and a title that is the text comes first", () => {
	const matcher = new Matcher();
	const more = { description: { en: "roads, roads and roads" } };
	matcher.add([
		entry("text", "Winter", "Hiver", more as Partial<Entry>),
		entry("title", "Roads of the north and of the far west, in several parts", "Chemins"),
		entry("ponds-ponds", "Ponds, ponds and ponds", "Étangs", { keywords: { en: ["ponds"] } }),
		entry("pond", "Ponds", "Mares"),
	]);
	assert.is(matcher.match("roads").ids[0], 1);
	assert.is(matcher.match("pond").ids[0], 3);
	assert.is(matcher.match("ponds").ids[0], 3);
});

test("a search for any text ends, and finds nothing wrong", () => {
	const matcher = new Matcher();
	matcher.add([entry("odd", "(.*)+[\\", "<b>"), entry("arabic", "خريطة الأنهار")]);
	for (const text of [
		"x".repeat(100_000),
		"(.*)+[\\^$",
		"%00%2e",
		"https://%zz/?layer=%zz",
		"\ud800",
		" ",
		"the",
	])
		matcher.match(text);
	assert.equal(matcher.match("الأنهار").ids, [1]);
	assert.equal(matcher.match("(.*)+[\\").ids, [0]);
});

test.run();
