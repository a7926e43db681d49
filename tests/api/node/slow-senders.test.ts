import * as assert from "uvu/assert";
import { eventually } from "../../helpers/wait.ts";
import { plausibleHead, serverSuite, TestServer } from "./node-server.ts";

const test = serverSuite("slow clients");

test("a client that does not finish its head or body is disconnected, and others are served meanwhile", async () => {
	const server = await TestServer.start({
		times: { headTimeoutMs: 1_500, bodyTimeoutMs: 1_500, checkEveryMs: 20 },
	});
	const head = server.connect("GET /v0.9/doc/en/toporama HTTP/1.1\r\nHost: h\r\nX-Slow: ");
	const body = server.connect(`${plausibleHead(100)}{`);
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	await head.closed;
	assert.match(head.text, /^HTTP\/1\.1 408 /);
	await body.closed;
	assert.match(body.text, /^HTTP\/1\.1 408 /);
	assert.match(body.text, "the body did not arrive within 1.5 seconds");
	assert.equal(server.stored, []);
});

/** A server with an answer that no socket's buffers take whole. */
async function startLarge(readerTimeoutMs: number): Promise<TestServer> {
	const body = new Uint8Array(900_000).fill(0x20);
	const times = { readerTimeoutMs, readerBytesPerSecond: 1_000_000_000 };
	return TestServer.start({ fragments: () => ({ body, etag: '"x"' }), times });
}

const request = (target: string) => `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`;
const pieces = `/v0.9/docs/en/${Array(30).fill("k").join(",")}`;

test("a client that does not read its answer is disconnected", async () => {
	const server = await startLarge(200);
	const others = [request(pieces), request("/v0.9/doc/en/k").repeat(30)];
	for (const bytes of others) {
		const reader = server.connect();
		reader.socket.pause();
		reader.send(bytes);
		await eventually(async () => {
			// A paused socket learns of its end only by sending.
			reader.send(request("/healthz"));
			return reader.socket.destroyed;
		});
		assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	}
});

test("a client that reads slowly, but within the time limit, gets its whole answer", async () => {
	const server = await startLarge(60_000);
	const reader = server.connect();
	reader.socket.pause();
	reader.send(request(pieces));
	// Some time in which the server's side fills up.
	for (let round = 0; round < 5; round += 1) assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	reader.socket.resume();
	await eventually(() => reader.text.length > 30 * 900_000);
});

test("an answer that a slow client has not read yet is not overwritten by other answers", async () => {
	const fragments = (_target: string, _lang: string, smallkey: string) => ({
		body: new TextEncoder().encode(smallkey.slice(0, 1).repeat(10_000)),
		etag: `"${smallkey}"`,
	});
	const server = await TestServer.start({ fragments });
	const lists = 200;
	const reader = server.connect();
	reader.socket.pause();
	// Each list is another one: what is kept is a copy anyway.
	for (let list = 0; list < lists; list += 1) reader.send(request(`/v0.9/docs/en/a${list},a,a`));
	for (let list = 0; list < 50; list += 1) {
		const answer = await fetch(`${server.url}/v0.9/docs/en/b${list},b,b`);
		assert.is(await answer.text(), `[${Array(3).fill("b".repeat(10_000)).join(",")}]`);
	}
	reader.socket.resume();
	await eventually(() => reader.text.endsWith("]") && reader.statuses.length === lists);
	const bodies = reader.text.split("\r\n\r\n").filter((part) => part.startsWith("["));
	assert.is(bodies.length, lists);
	assert.ok(bodies.every((body) => /^\[a{10000},a{10000},a{10000}\]/.test(body)));
});

test.run();
