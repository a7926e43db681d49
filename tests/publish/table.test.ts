import { test } from "uvu";
import * as assert from "uvu/assert";
import { etagOf, textOf } from "../../api/etag.ts";
import { bytesOf, type Entry, entriesIn, entryOf, lengthsOf, rankOf } from "../../publish/entry.ts";
import { Table } from "../../publish/table.ts";

const slots = (["v0.9", "v1"] as const).flatMap((target) =>
	(["en", "fr"] as const).map((lang) => ({ target, lang })),
);
const encoder = new TextEncoder();

/** The fragments of a layer, that of French in v1 missing. */
function textsOf(smallkey: string): (string | null)[] {
	return slots.map(({ target, lang }) =>
		target === "v1" && lang === "fr"
			? null
			: `{"${smallkey}":"${target} ${lang} ${"é".repeat(smallkey.length)}"}`,
	);
}

function rankIn(smallkey: string): number {
	return smallkey.length % 3;
}

/** Layers as they come from a push: all in one run of bytes. */
function together(smallkeys: string[]): Map<string, Entry> {
	const fragments = smallkeys.map((smallkey) => textsOf(smallkey).map((text) => encoder.encode(text ?? "")));
	const lengths = fragments.map((layer) => layer.map(({ length }) => length));
	// Behind others: where the bytes are in their memory counts.
	const bytes = Buffer.concat([Buffer.from("others"), ...fragments.flat()]).subarray(6);
	return new Map(
		entriesIn(
			bytes,
			smallkeys.map((smallkey, at) => [smallkey, lengths[at] as number[], rankIn(smallkey)]),
		),
	);
}

/** A layer as it comes from a PUT. */
function alone(smallkey: string): [string, Entry] {
	const fragments = textsOf(smallkey).map((text) => (text === null ? null : encoder.encode(text)));
	return [smallkey, entryOf(fragments, rankIn(smallkey))];
}

/** That every fragment of a layer is found, each with the tag of its bytes. */
function assertServed(table: Table, smallkey: string): void {
	for (const [slot, { target, lang }] of slots.entries()) {
		const text = textsOf(smallkey)[slot] ?? null;
		const found = table.find(target, lang, smallkey);
		assert.is(found && Buffer.from(found.body).toString(), text);
		if (text !== null) assert.is(textOf(found?.etag ?? ""), etagOf(encoder.encode(text)));
		if (text !== null) assert.is(found?.rank, rankIn(smallkey));
	}
}

test("each fragment has its own bytes and tag, every time, alone or among others", async () => {
	const table = new Table(slots);
	const smallkeys = ["a", "layer", "with-a-longer-key"];
	await table.change(together(smallkeys));
	await table.change(new Map([alone("b"), alone("layer-b")]));
	for (const smallkey of [...smallkeys, "b", "layer-b", "layer", "b"]) assertServed(table, smallkey);
	assert.is(table.find("v2", "en", "a"), null, "a target that is not served");
	assert.is(table.find("v0.9", "en", "none"), null);
	assert.is(table.size, 5);
});

test("a layer that is the same in other bytes is no change, and one byte is", async () => {
	const table = new Table(slots);
	await table.change(together(["a", "b", "c"]));
	const version = table.version();
	assert.equal(await table.change(new Map([alone("b")])), []);
	assert.is(table.version(), version);
	const fragments = textsOf("b").map((text) => encoder.encode(text ?? ""));
	const shorter = fragments.map((fragment) => fragment.subarray(1));
	assert.equal(await table.change(new Map([["b", entryOf(shorter, rankIn("b"))]])), ["b"]);
	assert.equal(await table.change(new Map([alone("b")])), ["b"]);
	assert.equal(await table.change(new Map([["b", entryOf(fragments, rankIn("b") + 1)]])), ["b"]);
	assert.equal(await table.change(new Map([alone("b"), ["c", null], ["none", null]])), ["b", "c"]);
	assert.is(table.find("v0.9", "en", "c"), null);
	for (const smallkey of ["a", "b"]) assertServed(table, smallkey);
});

test("the same bytes, cut otherwise, are other fragments", async () => {
	const table = new Table(slots);
	const cut = (...texts: string[]) =>
		entryOf(
			texts.map((text) => encoder.encode(text)),
			1,
		);
	await table.change(new Map([["a", cut("[1]", "2", "3", "4")]]));
	assert.equal(await table.change(new Map([["a", cut("[1", "]2", "3", "4")]])), ["a"]);
});

test("what is kept of an entry makes the same entry again", () => {
	const smallkeys = ["a", "longer", "b"];
	for (const [smallkey, entry] of together(smallkeys)) {
		const again = new Map(entriesIn(bytesOf(entry), [[smallkey, lengthsOf(entry), rankOf(entry)]])).get(
			smallkey,
		) as Entry;
		assert.is(Buffer.compare(bytesOf(again), bytesOf(entry)), 0);
		assert.equal(lengthsOf(again), lengthsOf(entry));
		assert.is(rankOf(again), rankIn(smallkey));
		assert.is(Buffer.from(bytesOf(entry)).toString(), textsOf(smallkey).join(""));
	}
});

test("layers whose neighbours went keep their fragments, in less memory", async () => {
	const table = new Table(slots);
	const many = Array.from({ length: 300 }, (_, at) => `k${at}`);
	const large = many.map((smallkey): [string, Entry] => {
		return [smallkey, entryOf([encoder.encode(smallkey.padEnd(100_000, "x")), null, null, null], 2)];
	});
	const bytes = Buffer.concat(large.map(([, entry]) => bytesOf(entry)));
	const lengths = large.map(([smallkey, entry]) => [smallkey, lengthsOf(entry), 2] as const);
	await table.change(new Map(entriesIn(bytes, lengths)));
	await table.change(new Map(many.slice(10).map((smallkey) => [smallkey, null])));
	for (const smallkey of many.slice(0, 10)) {
		const { body, rank } = table.find("v0.9", "en", smallkey) ?? {};
		assert.is(rank, 2);
		assert.is(Buffer.from(body ?? []).toString(), smallkey.padEnd(100_000, "x"));
		assert.is(body?.buffer.byteLength, 100_000, "the bytes of the others are given back");
	}
});

test.run();
