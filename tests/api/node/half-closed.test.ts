import * as assert from "uvu/assert";
import { sign } from "../../../api/senders.ts";
import { secrets } from "../../helpers/local.ts";
import { eventually } from "../../helpers/wait.ts";
import { plausibleHead, serverSuite, TestServer } from "./node-server.ts";

const test = serverSuite("half-closed connections");

test("a client that closes its side after a request gets its answer, and the connection ends", async () => {
	const server = await TestServer.start();
	const reader = server.connect();
	reader.socket.end("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
	await reader.closed;
	assert.match(reader.text, /^HTTP\/1\.1 200 /);
	const several = server.connect();
	several.socket.end("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".repeat(3));
	await several.closed;
	assert.is(several.text.match(/HTTP\/1\.1 200 /g)?.length, 3);
});

test("a write whose client has closed its side gets its answer, however late the store has it", async () => {
	const server = await TestServer.start();
	const letGo = server.hold();
	const publisher = server.connect();
	publisher.socket.end(await server.put("late"));
	// The server has seen the end of the first connection before it answers one that came after it.
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	assert.equal(publisher.statuses, []);
	letGo();
	await publisher.closed;
	assert.equal(publisher.statuses, [201]);
	assert.equal(server.stored, ["late"]);
});

test("a body that ends before it is whole is never stored, and others are served", async () => {
	const server = await TestServer.start();
	const publisher = server.connect();
	const bytes = await server.put("cut");
	publisher.socket.end(bytes.slice(0, -10));
	await publisher.closed;
	assert.not(publisher.statuses.includes(201));
	assert.equal(server.stored, []);
	const whole = await server.exchange(await server.put("whole", "Connection: close\r\n"));
	assert.equal(whole.statuses, [201]);
	assert.equal(server.reported, []);
});

test("a DELETE whose body is cut removes nothing, although its signature fits an empty body", async () => {
	const server = await TestServer.start();
	const timestamp = new Date().toISOString();
	const signed = { path: "/register/cut", sender: "jstest", timestamp, body: new Uint8Array(0) };
	const signature = await sign(secrets.jstest, signed);
	const head = `DELETE /register/cut HTTP/1.1\r\nHost: h\r\nAuthorization: ${signature}\r\nTimeStamp: ${timestamp}\r\n`;
	const publisher = server.connect();
	publisher.socket.end(`${head}Sender: jstest\r\nContent-Length: 5\r\n\r\n`);
	await publisher.closed;
	await eventually(() => server.logged.length === 1);
	assert.is(server.logged[0]?.status, 499);
	assert.equal(server.stored, []);
});

test("a client that wants its connection closed can send its whole body after the refusal, and reads that", async () => {
	const server = await TestServer.start();
	const bytes = 2 << 20;
	const sent = 100_000;
	const publisher = server.connect(`${plausibleHead(bytes, "Connection: close\r\n")}${" ".repeat(sent)}`);
	await eventually(() => publisher.statuses.length === 1);
	const rest = " ".repeat(bytes - sent);
	const error = await new Promise((resolve) => publisher.socket.write(rest, resolve));
	assert.is(error ?? null, null);
	await publisher.closed;
	assert.equal(publisher.statuses, [413]);
	assert.match(publisher.text, '{"errors":["the body must have at most 65536 bytes"]}');
	assert.equal(server.stored, []);
});

test("half a head is not taken for a request, and others are served", async () => {
	const server = await TestServer.start();
	const unanswered = server.connect();
	unanswered.socket.end("GET /healthz HTTP/1.1\r\nHo");
	await unanswered.closed;
	assert.not.match(unanswered.text, "HTTP/1.1 200");
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
});

test.run();
