import { once } from "node:events";
import { connect, type Socket } from "node:net";
import * as assert from "uvu/assert";
import { freshSuite } from "../helpers/world.ts";
import { World } from "./world.ts";

const count = 5_000;

const test = freshSuite("connections", async (use) => ({ world: use(await World.started()) }));

async function open(port: number, bytes: string) {
	const sockets: Socket[] = [];
	for (let index = 0; index < count; index += 100) {
		const hundred = Array.from({ length: 100 }, () => connect(port, "127.0.0.1"));
		for (const socket of hundred) socket.write(bytes);
		await Promise.all(hundred.map((socket) => once(socket, "connect")));
		sockets.push(...hundred);
	}
	return sockets;
}

for (const [fault, bytes] of [
	["5,000 silent connections", ""],
	["5,000 requests that never end", "GET /v0.9/doc/en/one HTTP/1.1\r\nHost: h\r\nX-Slow: "],
] as const) {
	test(fault, async ({ world }) => {
		const sockets = await open(world.server.port, bytes);
		const [reader, publisher] = [await world.readAll(), await world.put("three")];
		for (const socket of sockets) socket.on("error", () => undefined);
		// All of them are cut off by the server.
		await Promise.all(sockets.map((socket) => socket.destroyed || once(socket.resume(), "close")));
		assert.is(await world.readAll(), reader);
		await world.note("connections", fault, { reader, publisher });
	});
}

test.run();
