import { test } from "uvu";
import * as assert from "uvu/assert";
import { allocate } from "../../../../api/adapters/node/allocate.ts";

test("no two pieces share a byte, whatever their sizes", () => {
	const lengths = Array.from({ length: 300 }, (_, index) => (index * 7_919) % 20_000);
	const pieces = lengths.map((length, index) => allocate(length).fill(index % 251));
	pieces.forEach((piece, index) => {
		assert.is(piece.length, lengths[index]);
		assert.ok(piece.every((byte) => byte === index % 251));
	});
});

test.run();
