import { Socket } from "node:net";
import { queryObjects } from "node:v8";
import * as assert from "uvu/assert";
import { TokenBuckets, type WriteLimiter } from "../../../api/limits.ts";
import { parseTrustedProxies, type TrustedProxies } from "../../../api/node/address.ts";
import type { Client } from "../../../api/room.ts";
import { eventually } from "../../helpers/wait.ts";
import { pageSettings, plausibleHead, serverSuite, TestServer } from "./node-server.ts";

const test = serverSuite("the Node server");

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: h\r\n${more}\r\n`;
const close = "Connection: close\r\n";
const trustedProxies = parseTrustedProxies("127.0.0.1") as TrustedProxies;

test("a read that is pipelined behind a write is answered from after the write", async () => {
	const server = await TestServer.start();
	const letGo = server.hold();
	const one = server.connect();
	const other = server.connect();
	const doc = get("/v0.9/doc/en/piped");
	one.send(doc + (await server.put("piped")) + doc + (await server.put("second")) + get("/healthz", close));
	other.send(get("/v0.9/doc/en/piped", close));
	await other.closed;
	assert.equal(other.statuses, [404], "another connection does not wait");
	await eventually(() => one.statuses.length === 1);
	letGo();
	await one.closed;
	assert.equal(one.statuses, [404, 201, 200, 201, 200]);
	assert.equal(server.stored, ["piped", "second"]);
});

test("the requests that wait behind a write on one connection are bounded", async () => {
	const server = await TestServer.start();
	const letGo = server.hold();
	const flood = await server.exchange((await server.put("held")) + get("/healthz").repeat(5_000));
	assert.equal(flood.statuses, []);
	letGo();
	await eventually(() => server.stored.includes("held"));
	assert.is((await fetch(`${server.url}/v0.9/doc/en/held`)).status, 200);
});

test("only a client of HTTP/1.1 is asked to send its body", async () => {
	const server = await TestServer.start();
	for (const [version, statuses] of [
		["1.1", [100, 201]],
		["1.0", [201]],
	] as const) {
		const publisher = server.connect();
		const expecting = await server.put(`from-${version.at(-1)}`, `${close}Expect: 100-continue\r\n`);
		publisher.send(expecting.replace("HTTP/1.1", `HTTP/${version}`));
		await publisher.closed;
		assert.equal(publisher.statuses, statuses, version);
	}
});

test("a connection that has ended is no longer in memory", async () => {
	const server = await TestServer.start();
	const sockets = () => queryObjects(Socket, { format: "count" });
	const before = sockets();
	for (let count = 0; count < 20; count += 1) await server.exchange(get("/healthz", close));
	await eventually(() => sockets() < before + 10);
});

test("on its end the server answers the requests under way, and closes connections that send nothing", async () => {
	const server = await TestServer.start();
	const letGo = server.hold();
	const writing = server.connect(await server.put("last"));
	const silent = server.connect();
	const slow = server.connect(get("/healthz").slice(0, 20));
	const idle = server.connect(get("/healthz"));
	await eventually(() => idle.statuses.length === 1);
	let ended = false;
	const end = server.end().then(() => {
		ended = true;
	});
	await Promise.all([silent.closed, slow.closed, idle.closed]);
	assert.not.ok(ended);
	assert.equal(writing.statuses, []);
	letGo();
	await end;
	await writing.closed;
	assert.equal(writing.statuses, [201]);
	assert.match(writing.text, /\r\nConnection: close\r\n/);
	assert.equal(server.stored, ["last"]);
});

test("readyz answers 503 with the reason while healthz answers 200", async () => {
	const server = await TestServer.start();
	const ask = async (path: string) => {
		const answer = await fetch(server.url + path);
		return [answer.status, await answer.text()];
	};
	assert.equal(await ask("/healthz"), [200, "ok 0.2.0\n"]);
	assert.equal(await ask("/readyz"), [200, "ok\n"]);
	server.problem = "git does not answer";
	assert.equal(await ask("/healthz"), [200, "ok 0.2.0\n"]);
	assert.equal(await ask("/readyz"), [503, "git does not answer\n"]);
});

test("a body that is announced too large is answered before it is sent, and nothing is stored", async () => {
	const server = await TestServer.start();
	const put = server.connect();
	const head =
		"PUT /register/large HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 65537\r\n\r\n";
	put.send(head);
	await eventually(() => put.statuses.length === 1);
	assert.equal(put.statuses, [413]);
	put.send("x".repeat(65_537));
	await put.closed;
	assert.equal(server.stored, []);
});

test("the bodies in memory at one time are bounded; a write beyond that gets 503 with Retry-After", async () => {
	const server = await TestServer.start({ maxHeldBytes: 100_000 });
	const head = plausibleHead(60_000, close);
	const holding = server.connect(head + "x".repeat(59_999));
	// The body is held once another one of its size finds no room.
	const refused = (more = "") => server.exchange(plausibleHead(60_000, close + more) + "x".repeat(60_000));
	await eventually(async () => (await refused()).statuses[0] === 503);
	const { text } = await refused();
	assert.match(text, /\r\nRetry-After: 1\r\n/);
	assert.match(text, '{"errors":["too many bodies are being read"]}');
	const french = await refused("Accept-Language: fr\r\n");
	assert.match(french.text, '{"errors":["trop de corps sont en cours de lecture"]}');
	holding.send("x");
	await holding.closed;
	assert.equal(holding.statuses, [401]);
	assert.equal((await refused()).statuses, [401], "the room is free again");
	assert.equal(server.stored, []);
});

test("a large answer of docs has as many bytes as its Content-Length says", async () => {
	const body = new TextEncoder().encode(JSON.stringify("é".repeat(10_000)));
	const server = await TestServer.start({ fragments: () => ({ body, etag: '"x"' }) });
	const keys = Array.from({ length: 500 }, (_, index) => `k${index}`).join(",");
	const address = `${server.url}/v0.9/docs/en/${keys}`;
	const answer = await fetch(address);
	const bytes = await answer.arrayBuffer();
	assert.is(bytes.byteLength, 500 * (body.length + 1) + 1);
	assert.is(answer.headers.get("Content-Length"), String(bytes.byteLength));
	assert.is((JSON.parse(new TextDecoder().decode(bytes)) as string[]).length, 500);
	const head = await fetch(address, { method: "HEAD" });
	assert.is(head.headers.get("Content-Length"), String(bytes.byteLength));
});

test("a fragment that cannot be read is a 500 with an empty body, and is reported", async () => {
	const broken = new Error("unreadable");
	const server = await TestServer.start({
		fragments: () => {
			throw broken;
		},
	});
	const answer = await fetch(`${server.url}/v0.9/doc/en/a`);
	assert.is(answer.status, 500);
	assert.is(await answer.text(), "");
	assert.equal(server.reported, [broken]);
});

test("a page that cannot be read is a 500, and is reported", async () => {
	const broken = new Error("unreadable");
	const pages = async () => {
		throw broken;
	};
	const server = await TestServer.start({ pages, context: { settings: pageSettings } });
	assert.is((await fetch(`${server.url}/site.json`)).status, 500);
	assert.equal(server.reported, [broken]);
});

test("writes are limited by the address that a trusted proxy names, and reads are not", async () => {
	const buckets = new TokenBuckets({ perMinute: 1, burst: 2, bytesPerDay: 1_000_000 }, () => new Date(0));
	const limiter: WriteLimiter = {
		address: (address) => buckets.address(address),
		punish: (address) => buckets.punish(address),
		sender: () => 0,
	};
	const server = await TestServer.start({ context: { limiter }, trustedProxies });
	const put = async (address: string) =>
		server.exchange(await server.put("limited", `${close}X-Forwarded-For: 198.51.100.9, ${address}\r\n`));
	assert.equal((await put("192.0.2.1")).statuses, [201]);
	assert.equal((await put("192.0.2.1")).statuses, [201]);
	const refused = await put("192.0.2.1");
	assert.equal(refused.statuses, [429]);
	assert.match(refused.text, /\r\nRetry-After: 60\r\n/);
	assert.match(refused.text, '{"errors":["too many writes of this address: try again after 60 seconds"]}');
	assert.equal((await put("192.0.2.2")).statuses, [201], "another address");
	const headers = { "X-Forwarded-For": "192.0.2.1" };
	assert.is((await fetch(`${server.url}/v0.9/doc/en/limited`, { headers })).status, 200);
	for (let count = 0; count < 5; count += 1) {
		const { statuses } = await server.exchange(await server.put("own", close));
		assert.equal(statuses, [201], "this machine itself");
	}
	assert.is(server.stored.length, 8);
	await eventually(() => server.logged.length === 9);
	assert.equal(
		server.logged.filter(({ address }) => address !== undefined).map(({ address }) => address),
		["192.0.2.1"],
	);
});

test("a request for a layer's status is counted for the address that a trusted proxy names", async () => {
	const asked: unknown[] = [];
	const status = async (_smallkey: string, client: Client) => {
		asked.push(client[0]?.name);
		return null;
	};
	const server = await TestServer.start({ context: { status }, trustedProxies });
	const headers = { "X-Forwarded-For": "192.0.2.1, 127.0.0.1" };
	assert.is((await fetch(`${server.url}/status/a`, { headers })).status, 404);
	assert.is((await fetch(`${server.url}/status/a`)).status, 404);
	assert.equal(asked, ["192.0.2.1", undefined]);
});

test("an address that sends too many writes is refused before its body arrives", async () => {
	const limiter = { address: () => 7, sender: () => 0, punish: () => undefined };
	const server = await TestServer.start({ context: { limiter }, trustedProxies });
	const connection = server.connect(
		"PUT /register/x HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 100\r\n\r\n",
	);
	await eventually(() => connection.statuses.length === 1);
	assert.equal(connection.statuses, [429]);
});

test("the log has the id of each write and refusal, and reads are counted", async () => {
	const server = await TestServer.start();
	const put = await server.exchange(await server.put("logged", close));
	const refused = await fetch(`${server.url}/v0.9/doc/en/absent?secret=1`);
	const read = await fetch(`${server.url}/v0.9/doc/en/logged`);
	await read.text();
	await eventually(() => server.logged.length === 2);
	const [written, missed] = server.logged.map(({ milliseconds: _, ...line }) => line);
	const putId = /^X-Request-Id: (\S+)\r$/m.exec(put.text)?.[1];
	const common = { method: "PUT", path: "/register/logged", status: 201, sender: "jstest" };
	assert.equal(written, { id: putId, ...common });
	const getId = refused.headers.get("X-Request-Id");
	assert.equal(missed, {
		...{ id: getId, method: "GET", path: "/v0.9/doc/en/absent", status: 404, sender: null },
		address: "127.0.0.1",
	});
	assert.not.equal(putId, getId);
	assert.is(read.headers.get("X-Request-Id"), null);
	assert.is(server.reads, 1);
});

test("a flood of refusals is one line at once and one for each second, with the path cut", async () => {
	const server = await TestServer.start({ times: { logEveryMs: 60_000 } });
	const flood = server.connect();
	const long = "x".repeat(20_000);
	flood.send(
		Array.from({ length: 50 }, (_, index) => get(`/${long}${index}`)).join("") + get("/last", close),
	);
	await flood.closed;
	assert.is(flood.statuses.length, 51);
	assert.equal(
		server.logged.map(({ repeated, path }) => [repeated, path.length]),
		[[undefined, 1_001]],
	);
	await server.end();
	assert.equal(
		server.logged.map(({ repeated, path }) => [repeated, path.slice(0, 5)]),
		[
			[undefined, "/xxxx"],
			[50, "/last"],
		],
	);
});

test("repeated refusals have one line in the log for each window", async () => {
	const server = await TestServer.start({ times: { logEveryMs: 20 } });
	const flood = server.connect();
	await eventually(() => {
		flood.send(get("/v0.9/doc/de/a").repeat(20));
		return server.logged.filter(({ repeated = 0 }) => repeated > 0).length > 1;
	});
	assert.equal([...new Set(server.logged.map(({ status }) => status))], [400]);
	assert.ok(server.logged.length < flood.statuses.length / 5, "not one for each");
});

test("a client that disconnects in the middle of a body changes nothing, and is 499 in the log", async () => {
	const server = await TestServer.start();
	const cut = server.connect(get("/healthz") + (await server.put("cut")).slice(0, -10));
	await eventually(() => cut.statuses.length === 1);
	cut.socket.destroy();
	await eventually(() => server.logged.length === 1);
	assert.is(server.logged[0]?.status, 499);
	assert.equal([server.stored, server.reported], [[], []]);
});

test.run();
