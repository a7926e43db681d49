import * as assert from "uvu/assert";
import { version } from "../../api/app.ts";
import { versionLine } from "../../store/files/version.ts";
import type { Test } from "../helpers/suite.ts";
import { words } from "../helpers/world.ts";
import type { Answer } from "./client.ts";
import { type Scene, wmsFragment } from "./engine.ts";

export function assertReadHeaders(
	answer: Answer,
	{ type = "application/json; charset=utf-8", hasUnknownKey = false } = {},
) {
	assert.is(answer.headers["content-type"], type);
	assert.is(answer.headers["access-control-allow-origin"], "*");
	assert.is(answer.headers["access-control-expose-headers"], "ETag, Date");
	assert.is(
		answer.headers["cache-control"],
		hasUnknownKey
			? "public, max-age=5"
			: "public, max-age=60, stale-while-revalidate=60, stale-if-error=86400",
	);
	assert.is(answer.headers["x-content-type-options"], "nosniff");
	assert.match(answer.headers.etag ?? "", /^(?:W\/)?"[^"]+"$/);
}

export function assertRefused(answer: Answer, status: number, what: string) {
	assert.is(answer.status, status, what);
	assert.is(answer.text, "", `${what}: the body`);
	assert.match(answer.headers["cache-control"] ?? "", /^(?:public, )?max-age=5$/, what);
	assert.is(answer.headers["access-control-allow-origin"], "*", what);
}

export function docTests(test: Test<Scene>) {
	test("doc answers one fragment in each language", async ({ get }) => {
		for (const lang of ["en", "fr"]) {
			const answer = await get(`/v0.9/doc/${lang}/23ax5t`);
			assert.is(answer.status, 200);
			assertReadHeaders(answer);
			assert.equal(JSON.parse(answer.text), wmsFragment("23ax5t", lang, "limits"));
		}
	});

	test("HEAD has the headers of GET and no body", async ({ ask, get }) => {
		for (const path of ["/v0.9/doc/en/23ax5t", "/v0.9/doc/en/a%2Bb%3Dc", "/v0.9/docs/en/23ax5t,none"]) {
			const [got, head] = [await get(path), await ask("HEAD", path)];
			assert.is(head.status, 200, path);
			assert.is(head.text, "", path);
			assertReadHeaders(head, { hasUnknownKey: path.includes("none") });
			assert.is(head.headers.etag, got.headers.etag, path);
		}
		assertRefused(await ask("HEAD", "/v0.9/doc/en/none"), 404, "HEAD none");
	});

	test("a conditional request gets 304 while the fragment is the same", async ({ differs, get }) => {
		for (const path of ["/v0.9/doc/en/23ax5t", "/v0.9/doc/en/%2B", "/v0.9/docs/fr/23ax5t,none"]) {
			const etag = (await get(path)).headers.etag ?? "";
			for (const condition of [etag, `W/${etag.replace(/^W\//, "")}`, `"other", ${etag}`, "*"]) {
				const answer = await get(path, { "If-None-Match": condition });
				const isList = condition !== etag && !condition.startsWith("W/");
				const isFile = path === "/v0.9/doc/en/23ax5t";
				const isUnknown = isList && isFile && differs("If-None-Match lists");
				assert.is(answer.status, isUnknown ? 200 : 304, `${path} ${condition}`);
				if (!isUnknown) assert.is(answer.text, "");
			}
			assert.is((await get(path, { "If-None-Match": '"other"' })).status, 200);
			assertRefused(await get("/v0.9/doc/en/none", { "If-None-Match": "*" }), 404, "no fragment");
		}
	});

	test("a lang is exactly en or fr, and is checked before the key", async ({ get }) => {
		for (const lang of words("de EN __proto__ %zz")) {
			assertRefused(await get(`/v0.9/doc/${lang}/%ff`), 400, lang);
			assertRefused(await get(`/v0.9/docs/${lang}/23ax5t`), 400, `docs ${lang}`);
		}
		assert.is((await get("/v0.9/doc/%65n/23ax5t")).status, 200);
	});

	test("a key that is not registered, or cannot be a smallkey, is not found", async ({ differs, get }) => {
		const keys = words("none toString 23AX5T 23ax5t%20 23ax5t%2Fx a,b %zz %ff 23ax5t.gz");
		keys.push("y".repeat(65));
		for (const key of keys) {
			const isOther = key === "%zz" && differs("malformed percent-encoding");
			assertRefused(await get(`/v0.9/doc/en/${key}`), isOther ? 400 : 404, key.slice(0, 70));
		}
	});

	test("reads know GET and HEAD only", async ({ ask, differs }) => {
		for (const path of ["/v0.9/doc/en/23ax5t", "/v0.9/docs/en/23ax5t"]) {
			for (const method of ["POST", "PATCH"]) {
				const answer = await ask(method, path, method === "POST" ? { body: "x" } : {});
				assert.is(answer.status, 405, `${method} ${path}`);
				assert.is(answer.text, "");
				const isOther = path === "/v0.9/doc/en/23ax5t" && differs("Allow of a file");
				assert.is(answer.headers.allow, isOther ? undefined : "GET, HEAD");
			}
		}
	});

	test("a page of another site may read with any header", async ({ ask, differs }) => {
		const paths = ["/v0.9/docs/en/23ax5t", "/v0.9/doc/en/none", "/v0.9/doc/de/none", "/docs/fr/23ax5t"];
		if (!differs("preflight of a file")) paths.push("/v0.9/doc/en/23ax5t");
		for (const path of paths) {
			const headers = {
				Origin: "https://page.example",
				"Access-Control-Request-Method": "GET",
				"Access-Control-Request-Headers": "x-requested-with",
			};
			const answer = await ask("OPTIONS", path, { headers });
			assert.is(answer.status, 204, path);
			assert.is(answer.headers["access-control-allow-origin"], "*");
			assert.is(answer.headers["access-control-allow-methods"], "GET, HEAD");
			assert.is(answer.headers["access-control-allow-headers"], "*, Authorization");
		}
	});

	test("other paths are not found", async ({ get }) => {
		const paths = words(`
			/ /v0.9/doc/en/ /v0.9/doc/en/23ax5t/x /v3/doc/en/23ax5t /V0.9/doc/en/23ax5t /ramp4/doc/en/23ax5t /_headers
			/.assetsignore /healthz/ //v0.9/doc/en/23ax5t /v0.9//doc/en/23ax5t /v0.9%2Fdoc/en/23ax5t
		`);
		for (const path of paths) assertRefused(await get(path), 404, path);
	});

	test("healthz and readyz say that the service is there", async ({ ask, get }) => {
		for (const path of ["/healthz", "/readyz"]) {
			const answer = await get(path);
			const text = path === "/healthz" ? `ok ${versionLine(version)}\n` : "ok\n";
			assert.equal([answer.status, answer.text], [200, text]);
			assert.is(answer.headers["cache-control"], "no-store");
			assert.is(answer.headers["content-type"], "text/plain; charset=utf-8");
			const head = await ask("HEAD", path);
			assert.equal([head.status, head.text], [200, ""]);
			assertRefused(await ask("POST", path), 405, path);
		}
	});
}
