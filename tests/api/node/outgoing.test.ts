import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Outgoing } from "../../../api/node/outgoing.ts";
import { Slabs } from "../../../api/node/slabs.ts";

/** Answers of one turn, and what was written of them. */
function start() {
	const slabs = new Slabs();
	const outgoing = new Outgoing(slabs);
	const written: number[] = [];
	const add = (answer: number, bytes = 100, body: Uint8Array | null = null) =>
		outgoing.add(bytes, () => {
			written.push(answer);
			return body;
		});
	return { slabs, add, written };
}

test("answers are written in their order, all of them at the end of a turn, and so in the next turn", async () => {
	const { add, written } = start();
	for (const answer of [1, 2, 3]) add(answer);
	assert.equal(written, [], "nothing is written while others are found");
	await nextTurn();
	assert.equal(written, [1, 2, 3]);
	await nextTurn();
	add(4);
	await nextTurn();
	assert.equal(written, [1, 2, 3, 4]);
});

test("64 answers, or many bytes, do not wait for the end of their turn, and none is written twice", async () => {
	const { add, written } = start();
	for (let answer = 1; answer <= 65; answer += 1) add(answer);
	assert.is(written.length, 64);
	add(66, 200_000);
	assert.is(written.length, 66);
	add(67);
	assert.is(written.length, 66, "what was written is counted no more");
	await nextTurn();
	assert.equal(
		written,
		Array.from({ length: 67 }, (_, index) => index + 1),
	);
});

test("the room of bodies that were written whole is the next ones', and that of another is not", async () => {
	const { slabs, add } = start();
	const bodies = [1, 2, 3].map(() => slabs.allocate(1_000));
	bodies.forEach((body, index) => {
		add(index, body.length, body);
	});
	const [first] = bodies as [Uint8Array];
	await nextTurn();
	const next = slabs.allocate(500);
	assert.is(next.buffer, first.buffer);
	assert.is(next.byteOffset, first.byteOffset);
	add(4, 500, next);
	const unread = slabs.allocate(700).fill(7);
	add(5, 700, null);
	await nextTurn();
	slabs.allocate(60_000).fill(1);
	assert.ok(unread.every((byte) => byte === 7));
});

test.run();
