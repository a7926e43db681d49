import * as assert from "uvu/assert";
import type { Entry } from "../../../registry/entries.ts";
import { boundsOf } from "../../../site/page/address.ts";
import { Matcher } from "../../../site/search/matcher.ts";
import { type Choice, Selection } from "../../../site/search/select.ts";
import { synonyms, wantedOf } from "../../../site/search/synonyms.ts";
import { TextSearch, type ToMatcher } from "../../../site/search/text-search.ts";
import { queryWords, stem } from "../../../site/search/words.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { any, searchOver } from "./search-over.ts";

searchOver(2_000);

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
		["sick", 1],
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
	assert.equal(chosen(entries, { title: "same" }).keys, ["same"]);
	assert.equal(chosen(entries, {}).facets.title, [["same", 1]]);
});

test("the bounds of a map's view have the pole that is inside it", async () => {
	const [west, south, east, north] = await boundsOf([-5e6, -3e6, 5e6, 6e6], 3978);
	assert.equal([west, Math.floor(south), east, north], [-180, 13, 180, 90]);
	assert.equal((await boundsOf([0, 0, 100_000, 100_000], 3978)).map(Math.round), [-95, 49, -94, 50]);
	assert.equal((await boundsOf([0, 0, 1_000_000, 1_000_000], 3857)).map(Math.round), [0, 0, 9, 9]);
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

test("an exact title comes first however its quotes and spaces are written, and however long it is", () => {
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

test("layers that fit equally come in one order, whichever was read first", () => {
	const entries = ["k3", "k1", "k4", "k2"].map((key) => entry(key, `Energy, layer ${key.slice(1)}`));
	for (const order of [entries, entries.toReversed()]) {
		const matcher = new Matcher();
		matcher.add(order);
		for (const text of ["energy", "https://maps.example.ca/wms"]) {
			const keys = matcher.match(text).ids.map((id) => order[id]?.smallkey);
			assert.equal(keys, ["k1", "k2", "k3", "k4"], text);
		}
	}
});

test("layers are sent to the worker a part at a time, all of them before the text", async () => {
	const posted: (number | string)[] = [];
	class FakeWorker {
		postMessage(message: ToMatcher): void {
			posted.push("add" in message ? message.add.length : message.text);
		}
		addEventListener(): void {}
		terminate(): void {}
	}
	const [own, part] = [globalThis.Worker, Array.from({ length: 600 }, () => entry("k", "K"))];
	globalThis.Worker = FakeWorker as unknown as typeof Worker;
	const search = new TextSearch(new URL("file:///worker.js"));
	for (let at = 0; at < 10; at += 1) search.add(part);
	void search.match("a");
	void search.match("ab");
	const first = posted.length;
	search.add(part.slice(0, 7));
	await eventually(async () => posted.includes("ab"));
	search.close();
	globalThis.Worker = own;
	assert.ok(first >= 1 && first < 10, String(first));
	assert.equal(posted, [...Array.from({ length: 10 }, () => 600), 7, "ab"]);
});

test("after a worker has failed, the next one gets all layers", async () => {
	const workers: { posted: ToMatcher[]; onerror: () => void }[] = [];
	class FakeWorker {
		readonly posted: ToMatcher[] = [];
		onerror = () => {};
		constructor() {
			workers.push(this);
		}
		postMessage(message: ToMatcher): void {
			this.posted.push(message);
		}
		terminate(): void {}
	}
	const own = globalThis.Worker;
	globalThis.Worker = FakeWorker as unknown as typeof Worker;
	const search = new TextSearch(new URL("file:///worker.js"));
	const layers = [entry("k", "K")];
	search.add(layers);
	const failed = search.match("a").catch(() => "failed");
	workers[0]?.onerror();
	assert.is(await failed, "failed");
	void search.match("b");
	await eventually(async () => workers[1]?.posted.length === 2);
	search.close();
	globalThis.Worker = own;
	assert.equal(workers[1]?.posted, [{ add: layers }, { serial: 2, text: "b" }]);
});

test("each row of synonyms has names of one thing that are searched for", () => {
	assert.ok(synonyms.length >= 60, String(synonyms.length));
	for (const names of synonyms) {
		const own = names.map((name) => queryWords(name).map(stem).join(" "));
		assert.ok(own.length >= 2 && !own.includes(""), names.join());
		for (const name of names)
			assert.ok(
				wantedOf(name)[0]?.others.some((other) => own.includes(other)),
				`${name} finds no other name of ${names.join()}`,
			);
	}
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
