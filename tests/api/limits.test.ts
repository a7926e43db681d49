import * as assert from "uvu/assert";
import { chargeOncePerRequest, Room, TokenBuckets } from "../../api/limits.ts";
import { clientAt } from "../helpers/handlers.ts";
import { test } from "../helpers/suite.ts";

function open(perMinute: number, burst: number) {
	const clock = { ms: 1_000_000 };
	return { clock, buckets: new TokenBuckets({ perMinute, burst }, () => new Date(clock.ms)) };
}

test("a burst is accepted at once, then the set number a minute; a refusal says how long to wait", () => {
	const { clock, buckets } = open(6, 3);
	const waits = () => Array.from({ length: 4 }, () => buckets.address("a"));
	assert.equal(waits(), [0, 0, 0, 10]);
	clock.ms += 9_999;
	assert.is(buckets.address("a"), 1);
	clock.ms += 1;
	assert.equal([buckets.address("a"), buckets.address("a"), buckets.address("b")], [0, 10, 0]);
	clock.ms -= 5_000;
	assert.is(buckets.address("a"), 10, "a clock that is set back refills nothing");
	clock.ms += 3_600_000;
	assert.equal(waits(), [0, 0, 0, 10], "no more than a burst comes together");
});

test("a request that is repeated takes from its sender's allowance once", async () => {
	const { buckets } = open(1, 2);
	for (let count = 0; count < 9; count += 1) assert.is(await buckets.sender("a", "captured"), 0);
	assert.is(await buckets.sender("a", "another"), 0);
	for (let count = 0; count < 2; count += 1) assert.is(await buckets.sender("a", "refused"), 60);
	assert.is(await buckets.sender("a", "captured"), 0);
	assert.is(await buckets.sender("b", "refused"), 0, "each sender has its own");
});

test("a bad signature costs ten writes, and an address recovers from any number of them", () => {
	const { buckets } = open(60, 20);
	for (let count = 0; count < 2; count += 1) {
		assert.is(buckets.address("a"), 0);
		buckets.punish("a");
	}
	assert.is(buckets.address("a"), 1);
	for (let count = 0; count < 1_000; count += 1) buckets.punish("a");
	assert.is(buckets.address("a"), 11);
});

test("what is remembered is bounded: the least recently seen address and the oldest request are forgotten", async () => {
	const { buckets } = open(1, 1);
	buckets.address("first");
	for (const index of Array(19_999).keys()) buckets.address(`a${index}`);
	assert.is(buckets.address("first"), 60);
	for (const index of Array(20_000).keys()) buckets.address(`b${index}`);
	assert.is(buckets.address("first"), 0);
	let taken = 0;
	const take = chargeOncePerRequest(() => {
		taken += 1;
		return 0;
	});
	for (const count of [...Array(40_001).keys(), 40_000, 1, 0]) await take("a", `${count}`);
	assert.is(taken, 40_002);
});

function fill(room: Room, address: string, amount = 1) {
	for (let taken = 0; taken <= room.max; taken += 1) {
		const reason = room.hold(clientAt(address)).take(amount);
		if (reason) return [taken, reason] as const;
	}
	throw new Error("the room is never full");
}

test("one address gets an eighth of a room, a network of 64 bits counts as one, and one of 48 gets a quarter", () => {
	assert.equal(fill(new Room(800), "192.0.2.1"), [100, "client"]);
	const room = new Room(800);
	assert.equal(fill(room, "2001:db8:1:2::1"), [100, "client"]);
	assert.equal(fill(room, "2001:db8:1:2:ffff::1"), [0, "client"]);
	for (let network = 3; network < 20; network += 1) fill(room, `2001:db8:1:${network}::1`);
	assert.is(fill(room, "::1")[0], 600);
});

test("room is left for a newcomer when dozens of addresses hold what they can, and what is given back is free", () => {
	const room = new Room(32 * 1024 * 1024);
	let addresses = 0;
	while (addresses < 100 && fill(room, `10.0.0.${addresses}`, 65_536)[0] > 0) addresses += 1;
	assert.ok(addresses > 30, `${addresses}`);
	assert.is(room.hold(clientAt("192.0.2.1")).take(1_000), null);
	const small = new Room(10);
	const holding = small.hold([]);
	assert.is(holding.take(10), null, "a client of this machine has no share");
	assert.is(small.hold(clientAt("192.0.2.1")).take(1), "all");
	holding.end();
	assert.is(small.hold([]).take(10), null);
});

test.run();
