import { suite, test } from "uvu";
import * as assert from "uvu/assert";
import type { Entry } from "../../../registry/entries.ts";
import { Matcher } from "../../../site/search/matcher.ts";
import { type Choice, Selection } from "../../../site/search/select.ts";
import { generateCatalogue } from "./catalogue.ts";
import { queries } from "./queries.ts";

const any: Choice = {
	type: "",
	host: "",
	sender: "",
	health: "",
	oneTitle: false,
	bounds: null,
	sort: "best",
};

for (const count of [2_000, 20_000]) {
	const found = suite(`search over ${count} layers`);
	const entries = generateCatalogue(count);
	const matcher = new Matcher();
	matcher.add(entries);
	const keysOf = (text: string) => matcher.match(text).ids.map((id) => entries[id]?.smallkey);

	found("nine of ten queries have the layer that is meant among the first three", () => {
		const missed = queries.filter(([text, smallkey]) => !keysOf(text).slice(0, 3).includes(smallkey));
		assert.ok(missed.length * 10 <= queries.length, `missed: ${missed.map(([text]) => text).join(" | ")}`);
	});

	found("an exact title and an exact key come first, of whatever layer", () => {
		for (let at = 0; at < count; at += Math.floor(count / 40)) {
			const { smallkey, title } = entries[at] as Entry;
			for (const text of [
				smallkey,
				smallkey.toUpperCase(),
				title.en,
				title.fr,
				` ${title.fr.toLowerCase()} `,
			])
				assert.is(keysOf(text)[0], smallkey, text);
		}
	});

	found("no layer is found twice, and what has all words is found whole", () => {
		const keys = keysOf("census ontario");
		assert.is(new Set(keys).size, keys.length);
		const expected = entries.filter(({ title }) => /census/i.test(title.en) && /ontario/i.test(title.en));
		for (const { smallkey } of expected) assert.ok(keys.includes(smallkey), smallkey);
	});

	found.run();
}

const entry = (smallkey: string, en: string, fr = en, more: Partial<Entry> = {}): Entry => ({
	smallkey,
	type: "wms",
	title: { en, fr },
	address: { en: "https://maps.example.ca/wms" },
	...more,
});

/** What is chosen of some layers, by smallkey. */
function chosen(entries: Entry[], choice: Partial<Choice>, lang: "en" | "fr" = "en") {
	const selection = new Selection(lang);
	selection.add(entries);
	const { hits, ...counts } = selection.select(null, { ...any, ...choice });
	return { keys: hits.map(({ smallkey }) => smallkey), ...counts };
}

test("a list is sorted by the titles of its language, without accents, and by the value of numbers", () => {
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

test("counts of a filter follow the text and all other filters, but not its own value", () => {
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
		["unchecked", 1],
	]);
	assert.equal(all.facets.host, [
		["maps.example.ca", 2],
		["x.example.ca:81", 1],
	]);
	const some = chosen(entries, { type: "wms" });
	assert.equal(some.keys, ["c", "b"]);
	assert.equal(some.facets.type, [
		["wms", 2],
		["feature", 1],
	]);
	assert.equal(some.facets.sender, [["Rivers Canada", 1]]);
	const none = chosen(entries, { type: "feature", health: "unchecked" });
	assert.equal(none.keys, []);
	assert.equal(none.facets.type, [["wms", 1]]);
	assert.equal(none.facets.health, [["ok", 1]]);
	const selection = new Selection("en");
	selection.add(entries);
	assert.equal(selection.select([2], any).facets.type, [["wms", 1]]);
});

test("layers without a French title of their own", () => {
	const entries = [entry("same", "Radon "), entry("two", "Rivers", "Rivières")];
	assert.equal(chosen(entries, { oneTitle: true }).keys, ["same"]);
	assert.is(chosen(entries, {}).oneTitle, 1);
});

test("a map filter takes what meets it, also across the date line, and nothing of unknown extent", () => {
	const entries = [
		entry("west", "W", "W", { bounds: [-140, 50, -120, 60] }),
		entry("pacific", "P", "P", { bounds: [170, 40, -130, 60] }),
		entry("unknown", "U"),
	];
	assert.equal(chosen(entries, { bounds: [-135, 45, -132, 55] }).keys, ["pacific", "west"]);
	assert.equal(chosen(entries, { bounds: [-125, 45, -120, 55] }).keys, ["west"]);
	assert.equal(chosen(entries, { bounds: [175, 45, 180, 55] }).keys, ["pacific"]);
});

test("texts of any kind find nothing wrong and end", () => {
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
