import { setImmediate as nextTurn } from "node:timers/promises";
import * as assert from "uvu/assert";
import { parseTrustedProxies, type TrustedProxies } from "../../../api/node/address.ts";
import { suite } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { notingHashes } from "../noted-hashes.ts";
import { plausibleHead, type TestOptions, TestServer } from "./node-server.ts";

const flood = suite("floods");
flood.after.each(() => TestServer.closeAll());

const requests = 1_000;

/** A server that notes the statuses of its answers, in the order in which they are written. */
async function startNoting() {
	const statuses: number[] = [];
	const server = await TestServer.start({ measure: (_route, status) => statuses.push(status) });
	const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
	return { server, statuses, count };
}

/** Waits until `condition` holds; it is checked in each turn of the event loop. */
async function turnsUntil(condition: () => boolean): Promise<void> {
	while (!condition()) await nextTurn();
}

flood("requests for missing pages wait behind those of readers", async () => {
	const { server, statuses, count } = await startNoting();
	const reader = server.connect();
	reader.send(await server.put("wanted"));
	await eventually(() => reader.statuses.length === 1);
	const flooding = server.connect();
	flooding.send("GET /no HTTP/1.1\r\nHost: h\r\n\r\n".repeat(requests));
	await turnsUntil(() => count(404) > 0);
	reader.send("GET /v0.9/doc/en/wanted HTTP/1.1\r\nHost: h\r\n\r\n");
	await eventually(() => reader.statuses.length === 2);
	assert.equal(reader.statuses, [201, 200]);
	const before = statuses.slice(0, statuses.indexOf(200)).filter((status) => status === 404).length;
	assert.ok(before < requests / 2, `${before} refusals before the read`);
	await eventually(() => flooding.statuses.length === requests);
	assert.is(count(404), requests, "each of them is answered");
	await server.end();
});

flood(
	"two writes are hashed in a turn of the event loop, and reads are answered between the turns",
	async () => {
		let [inTurn, most, total] = [0, 0, 0];
		const server = await TestServer.start();
		const bad = await server.put("bad", "", "wrong");
		const flooding = Array.from({ length: 60 }, () => server.connect());
		for (const one of flooding) one.send(bad.slice(0, -1));
		// Once this is answered, all but the last bytes have been read; those come together.
		assert.is((await fetch(`${server.url}/healthz`)).status, 200);
		const note = (name: string) => {
			if (name !== "hmacSha256") return;
			inTurn += 1;
			total += 1;
		};
		await notingHashes(note, async () => {
			for (const one of flooding) one.send(bad.slice(-1));
			await turnsUntil(() => {
				most = Math.max(most, inTurn);
				inTurn = 0;
				return flooding.every((one) => one.statuses.length === 1);
			});
		});
		assert.equal([...new Set(flooding.flatMap((one) => one.statuses))], [401]);
		// Two secrets are tried for each.
		assert.ok(most <= 4, `${most} hashes in one turn`);
		assert.is(total, 120);
		assert.equal(server.stored, []);
		await server.end();
	},
);

/** The head of a signed PUT, with other headers in the place of its own. */
async function headOf(server: TestServer, others: Record<string, string | null>): Promise<string> {
	const [head = ""] = (await server.put("unread")).split("\r\n\r\n", 1);
	const lines = head.split("\r\n").filter((line) => !((line.split(":", 1)[0] as string) in others));
	const more = Object.entries(others).map(([name, text]) => (text === null ? [] : [`${name}: ${text}`]));
	return `${[...lines, ...more.flat()].join("\r\n")}\r\n\r\n`;
}

flood("a signature of the wrong shape or time is refused before the body comes", async () => {
	const server = await TestServer.start();
	const wrong: [Record<string, string | null>, RegExp][] = [
		[{ Authorization: null }, /Authorization: the header is missing/],
		[{ Sender: null }, /Sender: the header is missing/],
		[{ TimeStamp: null }, /TimeStamp: the header is missing/],
		[{ Authorization: "x" }, /Authorization: must be 43 characters/],
		[{ TimeStamp: "2014-12-05T18:28:56.714Z" }, /TimeStamp: must be an ISO 8601 time/],
	];
	for (const [others, error] of wrong) {
		const connection = server.connect();
		connection.send(await headOf(server, others));
		await eventually(() => connection.statuses.length === 1);
		assert.equal(connection.statuses, [401]);
		assert.match(connection.text, error);
		connection.socket.destroy();
	}
	const whole = server.connect();
	whole.send(await headOf(server, {}));
	whole.send("x");
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	assert.equal(whole.statuses, [], "what can be genuine is read");
	whole.socket.destroy();
	assert.equal(server.stored, []);
	await server.end();
});

flood("a client that asks before it sends a body gets its refusal instead of 100 Continue", async () => {
	const server = await TestServer.start();
	const expect = { Expect: "100-continue" };
	const refused = server.connect();
	refused.send(await headOf(server, { ...expect, Authorization: "x" }));
	await refused.closed;
	assert.equal(refused.statuses, [401]);
	const asked = server.connect();
	asked.send(await headOf(server, expect));
	await eventually(() => asked.statuses.length === 1);
	assert.equal(asked.statuses, [100]);
	asked.socket.destroy();
	assert.equal(server.stored, []);
	await server.end();
});

flood("a chunked body that is too large is 413, before its signature is checked", async () => {
	const server = await TestServer.start();
	const chunked = { "Content-Length": null, "Transfer-Encoding": "chunked", Connection: "close" };
	const head = await headOf(server, { ...chunked, Authorization: "x".repeat(43) });
	const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
	const large = server.connect();
	large.send(`${head}${chunk.repeat(3)}0\r\n\r\n`);
	await large.closed;
	assert.equal(large.statuses, [413]);
	const endless = server.connect();
	endless.send(head + chunk.repeat(3));
	await eventually(() => endless.statuses.length === 1);
	assert.equal(endless.statuses, [413], "before its end");
	endless.socket.destroy();
	const small = server.connect();
	small.send(`${head}${chunk}0\r\n\r\n`);
	await small.closed;
	assert.equal(small.statuses, [401]);
	const unsigned = server.connect();
	unsigned.send(await headOf(server, { ...chunked, Authorization: null }));
	await eventually(() => unsigned.statuses.length === 1);
	assert.equal(unsigned.statuses, [401], "without a header of the signature, before the body");
	assert.equal(server.stored, []);
});

/** A server that takes what a test sends as `client` for another machine's. */
function startTrusting(options: TestOptions = {}): Promise<TestServer> {
	return TestServer.start({ ...options, trustedProxies: parseTrustedProxies("127.0.0.1") as TrustedProxies });
}

const client = "X-Forwarded-For: 192.0.2.1\r\n";

flood(
	"heads without their bodies, from many addresses, take no room from a publisher elsewhere",
	async () => {
		const server = await startTrusting({ maxHeldBytes: 100_000 });
		const chunked = await headOf(server, { "Content-Length": null, "Transfer-Encoding": "chunked" });
		const waiting = Array.from({ length: 90 }, (_, at) => {
			const connection = server.connect();
			const address = `X-Forwarded-For: 192.0.2.${at % 9}\r\n`;
			connection.send(at % 2 ? plausibleHead(60_000, address) : chunked.replace("\r\n", `\r\n${address}`));
			return connection;
		});
		for (let round = 0; round < 6; round += 1) {
			const publisher = server.connect();
			publisher.send(await server.put(`key${round}`, "X-Forwarded-For: 198.51.100.1\r\n"));
			await eventually(() => publisher.statuses.length === 1);
			assert.equal(publisher.statuses, [201]);
		}
		assert.equal([...new Set(waiting.flatMap(({ statuses }) => statuses))], [], "the others still wait");
		assert.is(server.stored.length, 6);
	},
);

flood(
	"an address whose bodies stop before their end uses up only its own share of the memory for bodies",
	async () => {
		const server = await startTrusting({ maxHeldBytes: 160_000 });
		const unfinished = Array.from({ length: 20 }, () => {
			const connection = server.connect();
			connection.send(plausibleHead(11_000, client) + "x".repeat(10_000));
			return connection;
		});
		await eventually(() => unfinished.filter(({ statuses }) => statuses[0] === 503).length === 18);
		const publisher = server.connect();
		publisher.send(await server.put("wanted", "X-Forwarded-For: 198.51.100.1\r\n"));
		await eventually(() => publisher.statuses.length === 1);
		assert.equal(publisher.statuses, [201]);
		assert.equal(server.stored, ["wanted"]);
	},
);

flood("a body that never arrives costs its address as much as a wrong signature", async () => {
	const punished: string[] = [];
	const limiter = { address: () => 0, sender: () => 0, punish: (address: string) => punished.push(address) };
	const server = await startTrusting({ context: { limiter }, times: { bodyTimeoutMs: 1_000 } });
	const [late, gone, whole] = [server.connect(), server.connect(), server.connect()];
	whole.send(await server.put("whole", client));
	late.send(plausibleHead(100, client));
	gone.send(plausibleHead(100, client));
	gone.socket.end(() => gone.socket.destroy());
	await eventually(() => punished.length === 2 && late.statuses.length === 1 && whole.statuses.length === 1);
	assert.equal([late.statuses, whole.statuses, punished], [[408], [201], ["192.0.2.1", "192.0.2.1"]]);
	assert.equal(server.stored, ["whole"]);
});

flood(
	"the answer to a bad signature is delayed, and so are the requests behind it on the connection",
	async () => {
		const punished: string[] = [];
		const limiter = {
			address: () => 0,
			sender: () => 0,
			punish: (address: string) => punished.push(address),
		};
		const server = await startTrusting({ context: { limiter }, times: { badWriteDelayMs: 60_000 } });
		const [guessing, own] = [server.connect(), server.connect()];
		guessing.send((await server.put("guessed", client, "wrong")).repeat(3));
		await eventually(() => punished.length > 0);
		own.send((await server.put("own", "", "wrong")) + (await server.put("own")));
		await eventually(() => own.statuses.length === 2);
		assert.equal(own.statuses, [401, 201], "this machine itself is not slowed");
		const good = server.connect();
		good.send(await server.put("good", client));
		await eventually(() => good.statuses.length === 1);
		assert.equal(good.statuses, [201], "nor is a write of the same address that is genuine");
		assert.equal([guessing.statuses, punished], [[], ["192.0.2.1"]]);
		assert.equal(server.stored, ["own", "good"]);
	},
);

flood("the answer to a write beyond the limit is delayed, and reads are not", async () => {
	const limiter = { address: () => 7, sender: () => 0, punish: () => undefined };
	const server = await startTrusting({ context: { limiter }, times: { badWriteDelayMs: 200 } });
	const limited = server.connect();
	limited.send((await server.put("limited", client)) + (await server.put("limited", client)));
	const headers = { "X-Forwarded-For": "192.0.2.1" };
	assert.is((await fetch(`${server.url}/v0.9/doc/en/limited`, { headers })).status, 404);
	assert.is((await fetch(`${server.url}/healthz`, { headers })).status, 200);
	await eventually(() => limited.statuses.length === 2);
	assert.equal(limited.statuses, [429, 429]);
	await eventually(() => server.logged.filter(({ status }) => status === 429).length === 1);
	const [first] = server.logged.filter(({ status }) => status === 429);
	assert.ok((first?.milliseconds ?? 0) >= 199, `${first?.milliseconds} ms`);
	assert.equal(server.stored, []);
	await server.end();
});

flood("a client that disconnects while its refusals wait is in the log, with its address", async () => {
	const server = await startTrusting({ times: { logEveryMs: 20 } });
	const gone = server.connect();
	gone.send(`GET /no HTTP/1.1\r\nHost: h\r\n${client}\r\n`.repeat(requests));
	await turnsUntil(() => server.logged.length > 0);
	gone.socket.destroy();
	const countOf = (wanted: number) =>
		server.logged
			.filter(({ status, address }) => status === wanted && address === "192.0.2.1")
			.reduce((sum, { repeated = 1 }) => sum + repeated, 0);
	await eventually(() => countOf(404) + countOf(499) === requests);
	assert.ok(countOf(499) > 0);
	await server.end();
});

flood.run();
