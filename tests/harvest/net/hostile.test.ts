import type { LookupAddress } from "node:dns";
import { createServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { createLookup, type Resolve } from "../../../harvest/net/addresses.ts";
import { createAsk } from "../../../harvest/net/ask.ts";
import type { FetchFailure } from "../../../harvest/net/failure.ts";
import { createFetch } from "../../../harvest/net/fetch.ts";
import { test } from "../../helpers/suite.ts";
import { failureOf, json, Peer, status } from "../peer.ts";

let peer: Peer;
test.before.each(async () => {
	peer = await Peer.open();
});
test.after.each(() => peer.close());

/** A resolver whose answer to each further question is another one; it counts the questions. */
function changing(...answers: string[]): { resolve: Resolve; questions: () => number } {
	let asked = 0;
	return {
		resolve: (_host, _options, done) => {
			const address = answers[Math.min(asked, answers.length - 1)] ?? "";
			asked += 1;
			done(null, [{ address, family: 4 }]);
		},
		questions: () => asked,
	};
}

test("a name that changes its address: what was checked is what is connected to", async () => {
	const { resolve, questions } = changing("192.88.99.1", "8.8.8.8", "127.0.0.1");
	const lookup = createLookup(resolve);
	const look = () =>
		new Promise<LookupAddress[] | Error>((done) => {
			lookup("map.example", { all: true }, (error, found) => done(error ?? (found as LookupAddress[])));
		});
	assert.is(((await look()) as FetchFailure).reason, "address", "a reserved one");
	assert.equal(await look(), [{ address: "8.8.8.8", family: 4 }]);
	assert.is(((await look()) as FetchFailure).reason, "address");
	assert.is(questions(), 3, "no second question between the check and the connection");
});

test("a name that points into the machine at its second request is refused then", async () => {
	const { resolve } = changing("8.8.8.8", "127.0.0.1");
	const fetch = createFetch({ resolve, timeoutMs: 300 });
	const address = `http://map.example:${peer.port}/`;
	// The first address is of the public internet: no host answers there in time.
	assert.is.not((await failureOf(fetch(address))).reason, "address");
	assert.is((await failureOf(fetch(address))).reason, "address");
	assert.equal(peer.asked, []);
});

test("redirects in a circle, or to this machine by a name, end with a refusal", async () => {
	const fetch = createFetch({ allowPrivate: true });
	peer.on("/to", status(302, { Location: "/fro" }));
	peer.on("/fro", status(302, { Location: "/to" }));
	assert.is((await failureOf(fetch(`${peer.origin}/to`))).reason, "redirect");
	assert.is(peer.asked.length, 4);
	peer.on("/body", (_request, response) => {
		response.writeHead(302, { Location: "/end" });
		const more = () => {
			while (!response.destroyed && response.write("x".repeat(65_536)));
		};
		response.on("drain", more);
		more();
	});
	peer.on("/end", json("here"));
	assert.is(
		await (await fetch(`${peer.origin}/body`)).json(),
		"here",
		"an endless body of a redirect is not read",
	);
});

test("bombs in every coding, one in the other too, are cut off at the limit, and take no memory", async () => {
	const zeros = Buffer.alloc(300_000_000);
	const bombs = {
		gzip: gzipSync(zeros, { level: 1 }),
		deflate: deflateSync(zeros, { level: 1 }),
		br: brotliCompressSync(zeros, { params: { 1: 1 } }),
	};
	const before = process.memoryUsage().rss;
	for (const [coding, bytes] of Object.entries({ ...bombs, "gzip, gzip": gzipSync(bombs.gzip) })) {
		peer.on("/bomb", (_request, response) => {
			response.writeHead(200, { "Content-Encoding": coding }).end(bytes);
		});
		const { reason } = await failureOf(createFetch({ allowPrivate: true })(`${peer.origin}/bomb`));
		assert.is(reason, "size", coding);
	}
	assert.ok(process.memoryUsage().rss - before < 150_000_000, "memory stays bounded");
});

test("what is compressed wrongly, or in a thousand codings, is a failure of the service", async () => {
	const fetch = createFetch({ allowPrivate: true, timeoutMs: 2000 });
	for (const coding of ["gzip", "br", `${"gzip, ".repeat(1000)}gzip`]) {
		peer.on("/odd", (_request, response) => {
			response.writeHead(200, { "Content-Encoding": coding }).end("no such thing");
		});
		assert.ok(
			["network", "time"].includes((await failureOf(fetch(`${peer.origin}/odd`))).reason),
			coding.slice(0, 20),
		);
	}
});

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

test("while some services hang, the others are asked", async () => {
	const others = await Promise.all(Array.from({ length: 3 }, () => Peer.open()));
	let answered = 0;
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }), sleep: async () => {} });
	const caller = new AbortController();
	const hanging = others.map(({ origin }) => {
		others.find((one) => one.origin === origin)?.on("/", () => {});
		return ask(`${origin}/`, caller.signal);
	});
	peer.on("/", json("here"));
	for (let round = 0; round < 10; round += 1) {
		const answer = await ask(`${peer.origin}/`);
		if (answer.ok) answered += 1;
	}
	assert.is(answered, 10);
	caller.abort();
	for (const answer of await Promise.all(hanging)) assert.not(answer.ok);
	for (const other of others) await other.close();
});

test.run();
