import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { generateEntries } from "../../../bench/entries.ts";
import { randomFrom } from "../../../bench/layers.ts";
import { type Entry, nameOf } from "../../../registry/index/entry.ts";
import { buildIndex, indexPath } from "../../../registry/index/index.ts";
import { names } from "../../../registry/index/kinds.ts";
import type { Box } from "../../../registry/index/place.ts";
import { type Files, shapePath } from "../../../registry/index/set.ts";
import { terms } from "../../../registry/index/terms.ts";
import { findLayer } from "../../../site/catalogue/find-layer.ts";
import { Pieces } from "../../../site/catalogue/pieces.ts";
import { type Query, rank } from "../../../site/catalogue/query.ts";
import { search } from "../../../site/catalogue/search.ts";

const nothing: Query = { text: "", type: "", host: "", sender: "", health: "", oneTitle: false, view: null };

const many = [...generateEntries(4_000)];
const manyFiles = buildIndex(many);

/** Entries with these titles, the smallkeys a, b, c and so on. */
function titled(...titles: [string, string][]): Entry[] {
	return titles.map(([en, fr], at) => ({
		smallkey: `key-${String.fromCharCode(97 + at)}`,
		type: "wms",
		title: { en, fr },
		host: { en: "maps.example.ca", fr: "maps.example.ca" },
		fragments: {},
	}));
}

function open(files: Files, read: string[] = []): Pieces {
	return new Pieces(async (path) => {
		read.push(path);
		return files.get(path) ?? null;
	});
}

async function keysOf(files: Files, query: Partial<Query>, want = 10): Promise<string[]> {
	const { hits } = await search(open(files), { ...nothing, ...query }, want);
	return hits.map(({ smallkey }) => smallkey);
}

const searching = suite("search");

searching("finds accents folded, in both languages, by the beginnings of words", async () => {
	const files = buildIndex(
		titled(["Schools", "Écoles du Québec"], ["Roads", "Chemins"], ["Œuvres d'art", "L’eau & the <b>sea</b>"]),
	);
	for (const text of ["ecole", "ÉCOLES quebec", "queb scho", "ecoles du"])
		assert.equal(await keysOf(files, { text }), ["key-a"], text);
	assert.equal(await keysOf(files, { text: "oeuv" }), ["key-c"]);
	assert.equal(await keysOf(files, { text: "<b>sea</b>" }), ["key-c"]);
	assert.equal(await keysOf(files, { text: "sea" }), ["key-c"]);
	assert.equal(await keysOf(files, { text: "roads schools" }), []);
});

searching(
	"puts the very smallkey first, then titles that begin so, then whole words, then the rest",
	async () => {
		const entries = titled(
			["The rail", "x"],
			["Railways", "x"],
			["Old railways", "x"],
			["Rail network", "x"],
			["y", "y"],
		);
		(entries[4] as Entry).smallkey = "RAIL";
		(entries[1] as Entry).smallkey = "rail-2";
		assert.equal(await keysOf(buildIndex(entries), { text: "rail" }), [
			"RAIL",
			"key-d",
			"rail-2",
			"key-a",
			"key-c",
		]);
	},
);

searching("finds exactly what looking at every layer finds, whatever is combined", async () => {
	const random = randomFrom(5);
	const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
	for (let at = 0; at < 60; at += 1) {
		const one = pick(many);
		const words = `${one.title.en} ${one.title.fr}`.split(" ");
		const text =
			random() < 0.2 ? "" : `${pick(words)} ${random() < 0.5 ? pick(words) : ""}`.slice(0, 3 + at / 4);
		const query: Query = {
			...nothing,
			text,
			type: random() < 0.3 ? one.type : "",
			host: random() < 0.2 ? one.host.en : "",
			sender: random() < 0.2 ? (one.sender ?? "") : "",
			health: random() < 0.1 ? "down" : "",
			view:
				random() < 0.15
					? pick<Box>([
							[0, 0, 3e5, 3e5],
							[-4e6, -4e6, 4e6, 5e6],
							[2e6, 1e6, 2.1e6, 1.1e6],
						])
					: null,
		};
		const expected = many
			.filter((entry) => rank(query, nameOf(entry)) !== null)
			.map(({ smallkey }) => smallkey);
		const { hits, isComplete } = await search(open(manyFiles), query, many.length + 1);
		assert.equal(hits.map(({ smallkey }) => smallkey).sort(), expected.sort(), JSON.stringify(query));
		assert.ok(isComplete, JSON.stringify(query));
		const few = await search(open(manyFiles), query, 10);
		if (expected.length > 0) assert.ok(few.hits.length > 0, JSON.stringify(query));
		if (few.isComplete) assert.is(few.hits.length, expected.length, JSON.stringify(query));
	}
});

searching("reads at most 50 kB for 95 of 100 searches", async () => {
	const random = randomFrom(11);
	const sizes: number[] = [];
	for (let at = 0; at < 100; at += 1) {
		const { title } = many[Math.floor(random() * many.length)] as Entry;
		const words = (random() < 0.5 ? title.en : title.fr)
			.split(/[^\p{L}\p{N}]+/u)
			.filter((word) => word.length > 2);
		const read: string[] = [];
		await search(open(manyFiles, read), { ...nothing, text: words.slice(0, 2).join(" ") }, 10);
		sizes.push(read.reduce((sum, path) => sum + gzipSync(manyFiles.get(path) ?? "").length, 0));
	}
	const sorted = sizes.sort((a, b) => a - b);
	assert.ok((sorted[94] as number) <= 50_000, String(sorted[94]));
});

searching("odd texts find nothing and break nothing", async () => {
	const odd = [
		"x".repeat(10_000),
		"(.*)+[",
		"<script>alert(1)</script>",
		"\u202eabc\u0000",
		"مرحبا بالعالم",
		"=type:wms",
		"   ",
		"…",
	];
	for (const text of odd) {
		const { problems } = await search(open(manyFiles), { ...nothing, text }, 10);
		assert.equal(problems, [], text);
	}
	assert.equal(await keysOf(manyFiles, { text: "=type:wms" }), []);
	const files = buildIndex(titled(["مرحبا بالعالم", "ᐃᓄᒃᑎᑐᑦ"], ["北京地图", "Карта"]));
	assert.equal(await keysOf(files, { text: "مرح" }), ["key-a"]);
	assert.equal(await keysOf(files, { text: "ᐃᓄ" }), ["key-a"]);
	assert.equal(await keysOf(files, { text: "карт" }), ["key-b"]);
});

searching("says which part is missing, cut or of another version, and shows what it has", async () => {
	const files = new Map(manyFiles);
	const piece = [...files.keys()].find((path) => path.startsWith("index/names/")) as string;
	for (const wrong of [null, "", '{"version":2,"names":[', '{"version":2,"names":[7]}', '{"version":2}']) {
		files.set(piece, wrong);
		const { hits, problems, isComplete } = await search(open(files), nothing, 300);
		assert.equal(problems, [{ kind: "piece", path: piece }], String(wrong));
		assert.not.ok(isComplete);
		assert.is(hits.length, 300);
	}
	files.set(shapePath(terms), '{"version":3}');
	const { problems } = await search(open(files), { ...nothing, text: "water quality" }, 10);
	assert.equal(problems, [{ kind: "version" }]);
	const gone = new Pieces(() => Promise.reject(new TypeError("Failed to fetch")));
	assert.equal((await search(gone, { ...nothing, text: "water quality" }, 10)).problems, [
		{ kind: "network", path: shapePath(terms) },
	]);
	const unnamed = new Map(manyFiles).set(shapePath(names), null);
	for (const text of ["water quality", "key-0000", (many[3] as Entry).smallkey]) {
		const found = await search(open(unnamed), { ...nothing, text }, 10);
		assert.equal(found, {
			hits: [],
			isComplete: false,
			problems: [{ kind: "piece", path: shapePath(names) }],
		});
	}
	files.set(indexPath, '{"version":3,"layers":1}');
	await open(files)
		.count()
		.then(
			() => assert.unreachable(),
			(error) => assert.equal(error.problem, { kind: "version" }),
		);
});

searching("what was read once is not read again, until the index is renewed", async () => {
	const read: string[] = [];
	const pieces = open(manyFiles, read);
	await search(pieces, { ...nothing, text: "water" }, 10);
	const once = read.length;
	await search(pieces, { ...nothing, text: "water" }, 10);
	assert.is(read.length, once);
	pieces.renew();
	await search(pieces, { ...nothing, text: "water" }, 10);
	assert.is(read.length, 2 * once);
});

searching("everything of one layer is in two pieces", async () => {
	const read: string[] = [];
	const pieces = open(manyFiles, read);
	const one = many[99] as Entry;
	assert.equal(await findLayer(pieces, one.smallkey), JSON.parse(JSON.stringify(one)));
	assert.is(read.filter((path) => path.split("/").length === 3).length, 2);
	assert.is(await findLayer(pieces, "not-there"), null);
});

searching.run();
