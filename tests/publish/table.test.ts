import * as assert from "uvu/assert";
import { joinFragments, type RenderedLayer, renderedIn } from "../../publish/rendered.ts";
import { Table } from "../../publish/table.ts";
import { etagOf } from "../../registry/etag.ts";
import { test } from "../helpers/suite.ts";

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

/** Where each of some texts ends, one after the other. */
function endsOf(smallkey: string): number[] {
	let end = 0;
	return textsOf(smallkey).map((text) => {
		end += Buffer.byteLength(text ?? "");
		return end;
	});
}

/** Layers one after the other, as from a snapshot. */
function together(smallkeys: string[]): Map<string, RenderedLayer> {
	const texts = smallkeys.map((smallkey) => textsOf(smallkey).join(""));
	// Behind others: where the bytes are in their memory counts.
	const bytes = Buffer.from(["others", ...texts].join("")).subarray(6);
	const rows = smallkeys.map((smallkey) => [smallkey, endsOf(smallkey), rankIn(smallkey)] as const);
	return new Map(renderedIn(bytes, rows));
}

/** A layer as it comes from a PUT. */
function alone(smallkey: string): [string, RenderedLayer] {
	return [smallkey, joinFragments(textsOf(smallkey), rankIn(smallkey))];
}

/** That every fragment of a layer is found, each with the tag of its bytes. */
function assertServed(table: Table, smallkey: string): void {
	for (const [slot, { target, lang }] of slots.entries()) {
		const text = textsOf(smallkey)[slot] ?? null;
		const found = table.find(target, lang, smallkey);
		assert.is(found && Buffer.from(found.body).toString(), text);
		if (text !== null) assert.is(found?.etag, etagOf(encoder.encode(text)));
		if (text !== null) assert.is(found?.rank, rankIn(smallkey));
	}
}

test("each fragment has its own bytes and tag, every time, alone or among others", async () => {
	const table = new Table(slots);
	const smallkeys = ["a", "layer", "with-a-longer-key"];
	await table.change(together(smallkeys));
	await table.change(together(["c", "layer-c"]));
	await table.change(new Map([alone("b"), alone("layer-b")]));
	for (const smallkey of [...smallkeys, "b", "c", "layer-b", "layer-c", "layer", "b"])
		assertServed(table, smallkey);
	assert.is(table.find("v2", "en", "a"), null, "a target that is not served");
	assert.is(table.find("v0.9", "en", "none"), null);
	assert.is(table.size, 7);
});

test("a fragment with equal bytes counts as unchanged, and one differing byte as a change", async () => {
	const table = new Table(slots);
	await table.change(together(["a", "b", "c"]));
	const version = table.version();
	assert.equal(await table.change(new Map([alone("b")])), []);
	assert.is(table.version(), version);
	const fragments = textsOf("b");
	const shorter = fragments.map((fragment) => (fragment ?? "").slice(1));
	assert.equal(await table.change(new Map([["b", joinFragments(shorter, rankIn("b"))]])), ["b"]);
	assert.equal(await table.change(new Map([alone("b")])), ["b"]);
	assert.equal(await table.change(new Map([["b", joinFragments(fragments, rankIn("b") + 1)]])), ["b"]);
	assert.equal(await table.change(new Map([alone("b"), ["c", null], ["none", null]])), ["b", "c"]);
	assert.is(table.find("v0.9", "en", "c"), null);
	for (const smallkey of ["a", "b"]) assertServed(table, smallkey);
});

test("the same bytes divided in another way are other fragments", async () => {
	const table = new Table(slots);
	const cut = (...texts: string[]) => joinFragments(texts, 1);
	await table.change(new Map([["a", cut("[1]", "2", "3", "4")]]));
	assert.equal(await table.change(new Map([["a", cut("[1", "]2", "3", "4")]])), ["a"]);
});

test("a layer from a push does not keep the others of its push in memory", () => {
	const [, entry] = alone("a");
	assert.is(entry.bytes.buffer.byteLength, Buffer.byteLength(textsOf("a").join("")));
});

test("while a large change is applied, readers get all of it or nothing", async () => {
	const table = new Table(slots);
	const [, entry] = alone("a");
	const changes = new Map(Array.from({ length: 200_000 }, (_, index) => [`layer-${index}`, entry]));
	const sizes = new Set<number>();
	let isOver = false;
	const changing = table.change(changes).finally(() => {
		isOver = true;
	});
	while (!isOver) {
		sizes.add([...changes.keys()].filter((smallkey) => table.find("v0.9", "en", smallkey)).length);
		await new Promise(setImmediate);
	}
	await changing;
	const others = [...sizes].filter((size) => size !== changes.size);
	assert.equal(others, [0]);
	assert.is(table.size, changes.size);
});

test.run();
