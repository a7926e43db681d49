import { test } from "uvu";
import * as assert from "uvu/assert";
import { Slabs } from "../../../api/node/slabs.ts";

test("no two pieces share a byte, whatever their sizes", () => {
	const { allocate } = new Slabs();
	const lengths = Array.from({ length: 300 }, (_, index) => (index * 7_919) % 80_000);
	const pieces = lengths.map((length, index) => allocate(length).fill(index % 251));
	pieces.forEach((piece, index) => {
		assert.is(piece.length, lengths[index]);
		assert.ok(piece.every((byte) => byte === index % 251));
	});
});

test("what is given back is the next piece's room, and nothing else is", () => {
	const slabs = new Slabs();
	const { allocate } = slabs;
	const kept = allocate(100).fill(1);
	const last = allocate(1_000);
	slabs.giveBack(last);
	const next = allocate(500).fill(2);
	assert.is(next.buffer, last.buffer);
	assert.is(next.byteOffset, last.byteOffset);
	// Neither the last piece nor one at all.
	slabs.giveBack(kept);
	slabs.giveBack(new Uint8Array(100));
	slabs.giveBack(last);
	slabs.giveBack(allocate(100_000));
	allocate(2_000).fill(3);
	assert.ok(kept.every((byte) => byte === 1));
	assert.ok(next.every((byte) => byte === 2));
});

test.run();
