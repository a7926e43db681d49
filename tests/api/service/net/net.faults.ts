import { createServer, type Socket } from "node:net";
import * as assert from "uvu/assert";
import { createFetch } from "../../../../api/service/net/fetch.ts";
import { failureOf } from "../../../extensions/harvest/peer.ts";
import { test } from "../../../helpers/suite.ts";

/** A server that speaks as a test says, HTTP or not. */
async function openRaw(
	speak: (write: (text: string) => void) => void,
): Promise<{ origin: string; close: () => Promise<void> }> {
	const sockets = new Set<Socket>();
	const server = createServer((socket) => {
		sockets.add(socket);
		socket.on("error", () => {});
		socket.once("data", () => speak((text) => !socket.destroyed && socket.write(text)));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const close = async () => {
		for (const socket of sockets) socket.destroy();
		await new Promise((resolve) => server.close(resolve));
	};
	return { origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`, close };
}

test("answers that never come to their body, or dribble it, are cut off", async () => {
	const timers: NodeJS.Timeout[] = [];
	const often = (run: () => void) => timers.push(setInterval(run, 5));
	const speakers: Record<string, (write: (text: string) => void) => void> = {
		"endless headers": (write) => {
			write("HTTP/1.1 200 OK\r\n");
			often(() => write(`X-More: ${"x".repeat(4000)}\r\n`));
		},
		"one header, endless": (write) => {
			write("HTTP/1.1 200 OK\r\nX-More: ");
			often(() => write("x".repeat(4000)));
		},
		"informational answers without end": (write) => often(() => write("HTTP/1.1 103 Early Hints\r\n\r\n")),
		"a body by the byte": (write) => {
			write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
			often(() => write("x"));
		},
		"a chunk of a length beyond all": (write) => {
			write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n");
			often(() => write("x".repeat(4000)));
		},
		"no HTTP": (write) => often(() => write("SSH-2.0-OpenSSH_9.2\r\n".repeat(100))),
		"two lengths": (write) => write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
	};
	for (const [name, speak] of Object.entries(speakers)) {
		const { origin, close } = await openRaw(speak);
		const { reason } = await failureOf(createFetch({ allowPrivate: true, timeoutMs: 500 })(`${origin}/`));
		assert.ok(["time", "network", "size"].includes(reason), `${name}: ${reason}`);
		for (const timer of timers.splice(0)) clearInterval(timer);
		await close();
	}
});

test.run();
