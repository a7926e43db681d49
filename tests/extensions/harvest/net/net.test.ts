import type { LookupAddress } from "node:dns";
import net, { type LookupFunction } from "node:net";
import tls from "node:tls";
import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { fetchFromGithub, isExempt } from "../../../../api/service/proxy.ts";
import { readConfiguration } from "../../../../api/service/settings.ts";
import type { FailureReason, FetchFailure } from "../../../../extensions/harvest/net/failure.ts";
import { createLookup, isPublicAddress, type Resolve } from "../../../../extensions/harvest/net/failure.ts";
import { createFetch, type Take } from "../../../../extensions/harvest/net/fetch.ts";
import {
	failureOf,
	hang,
	json,
	openProxy,
	Peer,
	type Route,
	status,
	streamForever,
	text,
} from "../../../extensions/harvest/peer.ts";
import { suite } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { words } from "../../../helpers/world.ts";

const test = suite<{ peer: Peer; proxy: Awaited<ReturnType<typeof openProxy>> }>("guarded fetch");
test.before(async (scene) => {
	scene.peer = await Peer.open();
	scene.proxy = await openProxy();
});
test.after(({ peer, proxy }) => Promise.all([peer.close(), proxy.close()]));
test.before.each(({ peer }) => {
	peer.routes.clear();
	peer.asked.length = 0;
});

async function assertRefused(
	request: Promise<Response>,
	reason: FailureReason,
	pattern: RegExp | string,
): Promise<void> {
	const failure = await failureOf(request);
	assert.is(failure.reason, reason, failure.message);
	assert.match(failure.message, pattern);
}

const resolving =
	(...addresses: string[]): Resolve =>
	(_host, _options, done) =>
		done(
			null,
			addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
		);

test("addresses that are not public are refused, in every spelling and by name", async ({ peer }) => {
	// IANA's special-purpose registries (RFC 6890 and what followed), and the metadata services of clouds.
	const refused = words(`
		0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 168.63.129.16
		169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1
		203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 localhost
		:: ::1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1
		64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 2002:808:808:: fc00::1
		fd00:ec2::254 fe80::1 fec0::1 ff02::1 4000::1`);
	for (const address of ["", ...refused]) assert.not(isPublicAddress(address), address);
	for (const address of words("8.8.8.8 132.156.1.1 172.32.0.1 100.128.0.1 ::ffff:8.8.8.8 2606:4700::1111"))
		assert.ok(isPublicAddress(address), address);
	const hosts = words(
		"127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 [::1] [::ffff:127.0.0.1] 0.0.0.0 localhost",
	);
	const local = createFetch();
	for (const host of hosts)
		await assertRefused(local(`http://${host}:${peer.port}/`), "address", /not an address of the public/);
	for (const addresses of ["127.0.0.1", "8.8.8.8 10.0.0.1", "8.8.8.8 fd00::1", "::ffff:127.0.0.1"]) {
		const fetch = createFetch({ resolve: resolving(...words(addresses)) });
		const refused = fetch(`http://map.example:${peer.port}/`);
		await assertRefused(refused, "address", /map.example is not an address/);
	}
	const anywhere = createFetch({ allowPrivate: true });
	for (const address of ["file:///etc/passwd", "ftp://host.example/", "data:text/plain,x"])
		await assertRefused(anywhere(address), "address", /has an unusable address/);
	const secret = `http://user:secret@127.0.0.1:${peer.port}/`;
	await assertRefused(anywhere(secret), "address", /has an unusable address/);
	assert.equal(peer.asked, []);
});

test("a name that changes its address: what was checked is what is connected to", async () => {
	const answers = ["192.88.99.1", "8.8.8.8", "127.0.0.1"];
	let questions = 0;
	const lookup = createLookup((host, options, done) =>
		resolving(answers[questions++] ?? "")(host, options, done),
	);
	const look = () =>
		new Promise<LookupAddress[] | Error>((done) =>
			lookup("map.example", { all: true }, (error, found) => done(error ?? (found as LookupAddress[]))),
		);
	assert.is(((await look()) as FetchFailure).reason, "address", "a reserved one");
	assert.equal(await look(), [{ address: "8.8.8.8", family: 4 }]);
	assert.is(((await look()) as FetchFailure).reason, "address");
	assert.is(questions, 3, "no second question between the check and the connection");
});

/** In place of the public internet: what the guard lets through leads to the peer. */
function leadEveryAddressTo(peer: Peer): Disposable {
	const [connectTcp, connectTls] = [net.connect, tls.connect];
	const here = [{ address: "127.0.0.1", family: 4 }];
	Object.assign(net, {
		connect: ({ lookup, ...options }: net.TcpNetConnectOpts) => {
			const look: LookupFunction = (host, how, done) =>
				lookup?.(host, how, (error) => (error ? done(error, []) : done(null, here)));
			return connectTcp({ ...options, ...(lookup && { port: peer.port, lookup: look }) });
		},
	});
	// The peer speaks no TLS.
	Object.assign(tls, {
		connect: ({ socket: tunnel, ...options }: tls.ConnectionOptions & net.TcpNetConnectOpts) => {
			const socket = tunnel ?? net.connect(options);
			const ready = () => socket.emit("secureConnect");
			if (tunnel) setImmediate(ready);
			else socket.once("connect", ready);
			return socket;
		},
	});
	const restore = () => {
		Object.assign(net, { connect: connectTcp });
		Object.assign(tls, { connect: connectTls });
	};
	return { [Symbol.dispose]: restore };
}

test("each target of redirects is checked, also behind a proxy; many redirects end", async ({
	peer,
	proxy,
}) => {
	using _internet = leadEveryAddressTo(peer);
	const resolve: Resolve = (host, options, done) =>
		resolving(host === "inside.example" ? "10.0.0.1" : "8.8.8.8")(host, options, done);
	const hosts: string[] = [];
	const onRequest = ({ host }: URL) => void hosts.push(host);
	const options = { resolve, onRequest, noProxy: "inside.example" };
	const port = `:${peer.port}`;
	for (const [fetch, origin] of [
		[createFetch(options), "http://map.example"],
		[createFetch({ ...options, httpsProxy: proxy.address }), `https://map.example${port}`],
	] as const) {
		const inside = ["127.0.0.1", "inside.example", "169.254.169.254", "[::ffff:10.0.0.1]"].flatMap((host) =>
			["http", "https"].map(
				(scheme) => [`${scheme}://${host}${port}/`, "address", "public internet"] as const,
			),
		);
		for (const [target, reason, pattern] of [
			...inside,
			["file:///etc/passwd", "redirect", /has an unusable address/],
			["data:text/plain,x", "redirect", /unusable/],
			["http://user:secret@other.example/", "redirect", /unusable/],
			[origin.replace("//", "//user@"), "redirect", /unusable/],
			["http://[", "redirect", /unusable/],
			[`/${"x".repeat(64_000)}`, "network", /cannot be reached/],
			["/start", "redirect", /redirects too often/],
		] as const) {
			peer.on("/start", status(302, { Location: "/go" }));
			peer.on("/go", status(307, { Location: target }));
			await assertRefused(fetch(`${origin}/start`), reason, pattern);
		}
		peer.on("/go", status(302, { Location: "http://other.example/end" }));
		peer.on("/end", json("here"));
		hosts.length = 0;
		assert.is((await fetch(`${origin}/start`)).url, "http://other.example/end");
		const { host } = new URL(origin);
		assert.equal(hosts, [host, host, "other.example"], "each request is counted once");
	}
	assert.equal(new Set(peer.asked), new Set(["/start", "/go", "/end"]));
	const manual = await createFetch(options)("http://map.example/go", { redirect: "manual" });
	assert.equal([manual.status, manual.headers.get("Location")], [302, "http://other.example/end"]);
});

test("credentials do not follow to another origin", async ({ peer }) => {
	await using other = await Peer.open();
	const headers = { Authorization: "token x", Cookie: "a=b" };
	const seen: (string | undefined)[][] = [];
	const end: Route = ({ headers: { authorization, cookie, "user-agent": agent } }, response) => {
		seen.push([authorization, cookie, agent]);
		response.writeHead(204, { "Set-Cookie": "c=d; Path=/" }).end();
	};
	peer.on("/end", end);
	other.on("/end", end);
	const fetch = createFetch({ allowPrivate: true });
	for (const location of ["/end", `${other.origin}/end`]) {
		peer.on("/go", status(302, { Location: location }));
		await fetch(`${peer.origin}/go`, { headers });
	}
	assert.equal(seen, [
		["token x", "a=b", "fragment-publisher"],
		[undefined, undefined, "fragment-publisher"],
	]);
});

test("what hangs, never ends, breaks off or is a bomb ends in a failure", async ({ peer }) => {
	const fetch = createFetch({ allowPrivate: true, timeoutMs: 60_000, maxBytes: 100_000 });
	let isGivenUp = false;
	peer.on("/endless", (request, response) => {
		response.once("close", () => (isGivenUp = true));
		streamForever(request, response);
	});
	const bomb = gzipSync(Buffer.alloc(20_000_000));
	for (const [path, coding, bytes] of [
		["/bomb", "gzip", bomb],
		["/twice", "gzip, gzip", gzipSync(bomb)],
		["/odd", "gzip", Buffer.from("no such thing")],
	] as const)
		peer.on(path, (_, response) => void response.writeHead(200, { "Content-Encoding": coding }).end(bytes));
	peer.on("/cut", (request) => request.socket.destroy());
	peer.on("/fits", text("x".repeat(100_000)));
	for (const path of ["/endless", "/bomb", "/twice"])
		await assertRefused(fetch(peer.origin + path), "size", /more than 100,000 bytes/);
	await eventually(() => isGivenUp);
	for (const path of ["/odd", "/cut"]) await assertRefused(fetch(peer.origin + path), "network", /./);
	assert.is((await (await fetch(`${peer.origin}/fits`)).text()).length, 100_000);
	peer.on("/hang", hang);
	peer.on("/half", (_request, response) => void response.writeHead(200).write("{"));
	peer.on("/drip", (_request, response) => {
		const timer = setInterval(() => response.write(" "), 10);
		response.writeHead(200).once("close", () => clearInterval(timer));
	});
	const impatient = createFetch({ allowPrivate: true, timeoutMs: 100 });
	for (const path of ["/hang", "/half", "/drip"])
		await assertRefused(impatient(peer.origin + path), "time", /within 0.1 s/);
	const take: Take = async (parts) => {
		for await (const _part of parts);
	};
	for (const path of ["/hang", "/half"])
		await assertRefused(impatient(peer.origin + path, { take }), "time", /within 0.1 s/);
	const gone = await Peer.open();
	const { origin } = gone;
	await gone.close();
	await assertRefused(fetch(`${origin}/`), "connect", /refuses the connection/);
	const caller = new AbortController();
	const request = fetch(`${peer.origin}/hang`, { signal: caller.signal });
	caller.abort(new Error("enough"));
	assert.is(await request.catch((error) => error.message), "enough");
});

test("a proxy is used for https, but not for the hosts that are exempt", async ({ peer, proxy }) => {
	const { address: httpsProxy, tunnels } = proxy;
	tunnels.length = 0;
	const host = `map.example:${peer.port}`;
	// The peer speaks no TLS: the tunnel is what the test looks for.
	await assertRefused(createFetch({ httpsProxy, timeoutMs: 60_000 })(`https://${host}/`), "network", /./);
	assert.equal(tunnels, [host], "the proxy resolves the name, and the proxy's own address may be private");
	await assertRefused(createFetch({ httpsProxy })("https://127.0.0.1/"), "address", /public internet/);
	const unknown: Resolve = (_host, _options, done) =>
		done(Object.assign(new Error("no"), { code: "ENOTFOUND" }), []);
	const exempt = createFetch({ httpsProxy, noProxy: ".example", resolve: unknown });
	await assertRefused(exempt(`https://${host}/`), "connect", /host is not found/);
	assert.equal(tunnels, [host]);
	const github = fetchFromGithub(readConfiguration({ HTTPS_PROXY: httpsProxy, NO_PROXY: "localhost" }));
	assert.ok(await github(`https://${host}/`).catch((error) => error instanceof TypeError));
	assert.ok(await github(`https://localhost:${peer.port}/`).catch((error) => error instanceof TypeError));
	assert.equal(tunnels, [host, host]);
	for (const [address, lists, other] of [
		[
			"https://maps.example.ca/x",
			["*", "example.ca", ".example.ca", "*.example.ca", "a.b, maps.example.ca", "MAPS.EXAMPLE.CA"],
			["", "ample.ca", "example.com", "maps.example.ca.evil"],
		],
		["http://[2001:db8::7]:8080/", ["2001:DB8::7", "[2001:db8::7]", "maps.example.ca,2001:db8::7"], ["::2"]],
		["http://127.0.0.1:8080/", ["127.0.0.1"], ["127.0.0.2"]],
	] as const) {
		for (const list of lists) assert.ok(isExempt(new URL(address), list), list);
		for (const list of other) assert.not(isExempt(new URL(address), list), list);
	}
});

test.run();
