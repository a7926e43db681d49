import * as assert from "uvu/assert";
import { createHostQueue } from "../../../service/harvester/schedule.ts";
import { test } from "../../helpers/suite.ts";

/** A queue whose work ends when the test says so; `begun` lists the smallkeys in the order of their turns. */
function stepwise(width: number) {
	const begun: string[] = [];
	const ends = new Map<string, () => void>();
	const queue = createHostQueue(width, (smallkey) => {
		begun.push(smallkey);
		return new Promise((resolve) => ends.set(smallkey, resolve));
	});
	const end = async (smallkey: string) => {
		ends.get(smallkey)?.();
		ends.delete(smallkey);
		await new Promise((resolve) => setImmediate(resolve));
	};
	return { queue, begun, end };
}

test("hosts take turns, one smallkey at a time each, and only so many at once", async () => {
	const { queue, begun, end } = stepwise(2);
	for (const smallkey of ["a1", "a2", "a3", "b1", "c1"]) queue.add(smallkey, smallkey[0] ?? "", false);
	assert.equal(begun, ["a1", "b1"]);
	await end("a1");
	assert.equal(begun, ["a1", "b1", "a2"], "in the order of arrival");
	await end("a2");
	assert.equal(begun, ["a1", "b1", "a2", "c1"], "the host with many has gone to the end");
	await end("c1");
	assert.equal(begun, ["a1", "b1", "a2", "c1", "a3"]);
	assert.is(queue.size, 2);
});

test("an urgent key goes first, and a key that is queued twice is harvested once", async () => {
	const { queue, begun, end } = stepwise(1);
	for (const smallkey of ["a1", "a2", "b1"]) queue.add(smallkey, smallkey[0] ?? "", false);
	queue.add("b1", "b", true);
	queue.add("b1", "b", false);
	queue.add("a2", "a", false);
	assert.is(queue.size, 3);
	for (const smallkey of ["a1", "b1", "a2"]) await end(smallkey);
	assert.equal(begun, ["a1", "b1", "a2"]);
	assert.is(queue.size, 0);
});

test("a key under way can be queued again, for a change made meanwhile", async () => {
	const { queue, begun, end } = stepwise(4);
	queue.add("a1", "a", true);
	queue.add("a1", "a", true);
	assert.equal(begun, ["a1"]);
	await end("a1");
	assert.equal(begun, ["a1", "a1"]);
});

test("clearing forgets what waits, and idle waits for what is under way", async () => {
	const { queue, begun, end } = stepwise(1);
	await queue.idle();
	for (const smallkey of ["a1", "a2"]) queue.add(smallkey, "a", false);
	queue.clear();
	let isIdle = false;
	const idle = queue.idle().then(() => {
		isIdle = true;
	});
	await new Promise((resolve) => setImmediate(resolve));
	assert.not(isIdle);
	await end("a1");
	await idle;
	assert.equal(begun, ["a1"]);
});

test("a large batch of one host costs no more for each of its layers", () => {
	// Work for each layer that read the whole queue would take minutes here.
	const { queue, begun } = stepwise(4);
	for (let index = 0; index < 200_000; index += 1) queue.add(`layer-${index}`, "one.example", false);
	assert.is(queue.size, 200_000);
	assert.is(begun.length, 1);
});

test.run();
