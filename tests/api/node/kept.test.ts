import * as assert from "uvu/assert";
import { etagOf } from "../../../registry/etag.ts";
import { eventually } from "../../helpers/wait.ts";
import { serverSuite, type TestOptions, TestServer } from "./node-server.ts";

const test = serverSuite("answers that are kept");

/** A server of one text as every fragment, which a test changes. */
async function startWith(first: string, more: TestOptions = {}) {
	let [text, version, lookups] = [first, 0, 0];
	const measured: string[] = [];
	const server = await TestServer.start({
		fragments: () => {
			lookups += 1;
			const body = new TextEncoder().encode(text);
			return { body, etag: etagOf(body) };
		},
		version: () => version,
		measure: (route, status) => measured.push(`${route} ${status}`),
		...more,
	});
	const change = (to: string) => {
		text = to;
		version += 1;
	};
	return { server, change, measured, lookups: () => lookups };
}

/** All of an answer but its time, and whether its connection stays open. */
async function answerOf(url: string, init?: RequestInit) {
	const answer = await fetch(url, init);
	const headers = [...answer.headers].filter(([name]) => !/^(?:date|connection|keep-alive)$/.test(name));
	return { status: answer.status, headers, text: await answer.text() };
}

for (const [path, kind] of [
	["/v0.9/doc/en/a", "doc"],
	["/v0.9/docs/en/a,b", "docs"],
	["/v0.9/doc/en/a?callback=f", "doc"],
] as const) {
	test(`${path} has the same answer each time, and another one as soon as a fragment changes`, async () => {
		const { server, change, measured, lookups } = await startWith('"vieux é 水 😀"');
		const first = await answerOf(server.url + path);
		assert.match(first.text, '"vieux é 水 😀"');
		for (let time = 0; time < 3; time += 1) assert.equal(await answerOf(server.url + path), first);
		const made = lookups();
		assert.equal(await answerOf(server.url + path), first);
		assert.is(lookups(), made, "it was kept");
		assert.is(server.reads, 5);
		assert.equal(measured, Array(5).fill(`${kind} 200`));
		change('"new"');
		assert.match((await answerOf(server.url + path)).text, '"new"');
		await server.end();
	});
}

test("with a line in the log for each read, repeated reads have theirs, too", async () => {
	const { server } = await startWith('"x"', { allReads: true });
	const ids = new Set<string | null>();
	for (let time = 0; time < 4; time += 1) {
		const answer = await fetch(`${server.url}/v0.9/doc/en/a`);
		await answer.text();
		ids.add(answer.headers.get("X-Request-Id"));
	}
	await server.end();
	assert.equal(
		server.logged.map(({ id, status }) => [id, status]),
		[...ids].map((id) => [id, 200]),
	);
	assert.is(ids.size, 4);
});

test("a read that is pipelined behind a write is not answered with a fragment cached before the write", async () => {
	const { server, change } = await startWith('"vieux é 水 😀"');
	for (let time = 0; time < 3; time += 1) await answerOf(`${server.url}/v0.9/doc/en/a`);
	const letGo = server.hold();
	const one = server.connect();
	const doc = "GET /v0.9/doc/en/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
	one.send((await server.put("a")) + doc);
	// Once this is answered, what was sent before has been read.
	assert.is((await answerOf(`${server.url}/healthz`)).status, 200);
	change('"new"');
	letGo();
	await one.closed;
	assert.equal(one.statuses, [201, 200]);
	assert.match(one.text, /"new"$/);
});

test("a client that has disconnected gets no cached answer, and is 499", async () => {
	const { server, measured } = await startWith('"x"');
	await answerOf(`${server.url}/v0.9/doc/en/a`);
	const letGo = server.hold();
	const gone = server.connect(`${await server.put("a")}GET /v0.9/doc/en/a HTTP/1.1\r\nHost: h\r\n\r\n`);
	// Once this is answered, what was sent before has been read.
	await answerOf(`${server.url}/healthz`);
	gone.socket.resetAndDestroy();
	await eventually(() => measured.includes("doc 499"));
	assert.is(server.reads, 2);
	letGo();
});

test.run();
