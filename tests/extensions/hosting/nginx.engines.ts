import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { pageHeaders } from "../../../site/http/pages.ts";
import { ask } from "../../conformance/client.ts";
import { wmsFragment } from "../../conformance/engine.ts";
import { nginx, spawnNginx } from "../../conformance/nginx-engine.ts";
import { eventually } from "../../helpers/wait.ts";
import { answering, runUnless, sharedSuite, temporaryFolder } from "../../helpers/world.ts";
import { assertCatalogue, buildCatalogue } from "./catalogue.ts";

const test = sharedSuite("nginx", async (use) => {
	const dist = await buildCatalogue(use(await temporaryFolder()).path);
	const [passed, forwarded, schemes] = [[] as string[], [] as unknown[], [] as unknown[]];
	const behind = await answering((request, response) => {
		passed.push(`${request.method} ${request.url}`);
		forwarded.push(request.headers["x-forwarded-for"]);
		schemes.push(request.headers["x-forwarded-proto"]);
		response.end("from the service");
	});
	const service = `127.0.0.1:${use(behind).port}`;
	const front = await spawnNginx(service, dist);
	use(front.stop);
	return { dist, origin: front.origin, service, forwarded, schemes, passed };
});
test.before.each(({ passed }) => {
	passed.length = 0;
});

test("fragments, compressed or not, come from disk without the service", async ({ origin, passed }) => {
	const gzip = await ask(origin, "GET", "/v0.9/doc/en/23ax5t", { headers: { "Accept-Encoding": "gzip" } });
	assert.is(gzip.headers["content-encoding"], "gzip");
	assert.match(gzip.headers.vary ?? "", /Accept-Encoding/);
	assert.equal(JSON.parse(gunzipSync(gzip.bytes).toString()), wmsFragment("23ax5t", "en", "limits"));
	const plain = await ask(origin, "GET", "/v0.9/doc/en/a+b=c?x");
	assert.is(plain.headers["content-encoding"], undefined);
	assert.equal(JSON.parse(plain.text), wmsFragment("a+b=c", "en", "plus"));
	assert.is((await ask(origin, "GET", "/doc/en/a+b=c")).text, plain.text, "another address of the same file");
	assert.equal(passed, []);
});

test("the catalogue comes from disk, with the headers of the service", async ({ origin, dist, passed }) => {
	await assertCatalogue(origin, dist);
	for (const path of ["fr/layer/a+b=c", "en/embed/a+b=c"]) {
		const { headers } = await ask(origin, "GET", `/${path}`);
		const policy = pageHeaders(`${path}.html`)["Content-Security-Policy"];
		assert.is(headers["content-security-policy"], policy, path);
	}
	assert.equal(passed, []);
});

test("other paths are passed to the service as they are", async ({ origin, passed, forwarded, schemes }) => {
	const targets = [
		"GET /v0.9/docs/en/23ax5t,%2023ax5t",
		"GET /v0.9/doc/en/%323ax5t",
		"GET /doc/en/23ax5t?a=b&%63allback=x",
		"GET /vcs?lang=en&id=23ax5t",
		"GET //v0.9/doc/en/23ax5t",
		"GET /v0.9/doc/en/none",
		"GET /v0.9/doc/en/23ax5t.gz",
		"GET /_headers",
		"GET /index/../site.json",
		"GET /assets/.hidden",
		"PUT /index.html",
		"PUT /v1/register/a%2Bb+c",
		"PUT /register/./a",
		"GET /healthz",
	];
	for (const line of targets) {
		const [method = "", target = ""] = line.split(" ");
		assert.is((await ask(origin, method, target)).text, "from the service", line);
	}
	assert.equal(passed, targets);
	await ask(origin, "PUT", "/register/a", { headers: { "X-Forwarded-For": "192.0.2.1" } });
	assert.is(forwarded.at(-1), "192.0.2.1, 127.0.0.1");
	// A client does not choose the scheme of the service's links.
	await ask(origin, "GET", "/en/none", { headers: { "X-Forwarded-Proto": "https" } });
	assert.is(schemes.at(-1), "http");
});

test("writes of one address are limited in number and at once, reads are not", async ({ service, dist }) => {
	const front = await spawnNginx(service, dist, (text) =>
		text.replace("rate=100r/s", "rate=1r/m").replace("burst=30000", "burst=3"),
	);
	const held = await spawnNginx(service, dist, (text) =>
		text.replace("fragment_writers 64", "fragment_writers 1"),
	);
	try {
		const statuses: number[] = [];
		for (let count = 0; count < 5; count += 1)
			statuses.push((await ask(front.origin, "PUT", "/register/a")).status);
		assert.equal(statuses, [200, 200, 200, 200, 429]);
		const refused = await ask(front.origin, "DELETE", "/register/a");
		assert.equal([refused.status, refused.text, refused.headers["retry-after"]], [429, "", "1"]);
		for (const target of ["/v0.9/doc/en/23ax5t", "/v0.9/docs/en/a,b", "/v0.9/docs/en/c", "/v0.9/doc/en/none"])
			assert.is((await ask(front.origin, "GET", target)).status, 200, target);
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

runUnless(nginx.missing, test);
