import * as assert from "uvu/assert";
import { clientOf } from "../../api/node/address.ts";
import { type Client, Room } from "../../api/room.ts";
import { suite } from "../helpers/suite.ts";

const test = suite("room that clients share");

function clientAt(address: string): Client {
	return clientOf({ socket: { remoteAddress: address }, headers: {} } as never, []).shares;
}

/** Takes single pieces for a client until it is refused. @returns their number, and why there was no more */
function fill(room: Room, address: string) {
	for (let taken = 0; ; taken += 1) {
		const why = room.hold(clientAt(address)).take(1);
		if (why) return [taken, why];
	}
}

test("one address gets an eighth, and a network of 64 bits counts as one address", () => {
	assert.equal(fill(new Room(800), "192.0.2.1"), [100, "client"]);
	const room = new Room(800);
	assert.equal(fill(room, "2001:db8:1:2::1"), [100, "client"]);
	assert.equal(fill(room, "2001:db8:1:2:ffff::1"), [0, "client"]);
});

test("all networks of a site, 48 bits, get a quarter together", () => {
	const room = new Room(800);
	for (let network = 1; network < 20; network += 1) fill(room, `2001:db8:1:${network}::1`);
	assert.ok(room.hold(clientAt("2001:db8:1:ff::1")).take(1));
	const held = 800 - (fill(room, "::1")[0] as number);
	assert.is(held, 200);
});

test("room is left for a newcomer when dozens of addresses hold what they can", () => {
	const room = new Room(32 * 1024 * 1024);
	const body = 65_536;
	let addresses = 0;
	for (; addresses < 100; addresses += 1) {
		const client = clientAt(`10.0.0.${addresses}`);
		let taken = 0;
		while (room.hold(client).take(body) === null) taken += 1;
		if (taken === 0) break;
	}
	assert.ok(addresses > 30, `${addresses}`);
	assert.is(room.hold(clientAt("192.0.2.1")).take(1_000), null, "and for a small body even then");
});

test("what is given back is free again, and a client without a limit is refused only when there is none", () => {
	const room = new Room(10);
	const own = room.hold([]);
	assert.is(own.take(10), null);
	assert.is(room.hold([]).take(1), "all");
	assert.is(room.hold(clientAt("192.0.2.1")).take(1), "all");
	own.end();
	assert.is(room.hold([]).take(10), null);
});

test.run();
