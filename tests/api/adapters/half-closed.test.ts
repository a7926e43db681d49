import { suite } from "uvu";
import * as assert from "uvu/assert";
import { TestServer } from "./node-server.ts";

const half = suite("half-closed connections");
half.after.each(() => TestServer.closeAll());

half("whoever says no more after a request gets its answer, and the connection ends", async () => {
	const server = await TestServer.start();
	const reader = server.connect();
	reader.socket.end("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
	await reader.closed;
	assert.match(reader.text, /^HTTP\/1\.1 200 /);
	const several = server.connect();
	several.socket.end("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".repeat(3));
	await several.closed;
	assert.is(several.text.match(/HTTP\/1\.1 200 /g)?.length, 3);
	await server.end();
});

half("a write whose sender says no more before its answer is cut off, and others are served", async () => {
	const server = await TestServer.start();
	// Node takes such a connection for one that has ended (`httpAllowHalfOpen` of node:http).
	for (const cut of [0, 10]) {
		const publisher = server.connect();
		const bytes = await server.put(`cut-${cut}`);
		publisher.socket.end(bytes.slice(0, bytes.length - cut));
		await publisher.closed;
		assert.is(publisher.statuses.includes(201), server.stored.includes(`cut-${cut}`));
	}
	assert.not(server.stored.includes("cut-10"), "a body that is not whole is never stored");
	const whole = server.connect();
	whole.send(await server.put("whole", "Connection: close\r\n"));
	await whole.closed;
	assert.equal(whole.statuses, [201]);
	assert.equal(server.reported, []);
	await server.end();
});

half("half a head and no more is no request, and others are served", async () => {
	const server = await TestServer.start();
	const nobody = server.connect();
	nobody.socket.end("GET /healthz HTTP/1.1\r\nHo");
	await nobody.closed;
	assert.not.match(nobody.text, "HTTP/1.1 200");
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	await server.end();
});

half.run();
