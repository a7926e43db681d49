import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { PacedQueue } from "../../../api/node/paced-queue.ts";

test("so many pieces are done in one turn, in their order, and others get a turn between", async () => {
	const queue = new PacedQueue(3);
	const done: number[] = [];
	for (let piece = 0; piece < 8; piece += 1) queue.add(() => done.push(piece));
	assert.equal(done, [], "nothing is done at once");
	const lengths: number[] = [];
	while (done.length < 8) {
		await nextTurn();
		lengths.push(done.length);
	}
	assert.equal(done, [0, 1, 2, 3, 4, 5, 6, 7]);
	assert.equal(lengths.filter((length, index) => length !== lengths[index - 1]).slice(-3), [3, 6, 8]);
});

test("a piece that is added by a piece, or once all are done, has its turn, too", async () => {
	const queue = new PacedQueue(1);
	const done: string[] = [];
	queue.add(() => {
		done.push("first");
		queue.add(() => done.push("third"));
	});
	queue.add(() => done.push("second"));
	while (done.length < 3) await nextTurn();
	assert.equal(done, ["first", "second", "third"]);
	await queue.turn();
	await queue.turn();
});

test("what waits is bounded: a piece beyond is done at once", async () => {
	const queue = new PacedQueue(1_000);
	let done = 0;
	const count = () => {
		done += 1;
	};
	for (let piece = 0; piece < 5_000; piece += 1) queue.add(count);
	assert.is(done, 0);
	queue.add(count);
	assert.is(done, 1);
	await nextTurn();
	while (done < 5_001) await nextTurn();
});

test.run();
