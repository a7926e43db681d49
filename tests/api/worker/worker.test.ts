import * as assert from "uvu/assert";
import type { Bindings } from "../../../api/worker/worker.ts";
import { createSiteWorker } from "../../../scripts/worker.ts";
import type { Entry } from "../../../site/data/entries.ts";
import { manual } from "../../helpers/handlers.ts";
import { signed } from "../../helpers/signed.ts";
import { suite } from "../../helpers/suite.ts";
import { answering } from "../../helpers/world.ts";
import { buildCatalogue } from "../../site/data/entries.ts";
import { pageSettings } from "../../site/data/pages.ts";
import { generateCatalogue } from "../../site/search/catalogue.ts";

const test = suite("the worker without its engine");

function make() {
	const log: string[] = [];
	return { log, worker: createSiteWorker((fields) => log.push(JSON.stringify(fields))) };
}

function get(path: string): Request {
	return new Request(`https://fragments.example${path}`);
}

function assets(
	answer = (path: string) => Response.json({ path }, { headers: { ETag: `"${path.length}"` } }),
) {
	const requests: string[] = [];
	const fetch = async (address: string) => {
		const path = new URL(address).pathname;
		requests.push(path);
		await new Promise(setImmediate);
		return answer(path);
	};
	return { binding: { ASSETS: { fetch } } satisfies Bindings, requests };
}

test("a missing binding is a clear line in the log, and a 500 with an empty body", async () => {
	for (const path of ["/v0.9/doc/en/23ax5t", "/v0.9/docs/en/23ax5t", "/healthz"]) {
		const { worker, log } = make();
		const answer = await worker.fetch(get(path), {});
		assert.is(answer.status, path === "/healthz" ? 503 : 500, path);
		const reason = path === "/healthz" ? "the configuration is wrong: see the log\n" : "";
		assert.is(await answer.text(), reason, path);
		assert.match(log[0] ?? "", '"the binding ASSETS (or OBJECTS) is missing: see wrangler.jsonc"');
	}
	const { worker } = make();
	assert.is((await worker.fetch(get("/v0.9/doc/de/x"), {})).status, 400, "what needs no binding is answered");
});

test("a bad variable is named in the log, with no secret in it", async () => {
	const { worker, log } = make();
	const bindings = { ...assets().binding, DOCS_MAX_KEYS: "many", SENDERS: '{"a": ""}' };
	assert.is((await worker.fetch(get("/v0.9/doc/en/23ax5t"), bindings)).status, 500);
	assert.match(log[0] ?? "", /DOCS_MAX_KEYS: must be a whole number from 1 to 900, not many/);

	const second = make();
	const senders = { ...assets().binding, SENDERS: '{"a": "hidden secret", "b": "hidden secret"}' };
	assert.is((await second.worker.fetch(get("/v0.9/doc/en/23ax5t"), senders)).status, 200, "reads go on");
	assert.is((await second.worker.fetch(get("/healthz"), senders)).status, 503);
	assert.match(second.log.join(), /SENDERS: senders a and b must not share a secret/);
	assert.not.match(second.log.join(), /hidden secret/);
});

test("assets that fail are a 500 with an empty body, never a fragment that is missing", async () => {
	for (const status of [307, 500, 503]) {
		const { worker, log } = make();
		const { binding } = assets(() => new Response("stack trace", { status }));
		const answer = await worker.fetch(get("/v0.9/docs/en/a,b"), binding);
		assert.is(answer.status, 500);
		assert.is(await answer.text(), "");
		assert.match(log[0] ?? "", new RegExp(`ASSETS: answers ${status} to /v0.9/doc/en/`));
	}
});

const keysOf = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`).join(",");

test("more keys than one request may fetch are 414 before anything is fetched", async () => {
	const { binding, requests } = assets();
	const keys = keysOf(46);
	const { worker } = make();
	const answer = await worker.fetch(get(`/v0.9/docs/en/${keys}`), binding);
	assert.is(answer.status, 414);
	assert.equal(requests, []);
	const more = { ...binding, DOCS_MAX_KEYS: "900" };
	assert.is((await make().worker.fetch(get(`/v0.9/docs/en/${keys}`), more)).status, 200);
});

test("docs over 32 MB is 414 as soon as the fetched assets show it", async () => {
	const { worker, log } = make();
	const body = JSON.stringify("x".repeat(999_998));
	const { binding, requests } = assets(() => new Response(body, { headers: { ETag: '"x"' } }));
	const bindings = { ...binding, DOCS_MAX_KEYS: "900" };
	assert.is((await worker.fetch(get(`/v0.9/docs/en/${keysOf(200)}`), bindings)).status, 414);
	assert.ok(requests.length < 32 + 2 * 24, `${requests.length} were fetched`);
	const repeated = `/v0.9/docs/en/${Array(33).fill("k").join(",")}`;
	assert.is((await worker.fetch(get(repeated), bindings)).status, 414, "repeats count");
	const large = await worker.fetch(get(`/v0.9/docs/en/${keysOf(3)}`), bindings);
	assert.is((await large.text()).length, 3 * (body.length + 1) + 1);
	assert.not.match(log.join(), /error/);
});

test("a body that is too large is read to 16 MB, and no further", async () => {
	const { worker } = make();
	let sent = 0;
	const body = new ReadableStream({
		pull(controller) {
			sent += 1;
			controller.enqueue(new Uint8Array(1_048_576));
		},
	});
	const init = { method: "PUT", body, duplex: "half" } as RequestInit;
	const answer = await worker.fetch(new Request("https://f.example/register/a", init), {
		...assets().binding,
		SENDERS: "{}",
	});
	assert.is(answer.status, 413);
	assert.ok(sent >= 16 && sent <= 20, `${sent} MB`);
});

test("writes are limited by Cloudflare's own rate limit, by address; a refused write is logged", async () => {
	const { worker, log } = make();
	const requests: string[] = [];
	const refused = new Set<string>();
	const limit = async ({ key }: { key: string }) => {
		requests.push(key);
		return { success: !refused.has(key) };
	};
	const bindings = { ...assets().binding, SENDERS: '{"jstest": "a secret"}', WRITES: { limit } };
	const path = "/register/23ax5t";
	const write = await signed(path, manual, { secret: "a secret" });
	const put = () => {
		const headers = { ...write.headers, "CF-Connecting-IP": "192.0.2.1", "Accept-Language": "fr" };
		return worker.fetch(new Request(`https://f.example${path}`, { ...write, headers }), bindings);
	};
	const busy = await put();
	assert.is(busy.status, 503, "there is no store");
	assert.match(await busy.text(), "ce service ne peut pas le faire en ce moment");
	assert.equal(requests.splice(0), ["192.0.2.1"]);
	const ready = await worker.fetch(get("/readyz"), bindings);
	assert.is(ready.status, 503);
	assert.is(await ready.text(), "GITHUB_REPOSITORY: is not set, so that nothing can be written\n");
	assert.is((await worker.fetch(get("/healthz"), bindings)).status, 200, "reads are served");
	log.length = 0;
	refused.add("192.0.2.1");
	const answer = await put();
	assert.equal([answer.status, answer.headers.get("Retry-After")], [429, "60"]);
	assert.equal(
		log.map((line) => JSON.parse(line)),
		[{ id: answer.headers.get("X-Request-Id"), method: "PUT", path, status: 429, sender: "jstest" }],
	);
	requests.length = 0;
	assert.is((await worker.fetch(get("/v0.9/doc/en/a?x=1"), bindings)).status, 200);
	assert.equal([requests, log.length], [[], 1], "a read is neither limited nor logged");
});

test("the worker takes the older service's writes, too, and does not harvest", async () => {
	const bindings = { ...assets().binding, SENDERS: '{"jstest": "test_-k"}' };
	for (const [method, path, text, expected] of [
		["PUT", "/v1/simplification/a", '{"x":1}', '400 {"errors":["/x: '],
		["POST", "/v2/refresh/all", "", '409 {"errors":["this service does not'],
	] as const) {
		const request = new Request(`https://f.example${path}`, await signed(path, text, { method }));
		const answer = await make().worker.fetch(request, bindings);
		assert.match(`${answer.status} ${await answer.text()}`, expected);
	}
});

test("the reason of a 503 to a write is in the log, without the token", async () => {
	const { worker, log } = make();
	await using limited = await answering((_, response) => {
		response.writeHead(429, { "Content-Type": "application/json", "Retry-After": "3600" });
		response.end(JSON.stringify({ message: "API rate limit exceeded" }));
	});
	const bindings = {
		...assets().binding,
		SENDERS: '{"jstest": "hidden secret"}',
		GITHUB_REPOSITORY: "maps/layers",
		GITHUB_TOKEN: "hidden-token",
		GITHUB_API_URL: limited.origin,
	};
	const path = "/register/23ax5t";
	const write = await signed(path, manual, { secret: "hidden secret" });
	const answer = await worker.fetch(new Request(`https://fragments.example${path}`, write), bindings);
	assert.is(answer.status, 503, await answer.text());
	const seconds = Number(answer.headers.get("Retry-After"));
	assert.ok(seconds >= 3600 && seconds <= 3630, `${seconds}: an hour, spread by half a minute at most`);
	const { status, cause } = JSON.parse(log[0] as string);
	assert.is(status, 503);
	assert.match(cause, /^GitHub: GET .*commits\S*: 429, API rate limit exceeded$/);
	assert.not.match(log.join(), /hidden/);
	assert.not.ok(log.join().includes(write.headers.Authorization));
});

test("the page of a layer is made of the index where the hosting has no file of it, by four files", async () => {
	const [first] = [...generateCatalogue(1)];
	const entry = { ...first, smallkey: "a+b" } as Entry;
	const settings = { pages: pageSettings, isServed: true, commit: null, owners: () => [] };
	const files = buildCatalogue([entry], null, settings).set("pages.json", JSON.stringify(pageSettings));
	const hosting = assets((path) => {
		const text = files.get(decodeURIComponent(path.slice(1)));
		return new Response(text ?? null, { status: text ? 200 : 404 });
	});
	const { worker } = make();
	const read = async (path: string) => {
		const answer = await worker.fetch(get(path), { ...hosting.binding, SITE: "on" });
		return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
	};
	const page = await read("/fr/layer/a+b");
	assert.equal([page.status, page.type], [200, "text/html; charset=utf-8"]);
	assert.ok(page.text.includes(`>${entry.title.fr}</h1>`));
	assert.is(hosting.requests.length, 4);
	const missing = await read("/fr/layer/none");
	assert.is(missing.status, 404);
	assert.match(missing.text, "Cette page n’existe pas");
	files.delete("pages.json");
	assert.is((await read("/fr/layer/none")).status, 404, "without a catalogue");
	for (const path of ["/collections", "/collections/layers/items?q=a", "/ogc/api", "/conformance"]) {
		const { status, type, text } = await read(path);
		assert.equal([status, type], [404, "application/json"], path);
		assert.equal(Object.keys(JSON.parse(text)), ["errors"]);
	}
});

test.run();
