import { test } from "uvu";
import * as assert from "uvu/assert";
import { makeTurns, type Release } from "../../../api/stores/github/turns.ts";

/** A clock that stands unless a test moves it. */
function clock() {
	let time = 0;
	return {
		now: () => new Date(time),
		pass: (ms: number) => {
			time += ms;
		},
	};
}

/** Long enough for whatever a test waits for. */
const patient = 60_000;

test("turns are given one at a time, in the order of the asking", async () => {
	const turns = makeTurns(clock().now, 1_000);
	const order: number[] = [];
	let inside = 0;
	const work = async (number: number) => {
		const release = (await turns.take(patient)) as Release;
		inside += 1;
		assert.is(inside, 1);
		await Promise.resolve();
		order.push(number);
		inside -= 1;
		release();
	};
	await Promise.all([1, 2, 3, 4, 5].map(work));
	assert.equal(order, [1, 2, 3, 4, 5]);
});

test("who has waited long enough leaves the queue, and those behind move up", async () => {
	const turns = makeTurns(clock().now, 1_000);
	const release = (await turns.take(patient)) as Release;
	const impatient = turns.take(1);
	const behind = turns.take(patient);
	assert.is(await impatient, null);
	release();
	assert.type(await behind, "function");
});

test("a turn that is never given back ends by itself, and giving it back late ends nobody else's", async () => {
	const { now, pass } = clock();
	const turns = makeTurns(now, 1_000);
	const lost = (await turns.take(patient)) as Release;
	assert.is(await turns.take(1), null);
	pass(1_001);
	const next = (await turns.take(1)) as Release;
	assert.type(next, "function");
	lost();
	assert.is(await turns.take(1), null);
	next();
	assert.type(await turns.take(1), "function");
});

test.run();
