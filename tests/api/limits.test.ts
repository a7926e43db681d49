import * as assert from "uvu/assert";
import { createWriteLimit, Room } from "../../api/limits.ts";
import { clientAt } from "../helpers/handlers.ts";
import { test } from "../helpers/suite.ts";

test("an address has its writes in each window of five minutes; a refusal says how long to wait", () => {
	let nowMs = 0;
	const limit = createWriteLimit(1, () => nowMs);
	const waits = (address: string) => Array.from({ length: 6 }, () => limit(address));
	assert.equal(waits("a"), [0, 0, 0, 0, 0, 300]);
	assert.is(limit("b"), 0);
	nowMs = 299_999;
	assert.is(limit("a"), 1);
	nowMs = 300_000;
	assert.equal(waits("a"), [0, 0, 0, 0, 0, 300]);
	for (let index = 0; index < 100_000; index += 1) limit(`address ${index}`);
	assert.is(limit("a"), 0, "the number of addresses is bounded");
});

/** @returns what it could take */
function fill(room: Room, address: string, amount = 1) {
	let taken = 0;
	while (room.hold(clientAt(address)).take(amount)) taken += amount;
	return taken;
}

test("one address gets an eighth of a room, a network of 64 bits counts as one, and one of 48 gets a quarter", () => {
	assert.is(fill(new Room(800), "192.0.2.1"), 100);
	const room = new Room(800);
	assert.is(fill(room, "2001:db8:1:2::1"), 100);
	assert.is(fill(room, "2001:db8:1:2:ffff::1"), 0);
	for (let network = 3; network < 20; network += 1) fill(room, `2001:db8:1:${network}::1`);
	assert.is(fill(room, "::1"), 600);
});

test("room is left for a newcomer when dozens of addresses hold what they can, and what is given back is free", () => {
	const room = new Room(32 * 1024 * 1024);
	let addresses = 0;
	while (addresses < 100 && fill(room, `10.0.0.${addresses}`, 65_536) > 0) addresses += 1;
	assert.ok(addresses > 30, `${addresses}`);
	assert.is(room.hold(clientAt("192.0.2.1")).take(1_000), true);
	const small = new Room(10);
	const holding = small.hold([]);
	assert.ok(holding.take(10), "a client of this machine has no share");
	assert.is(small.hold(clientAt("192.0.2.1")).take(1), false);
	holding.end();
	assert.is(small.hold([]).take(10), true);
});

test.run();
