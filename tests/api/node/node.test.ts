import { setTimeout as delay } from "node:timers/promises";
import * as assert from "uvu/assert";
import { createWriteLimit } from "../../../api/limits.ts";
import { parseTrustedProxies, type TrustedProxies } from "../../../api/node/client.ts";
import type { AnswerEvent } from "../../../api/node/serve.ts";
import type { Lang } from "../../../registry/smallkey.ts";
import { memoryStore } from "../../../store/memory.ts";
import { StoreBusy } from "../../../store/store.ts";
import { signedHeaders } from "../../helpers/signed.ts";
import { eventually } from "../../helpers/wait.ts";
import {
	linesOf,
	pageRoute,
	plausibleHead,
	serverSuite,
	type TestOptions,
	TestServer,
} from "./node-server.ts";

const test = serverSuite("the Node server");

const close = "Connection: close\r\n";
const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: h\r\n${more}\r\n`;
const publisher = "X-Forwarded-For: 198.51.100.1\r\n";

function startTrusting(options: TestOptions = {}): Promise<TestServer> {
	return TestServer.start({ ...options, trustedProxies: parseTrustedProxies("127.0.0.1") as TrustedProxies });
}

async function answers(connection: { statuses: number[] }, count = 1): Promise<number[]> {
	await eventually(() => connection.statuses.length >= count);
	return connection.statuses;
}

test("a request that does not wait for the answer to the last one closes its connection", async () => {
	const server = await TestServer.start();
	const letGo = server.hold();
	const flood = await server.exchange((await server.put("held")) + get("/healthz").repeat(5_000));
	assert.equal(flood.statuses, []);
	letGo();
	await eventually(() => server.stored.includes("held"));
	const reader = server.connect();
	for (const count of [1, 2, 3]) {
		reader.send(get("/v0.9/doc/en/held"));
		assert.equal(await answers(reader, count), Array(count).fill(200));
	}
});

test("a header that is sent twice, a compressed body and a condition that does not hold store nothing", async () => {
	const server = await TestServer.start();
	const rows: [status: number, more: string, error: RegExp][] = [
		[401, "Sender: jstest", /Sender: was sent twice/],
		[401, "Sender: ", /Sender: was sent twice/],
		[401, "TimeStamp: 2026-03-04T12:00:00Z", /TimeStamp: was sent twice/],
		[401, `Authorization: ${"x".repeat(43)}`, /Authorization: was sent twice/],
		[401, "Authorization: Basic dXNlcjpwYXNz", /Authorization: must be the signature alone/],
		[415, "Content-Encoding: gzip", /Content-Encoding: must be left out/],
		[412, 'If-Match: "a"\r\nIf-Match: "b"', /If-Match: is \\"a\\", \\"b\\", and the ETag of twice is /],
	];
	for (const [status, more, error] of rows) {
		const { statuses, text } = await server.exchange(await server.put("twice", `${close}${more}\r\n`));
		assert.equal(statuses, [status], more);
		assert.match(text, error);
	}
	assert.equal(server.stored, []);
	const put = await server.exchange(
		await server.put("new", `${close}If-None-Match: *\r\nExpect: 100-continue\r\n`),
	);
	assert.equal([put.statuses, server.stored], [[100, 201], ["new"]]);
	assert.match(put.text, /\r\nETag: "[0-9a-f]{40}"\r\n/);
});

test("a chunked body that is too large is 413 before its end, and before its signature is checked", async () => {
	const server = await TestServer.start();
	const head = plausibleHead(0, close).replace("Content-Length: 0", "Transfer-Encoding: chunked");
	const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
	assert.equal(await answers(server.connect(head + chunk.repeat(3))), [413]);
	assert.equal((await server.exchange(`${head}${chunk}0\r\n\r\n`)).statuses, [401]);
	assert.equal(server.stored, []);
});

test("a write whose client has closed its side gets its answer; one whose body is cut is never made", async () => {
	const server = await TestServer.start();
	const letGo = server.hold();
	const late = server.connect();
	late.socket.end(await server.put("late"));
	// The server has seen the end of the first connection.
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	letGo();
	await late.closed;
	assert.equal(late.statuses, [201]);
	const cut = server.connect();
	cut.socket.end((await server.put("cut")).slice(0, -10));
	await cut.closed;
	// Its signature fits an empty body.
	const head = linesOf(await signedHeaders("/register/late", ""));
	const removal = server.connect();
	removal.socket.end(`DELETE /register/late HTTP/1.1\r\nHost: h\r\n${head}Content-Length: 5\r\n\r\n`);
	await removal.closed;
	await eventually(() => server.logged.length === 3);
	// An earlier write would be stored by now.
	assert.equal((await server.exchange(await server.put("after", close))).statuses, [201]);
	assert.equal(
		server.logged.slice(0, 3).map(({ status }) => status),
		[201, 499, 499],
	);
	assert.equal([server.stored, server.reported], [["late", "after"], []]);
});

test("the bodies in memory at one time are bounded; a write beyond that gets 503 with Retry-After", async () => {
	const server = await TestServer.start({ maxHeldBytes: 100_000 });
	const holding = server.connect(plausibleHead(60_000, close) + "x".repeat(59_999));
	const refused = (more = "") => server.exchange(plausibleHead(60_000, close + more) + "x".repeat(60_000));
	// The body is held once another one of its size finds no room.
	await eventually(async () => (await refused()).statuses[0] === 503);
	const { text } = await refused("Accept-Language: fr\r\n");
	assert.match(text, /\r\nRetry-After: 1\r\n/);
	assert.match(text, /\r\nContent-Language: fr\r\n/);
	assert.match(text, /\r\n\r\n\{"errors":\["le service est occup/);
	holding.send("x");
	await holding.closed;
	assert.equal((await refused()).statuses, [401], "the room is free again");
	assert.equal(server.stored, []);
});

test("the cause of a 503 is in the log, and not in the answer", async () => {
	const change = async () => {
		throw new StoreBusy("read-only", 60, "the branch x is in the way");
	};
	const server = await TestServer.start({ context: { store: { ...memoryStore(), change } } });
	const { text, statuses } = await server.exchange(await server.put("busy", close));
	await eventually(() => server.logged.length === 1);
	const [{ status, reason, cause } = {}] = server.logged as Partial<AnswerEvent>[];
	assert.equal([status, reason, cause], [503, "read-only", "the branch x is in the way"]);
	assert.equal([statuses, text.includes("in the way")], [[503], false]);
});

test("only the log tells an unknown sender from a wrong signature", async () => {
	const server = await TestServer.start();
	const wrong = await server.exchange(plausibleHead(0, close));
	const unknown = await server.exchange(plausibleHead(0, close).replace("jstest", "unknown"));
	const bodyOf = ({ text }: { text: string }) => text.split("\r\n\r\n")[1];
	assert.equal([wrong.statuses, bodyOf(unknown)], [[401], bodyOf(wrong)]);
	await eventually(() => server.logged.length === 2);
	const causes = (server.logged as Partial<AnswerEvent>[]).map(({ cause }) => cause);
	assert.equal(causes, ["the signature does not match", "there is no such sender"]);
	assert.equal(server.stored, []);
});

test("heads without bodies, and bodies without an end, take no room from a publisher elsewhere", async () => {
	const server = await startTrusting({ maxHeldBytes: 640_000 });
	const unfinished = [0, 10_000].flatMap((length) =>
		Array.from({ length: 20 }, (_, index) =>
			server.connect(plausibleHead(11_000, `X-Forwarded-For: 192.0.2.${index % 2}\r\n`) + "x".repeat(length)),
		),
	);
	await eventually(() => unfinished.filter(({ statuses }) => statuses[0] === 503).length > 20);
	assert.equal(await answers(server.connect(await server.put("wanted", publisher))), [201]);
});

test("a client that does not finish its head or body is disconnected", async () => {
	const times = { headTimeoutMs: 1_000, requestTimeoutMs: 1_000, checkEveryMs: 20 };
	const server = await TestServer.start({ times });
	const head = server.connect("GET /v0.9/doc/en/toporama HTTP/1.1\r\nHost: h\r\nX-Slow: ");
	const body = server.connect(`${plausibleHead(100)}{`);
	await Promise.all([head.closed, body.closed]);
	assert.equal([head.statuses, body.statuses], [[408], [408]]);
	await eventually(() => server.logged.length === 1);
	assert.equal([server.logged[0]?.status, server.stored], [499, []]);
});

test("writes are limited by the address that a trusted proxy names; reads are not", async () => {
	const limitWrites = createWriteLimit(0.4, () => 0);
	const server = await startTrusting({ context: { limitWrites } });
	const put = async (address: string) =>
		server.exchange(await server.put("limited", `${close}X-Forwarded-For: 198.51.100.9, ${address}\r\n`));
	for (const status of [201, 201, 429]) assert.equal((await put("192.0.2.1")).statuses, [status]);
	assert.match((await put("192.0.2.1")).text, /\r\nRetry-After: 300\r\n/);
	assert.equal((await put("192.0.2.2")).statuses, [201], "another address");
	const headers = { "X-Forwarded-For": "192.0.2.1" };
	assert.is((await fetch(`${server.url}/v0.9/doc/en/limited`, { headers })).status, 200);
	for (let count = 0; count < 3; count += 1) {
		const { statuses } = await server.exchange(await server.put("own", close));
		assert.equal(statuses, [201], "this machine itself");
	}
});

test("a status is in the language of its reader", async () => {
	const status = async () => (lang: Lang) => ({ lang, etag: null }) as never;
	const server = await TestServer.start({ context: { status } });
	for (const lang of ["en", "fr"]) {
		const answer = await fetch(`${server.url}/status/x`, { headers: { "Accept-Language": lang } });
		assert.equal([answer.status, await answer.json()], [200, { lang, etag: null }]);
	}
});

test("a client that does not read its answer is disconnected", async () => {
	const body = Buffer.alloc(16_000_000, "x");
	const routes = [pageRoute(() => ({ status: 200, headers: {}, body }))];
	const server = await TestServer.start({ context: { routes }, times: { idleTimeoutMs: 100 } });
	const reader = server.connect(get("/assets/1.js"));
	reader.socket.pause();
	await delay(500);
	reader.socket.resume();
	await reader.closed;
	assert.ok(reader.text.length < body.length);
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
});

test.run();
