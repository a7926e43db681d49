import * as assert from "uvu/assert";
import { onceEach, TokenBuckets } from "../../api/limits.ts";
import { test } from "../helpers/suite.ts";

test("a burst is accepted at once, then the set number a minute; a refusal says how long to wait", () => {
	let time = 0;
	const buckets = new TokenBuckets({ perMinute: 6, burst: 3, bytesPerDay: 1_000_000 }, () => new Date(time));
	const waits = () => Array.from({ length: 4 }, () => buckets.address("a"));
	assert.equal(waits(), [0, 0, 0, 10]);
	time += 9_999;
	assert.is(buckets.address("a"), 1);
	time += 1;
	assert.is(buckets.address("a"), 0);
	assert.is(buckets.address("a"), 10);
	time += 3_600_000;
	assert.equal(waits(), [0, 0, 0, 10], "no more than a burst comes together");
});

test("each address and each sender has an allowance of its own", async () => {
	const buckets = new TokenBuckets({ perMinute: 1, burst: 1, bytesPerDay: 1_000_000 }, () => new Date(0));
	assert.is(buckets.address("a"), 0);
	assert.is(buckets.address("a"), 60);
	assert.is(buckets.address("b"), 0);
	assert.is(await buckets.sender("a", "one"), 0);
	assert.is(await buckets.sender("a", "two"), 60);
});

test("a request that is repeated takes from its sender's allowance once", async () => {
	const buckets = new TokenBuckets({ perMinute: 1, burst: 2, bytesPerDay: 1_000_000 }, () => new Date(0));
	for (let count = 0; count < 100; count += 1) assert.is(await buckets.sender("a", "captured"), 0);
	assert.is(await buckets.sender("a", "another"), 0);
	assert.is(await buckets.sender("a", "refused"), 60);
	assert.is(await buckets.sender("a", "refused"), 60, "what was refused is not known");
	assert.is(await buckets.sender("a", "captured"), 0);
});

test("the requests that are remembered are bounded: the oldest is forgotten", async () => {
	let taken = 0;
	const take = onceEach(() => {
		taken += 1;
		return 0;
	});
	for (const count of [...Array(40_001).keys(), 40_000, 1, 0]) await take("a", `${count}`);
	assert.is(taken, 40_002);
});

test("a bad signature costs ten writes, and an address recovers from any number of them", () => {
	const buckets = new TokenBuckets({ perMinute: 60, burst: 20, bytesPerDay: 1_000_000 }, () => new Date(0));
	for (let count = 0; count < 2; count += 1) {
		assert.is(buckets.address("a"), 0);
		buckets.punish("a");
	}
	assert.is(buckets.address("a"), 1);
	for (let count = 0; count < 1_000; count += 1) buckets.punish("a");
	assert.is(buckets.address("a"), 11);
});

test("a clock that is set back changes no allowance", () => {
	let time = 1_000_000;
	const buckets = new TokenBuckets({ perMinute: 60, burst: 1, bytesPerDay: 1_000_000 }, () => new Date(time));
	assert.is(buckets.address("a"), 0);
	time -= 500_000;
	assert.is(buckets.address("a"), 1);
	time += 1_000;
	assert.is(buckets.address("a"), 0);
});

test("the addresses that are remembered are bounded: the least recently seen one is forgotten", () => {
	const buckets = new TokenBuckets({ perMinute: 1, burst: 1, bytesPerDay: 1_000_000 }, () => new Date(0));
	buckets.address("first");
	for (let index = 0; index < 19_999; index += 1) buckets.address(`a${index}`);
	assert.is(buckets.address("first"), 60);
	for (let index = 0; index < 20_000; index += 1) buckets.address(`b${index}`);
	assert.is(buckets.address("first"), 0);
});

test.run();
