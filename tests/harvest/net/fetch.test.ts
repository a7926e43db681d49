import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { isPublicAddress } from "../../../harvest/net/addresses.ts";
import type { FailureReason } from "../../../harvest/net/failure.ts";
import { createFetch, isExempt } from "../../../harvest/net/fetch.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { words } from "../../helpers/world.ts";
import { failureOf, hang, json, Peer, status, streamForever, text } from "../peer.ts";

let peer: Peer;
test.before.each(async () => {
	peer = await Peer.open();
});
test.after.each(() => peer.close());

async function assertRefused(
	request: Promise<Response>,
	reason: FailureReason,
	pattern: RegExp,
): Promise<void> {
	const { reason: actual, message } = await failureOf(request);
	assert.is(actual, reason, message);
	assert.match(message, pattern);
}

/** A proxy on this machine that leads every tunnel to 127.0.0.1, and notes what it was asked for. */
async function openProxy() {
	const tunnels: string[] = [];
	const sockets = new Set<Duplex>();
	const proxy = createServer();
	proxy.on("connect", (request, socket) => {
		tunnels.push(request.url ?? "");
		const [, port] = (request.url ?? "").split(":");
		const target = connect(Number(port), "127.0.0.1", () => {
			socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
			target.pipe(socket).pipe(target);
		});
		for (const end of [socket, target]) {
			sockets.add(end);
			end.on("error", () => {
				socket.destroy();
				target.destroy();
			});
		}
	});
	await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
	const close = async () => {
		for (const socket of sockets) socket.destroy();
		await new Promise((resolve) => proxy.close(resolve));
	};
	return { address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, tunnels, close };
}

test("isPublicAddress knows the ranges that are not public", () => {
	// IANA's special-purpose registries (RFC 6890 and what followed), and the metadata services of clouds.
	const refused = words(`
		0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 168.63.129.16
		169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1
		203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 localhost
		:: ::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1
		64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 2002:808:808:: fc00::1
		fd00:ec2::254 fe80::1 fec0::1 ff02::1 4000::1
	`);
	for (const address of ["", ...refused]) assert.not(isPublicAddress(address), address);
	for (const address of words("8.8.8.8 132.156.1.1 172.32.0.1 100.128.0.1 ::ffff:8.8.8.8 2606:4700::1111")) {
		assert.ok(isPublicAddress(address), address);
	}
});

test("literal addresses that are not public are refused, in every spelling", async () => {
	const fetch = createFetch();
	const { port } = peer;
	const hosts = words(`
		127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 [::1] [::ffff:127.0.0.1] 0.0.0.0
	`);
	for (const host of hosts)
		await assertRefused(fetch(`http://${host}:${port}/`), "address", /not an address of the public/);
	assert.equal(peer.asked, []);
});

test("a name is refused when any of its addresses is not public", async () => {
	for (const addresses of [
		["127.0.0.1"],
		["8.8.8.8", "10.0.0.1"],
		["8.8.8.8", "fd00::1"],
		["::ffff:127.0.0.1"],
	]) {
		const resolve = (_host: string, _options: object, done: (error: null, all: never) => void) =>
			done(null, addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })) as never);
		const fetch = createFetch({ resolve });
		await assertRefused(
			fetch(`http://map.example:${peer.port}/`),
			"address",
			/map.example is not an address/,
		);
	}
	assert.equal(peer.asked, []);
});

test("this machine's own name is refused", async () => {
	await assertRefused(createFetch()(`http://localhost:${peer.port}/`), "address", /localhost/);
	assert.equal(peer.asked, []);
});

test("a redirect's target is checked as the first address is", async () => {
	// A proxy stands for the public internet: it leads every name to the peer.
	const proxy = await openProxy();
	const resolve = (_host: string, _options: object, done: (error: null, all: never) => void) =>
		done(null, [{ address: "127.0.0.1", family: 4 }] as never);
	const fetch = createFetch({ httpProxy: proxy.address, noProxy: "inside.example", resolve });
	// Those that would answer come first: an address without a host would be waited for.
	const targets: [target: string, words: RegExp][] = [
		[`http://127.0.0.1:${peer.port}/inside`, /127.0.0.1 is not an address of the public/],
		[`http://inside.example:${peer.port}/inside`, /inside.example is not an address of the public/],
		["http://169.254.169.254/latest/", /169.254.169.254 is not an address of the public/],
		["file:///etc/passwd", /only http and https/],
		["http://user:secret@other.example/", /must not hold credentials/],
	];
	try {
		for (const [target, words] of targets) {
			peer.on("/go", status(302, { Location: target }));
			await assertRefused(fetch(`http://map.example:${peer.port}/go`), "address", words);
		}
	} finally {
		await proxy.close();
	}
	assert.equal(new Set(peer.asked), new Set(["/go"]));
});

test("only http and https, and no credentials in an address", async () => {
	const fetch = createFetch({ allowPrivate: true });
	for (const address of ["file:///etc/passwd", "ftp://host.example/", "data:text/plain,x", "gopher://h/"]) {
		await assertRefused(fetch(address), "address", /only http and https/);
	}
	await assertRefused(
		fetch(`http://user:secret@127.0.0.1:${peer.port}/`),
		"address",
		/must not hold credentials/,
	);
	assert.equal(peer.asked, []);
});

test("three redirects are followed, four are not", async () => {
	const fetch = createFetch({ allowPrivate: true });
	for (const step of [1, 2, 3, 4]) peer.on(`/${step}`, status(302, { Location: `/${step - 1}` }));
	peer.on("/0", json("here"));
	const response = await fetch(`${peer.origin}/3`);
	assert.is(await response.json(), "here");
	assert.is(response.url, `${peer.origin}/0`);
	await assertRefused(fetch(`${peer.origin}/4`), "redirect", /more than 3 times/);
});

test("a redirect to a long address is not followed", async () => {
	const fetch = createFetch({ allowPrivate: true });
	peer.on("/go", status(302, { Location: `/${"x".repeat(2_048)}` }));
	await assertRefused(fetch(`${peer.origin}/go`), "redirect", /an address of over 2048 characters/);
	assert.equal(peer.asked, ["/go"]);
});

test("credentials that the caller hands in do not follow to another origin, and cookies are never sent", async () => {
	const other = await Peer.open();
	const seen: Record<string, unknown>[] = [];
	other.on("/", (request, response) => {
		seen.push(request.headers);
		response.end();
	});
	peer.on("/", (request, response) => {
		seen.push(request.headers);
		response.writeHead(302, { Location: `${other.origin}/`, "Set-Cookie": "a=b; Path=/" }).end();
	});
	const fetch = createFetch({ allowPrivate: true });
	for (let round = 0; round < 2; round += 1) {
		await (await fetch(`${peer.origin}/`, { headers: { Authorization: "token x" } })).text();
	}
	await other.close();
	assert.equal(
		seen.map((headers) => [headers.authorization, headers.cookie]),
		[
			["token x", undefined],
			[undefined, undefined],
			["token x", undefined],
			[undefined, undefined],
		],
	);
});

test("a request with a body is sent as it is, and a 303 turns it into a GET", async () => {
	const seen: string[] = [];
	const note = (request: import("node:http").IncomingMessage, answer: () => void) => {
		let body = "";
		request.on("data", (data) => {
			body += data;
		});
		request.on("end", () => {
			seen.push(`${request.method} ${request.url} ${body}`);
			answer();
		});
	};
	peer.on("/307", (request, response) =>
		note(request, () => response.writeHead(307, { Location: "/end" }).end()),
	);
	peer.on("/303", (request, response) =>
		note(request, () => response.writeHead(303, { Location: "/end" }).end()),
	);
	peer.on("/end", (request, response) => note(request, () => response.writeHead(204).end()));
	const fetch = createFetch({ allowPrivate: true });
	assert.is((await fetch(`${peer.origin}/307`, { method: "PUT", body: "x" })).status, 204);
	assert.is((await fetch(`${peer.origin}/303`, { method: "POST", body: "y" })).status, 204);
	assert.equal(seen, ["PUT /307 x", "PUT /end x", "POST /303 y", "GET /end "]);
});

test("a server that hangs is cut off, before its headers and within its body", async () => {
	const fetch = createFetch({ allowPrivate: true, timeoutMs: 200 });
	peer.on("/hang", hang);
	peer.on("/half", (_request, response) => {
		response.writeHead(200).write("{");
	});
	for (const path of ["/hang", "/half"]) {
		await assertRefused(fetch(peer.origin + path), "time", /within 0.2 s/);
	}
});

test("a body is cut off at its limit, counted after decompression", async () => {
	const fetch = createFetch({ allowPrivate: true, maxBytes: 100_000 });
	let isGivenUp = false;
	peer.on("/endless", (request, response) => {
		response.once("close", () => {
			isGivenUp = true;
		});
		streamForever(request, response);
	});
	peer.on("/bomb", (_request, response) => {
		response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000)));
	});
	peer.on("/fits", text("x".repeat(100_000)));
	for (const path of ["/endless", "/bomb"]) {
		await assertRefused(fetch(peer.origin + path), "size", /more than 100,000 bytes/);
	}
	await eventually(() => isGivenUp);
	assert.is((await (await fetch(`${peer.origin}/fits`)).text()).length, 100_000);
});

test("a connection that breaks off, and a host that is not there", async () => {
	const fetch = createFetch({ allowPrivate: true });
	peer.on("/cut", (request) => request.socket.destroy());
	await assertRefused(fetch(`${peer.origin}/cut`), "network", /breaks/);
	const { origin } = peer;
	await peer.close();
	await assertRefused(fetch(`${origin}/`), "connect", /refuses the connection/);
	peer = await Peer.open();
});

test("a caller's own signal ends a request with the caller's reason", async () => {
	peer.on("/hang", hang);
	const caller = new AbortController();
	const request = createFetch({ allowPrivate: true })(`${peer.origin}/hang`, { signal: caller.signal });
	caller.abort(new Error("enough"));
	await request.then(
		() => assert.unreachable(),
		(error) => assert.is(error.message, "enough"),
	);
});

test("a proxy is used for https, but not for the hosts that are exempt", async () => {
	const { address: httpsProxy, tunnels, close } = await openProxy();
	try {
		const host = `map.example:${peer.port}`;
		// The peer speaks no TLS: that the tunnel was asked for is what counts.
		await assertRefused(createFetch({ httpsProxy, timeoutMs: 60_000 })(`https://${host}/`), "network", /./);
		assert.equal(tunnels, [host], "the proxy resolves the name, and the proxy's own address may be private");
		await assertRefused(createFetch({ httpsProxy })("https://127.0.0.1/"), "address", /public internet/);
		const resolve = (_host: string, _options: object, done: (error: Error, all: never) => void) =>
			done(Object.assign(new Error("no"), { code: "ENOTFOUND" }), [] as never);
		const exempt = createFetch({ httpsProxy, noProxy: ".example", resolve });
		await assertRefused(exempt(`https://${host}/`), "connect", /does not resolve/);
		assert.equal(tunnels, [host]);
	} finally {
		await close();
	}
});

test("NO_PROXY is read as curl reads it", () => {
	const exempt = (noProxy: string, address = "https://maps.example.ca/x") =>
		isExempt(new URL(address), noProxy);
	for (const list of [
		"*",
		"example.ca",
		".example.ca",
		"*.example.ca",
		"a.b, maps.example.ca",
		"MAPS.EXAMPLE.CA:443",
	]) {
		assert.ok(exempt(list), list);
	}
	for (const list of ["", "ample.ca", "maps.example.ca:8443", "example.com", "maps.example.ca.evil"]) {
		assert.not(exempt(list), list);
	}
	for (const list of ["[::1]", "::1", "[::1]:80", "maps.example.ca,::1"]) {
		assert.ok(exempt(list, "http://[::1]/"), list);
	}
	assert.not(exempt("::1", "http://[::2]/"));
	assert.ok(exempt("2001:DB8::7", "http://[2001:db8::7]:8080/"));
	assert.ok(exempt("127.0.0.1:8080", "http://127.0.0.1:8080/"));
});

test.run();
