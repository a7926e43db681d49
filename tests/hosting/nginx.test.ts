import { rename } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { pageHeaders } from "../../api/site-headers.ts";
import { ask } from "../conformance/client.ts";
import { layers, wmsFragment } from "../conformance/engine.ts";
import { buildDist } from "../conformance/engines.ts";
import { hasBrotli, nginx, spawnNginx } from "../conformance/nginx-engine.ts";
import { temporaryFolder } from "../local.ts";
import { runScript } from "../process.ts";
import { eventually } from "../wait.ts";
import { addressOf, contentOf, pages, writePages } from "./pages.ts";

interface Scene {
	dist: string;
	origin: string;
	/** The service's host and port. */
	service: string;
	/** `X-Forwarded-For` of what came through. */
	forwarded: (string | undefined)[];
	/** Targets that came through to the service, as they came. */
	passed: string[];
	end: () => Promise<void>;
}

/** nginx with files of a build, in front of a service that notes what it is asked. */
const test = suite<Scene>("nginx");

test.before(async (scene) => {
	const folder = await temporaryFolder();
	scene.dist = await buildDist(layers, folder.path, true);
	await writePages(scene.dist);
	scene.passed = [];
	scene.forwarded = [];
	const service = createServer((request, response) => {
		scene.passed.push(`${request.method} ${request.url}`);
		scene.forwarded.push(request.headers["x-forwarded-for"] as string | undefined);
		response.end("from the service");
	});
	await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
	scene.service = `127.0.0.1:${(service.address() as AddressInfo).port}`;
	const front = await spawnNginx(scene.service, scene.dist);
	scene.origin = front.origin;
	scene.end = async () => {
		await front.stop();
		service.closeAllConnections();
		await new Promise((resolve) => service.close(resolve));
		await folder.remove();
	};
});
test.before.each(({ passed }) => {
	passed.length = 0;
});
test.after(async ({ end }) => end());

test("fragments come from disk, compressed at build time, and the service is not asked", async ({
	origin,
	passed,
}) => {
	const gzip = await ask(origin, "GET", "/v0.9/doc/en/23ax5t", { headers: { "Accept-Encoding": "gzip" } });
	assert.is(gzip.headers["content-encoding"], "gzip");
	assert.match(gzip.headers.vary ?? "", /Accept-Encoding/);
	assert.equal(JSON.parse(gunzipSync(gzip.bytes).toString()), wmsFragment("23ax5t", "en", "limits"));
	const plain = await ask(origin, "GET", "/v0.9/doc/en/a+b=c?x");
	assert.is(plain.headers["content-encoding"], undefined);
	assert.equal(JSON.parse(plain.text), wmsFragment("a+b=c", "en", "plus"));
	assert.is((await ask(origin, "GET", "/doc/en/a+b=c")).text, plain.text, "another address of the same file");
	for (const path of ["/v1/doc/fr/23ax5t", "/v2/doc/fr/23ax5t?", "/ramp4/fr/23ax5t"])
		assert.match((await ask(origin, "GET", path)).text, '"rcs.23ax5t.fr"');
	assert.equal(passed, []);
});

test("brotli comes before gzip where a reader knows both", async ({ origin }) => {
	if (!(await hasBrotli()))
		return console.log("skipped: brotli: libnginx-mod-http-brotli-static is not installed");
	const headers = { "Accept-Encoding": "gzip, deflate, br" };
	const answer = await ask(origin, "GET", "/v0.9/doc/fr/23ax5t", { headers });
	assert.is(answer.headers["content-encoding"], "br");
	assert.is(answer.headers["content-type"], "application/json; charset=utf-8");
	assert.equal(
		JSON.parse(brotliDecompressSync(answer.bytes).toString()),
		wmsFragment("23ax5t", "fr", "limits"),
	);
});

test("the catalogue comes from disk with the headers that the service gives it", async ({
	origin,
	passed,
}) => {
	for (const path of pages) {
		const target = `${addressOf(path)}?q=1`;
		const answer = await ask(origin, "GET", target, { headers: { "Accept-Encoding": "gzip" } });
		assert.is(gunzipSync(answer.bytes).toString(), contentOf(path), path);
		const names = [
			"Access-Control-Allow-Origin",
			"Referrer-Policy",
			"Content-Security-Policy",
			"Cache-Control",
		];
		const expected: Record<string, string | undefined> = pageHeaders(path, true);
		for (const name of [...names, "X-Content-Type-Options", "Content-Type"])
			assert.is(answer.headers[name.toLowerCase()], expected[name], `${path}: ${name}`);
	}
	assert.equal(passed, []);
});

test("what is no file in its plain spelling goes to the service, with the literal path", async ({
	origin,
	passed,
}) => {
	const targets = [
		"GET /v0.9/docs/en/23ax5t,%2023ax5t",
		"GET /v0.9/doc/en/%323ax5t",
		"GET /v0.9/doc/en/23ax5t?callback=x",
		"GET /doc/en/23ax5t?a=b&%63allback=x",
		"GET /ramp4/en/23ax5t,none",
		"GET /v2/doc//en/23ax5t",
		"GET /vcs?lang=en&id=23ax5t",
		"GET /v0.9//doc/en/23ax5t",
		"GET //v0.9/doc/en/23ax5t",
		"GET /v0.9/doc/en/none",
		"GET /v0.9/doc/en/23ax5t.gz",
		"GET /v0.9/doc/en/23ax5t%2e",
		"GET /_headers",
		"GET /fr/",
		"GET /en",
		"GET /index/none.json",
		"GET /index/../site.json",
		"GET /assets/.hidden",
		"GET /list.json",
		"PUT /index.html",
		"POST /v0.9/doc/en/23ax5t",
		"PUT /v1/register/a%2Bb+c",
		"PUT /register/./a",
		"DELETE /register/x?",
		"GET /healthz",
	];
	for (const line of targets) {
		const [method = "", target = ""] = line.split(" ");
		assert.is((await ask(origin, method, target)).text, "from the service", line);
	}
	assert.equal(passed, targets);
});

test("files are verified as they were built", async ({ origin, dist, passed }) => {
	// Encoded spellings and missing keys are the service's, which in this test knows no fragment.
	const { stderr } = await runScript("verify", [origin, "--dist", dist]);
	const lines = stderr
		.split("\n")
		.filter((line) => !/^$|^Comparing |^Asking |^\S+\/(?:en|fr)\/\S*[+=]/.test(line));
	assert.equal(lines, []);
	assert.equal(
		passed.filter((line) => !/%|nobody/.test(line)),
		[],
	);
});

test("a file that goes is gone at once", async ({ origin, dist, passed }) => {
	const path = join(dist, "v0.9/doc/en/constructor");
	await rename(path, `${path}.away`);
	assert.is((await ask(origin, "GET", "/v0.9/doc/en/constructor")).text, "from the service");
	await rename(`${path}.away`, path);
	assert.equal(passed, ["GET /v0.9/doc/en/constructor"]);
	assert.is((await ask(origin, "GET", "/v0.9/doc/en/constructor")).status, 200);
});

test("writes of one address are limited in number and at once, and reads are not", async (scene) => {
	const service = scene.service;
	const front = await spawnNginx(service, scene.dist, "", (text) =>
		text.replace("rate=100r/s", "rate=1r/m").replace("burst=30000", "burst=3"),
	);
	const held = await spawnNginx(service, scene.dist, "", (text) =>
		text.replace("fragment_writers 64", "fragment_writers 1"),
	);
	try {
		const statuses: number[] = [];
		for (let count = 0; count < 5; count += 1)
			statuses.push((await ask(front.origin, "PUT", "/register/a")).status);
		assert.equal(statuses, [200, 200, 200, 200, 429]);
		const refused = await ask(front.origin, "DELETE", "/register/a");
		assert.equal([refused.status, refused.text, refused.headers["retry-after"]], [429, "", "1"]);
		for (const target of ["/v0.9/doc/en/23ax5t", "/v0.9/docs/en/a,b", "/v0.9/doc/en/none"]) {
			for (let count = 0; count < 20; count += 1)
				assert.is((await ask(front.origin, "GET", target)).status, 200, target);
		}
		const { hostname, port } = new URL(held.origin);
		const dribbling = connect(Number(port), hostname);
		dribbling.write("PUT /register/a HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n1");
		await eventually(async () => (await ask(held.origin, "PUT", "/register/b")).status === 429);
		assert.is((await ask(held.origin, "GET", "/v0.9/docs/en/a")).status, 200);
		dribbling.destroy();
	} finally {
		await front.stop();
		await held.stop();
	}
});

test("the service learns of the address that nginx was asked from", async ({ origin, forwarded }) => {
	await ask(origin, "PUT", "/register/a", { headers: { "X-Forwarded-For": "192.0.2.1" } });
	assert.is(forwarded.at(-1), "192.0.2.1, 127.0.0.1");
});

/** The same while the service is away. */
const alone = suite("nginx without the service");

alone("fragments are served on; what needs the service is refused with an empty body", async () => {
	const folder = await temporaryFolder();
	const dist = await buildDist(layers, folder.path);
	const closed = createServer();
	await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
	const { port } = closed.address() as AddressInfo;
	await new Promise((resolve) => closed.close(resolve));
	const front = await spawnNginx(`127.0.0.1:${port}`, dist);
	try {
		assert.is((await ask(front.origin, "GET", "/v0.9/doc/en/23ax5t")).status, 200);
		for (const target of ["/v0.9/docs/en/23ax5t", "/healthz", "/v0.9/doc/en/none"]) {
			const answer = await ask(front.origin, "GET", target);
			assert.is(answer.status, 502, target);
			assert.is(answer.text, "");
			assert.is(answer.headers["access-control-allow-origin"], "*");
		}
	} finally {
		await front.stop();
		await folder.remove();
	}
});

if (nginx.missing === null) {
	test.run();
	alone.run();
} else {
	console.log(`skipped: nginx: ${nginx.missing}`);
	const skipped = suite("nginx");
	skipped.skip("without nginx", () => undefined);
	skipped.run();
}
