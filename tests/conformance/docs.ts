import { runInNewContext } from "node:vm";
import * as assert from "uvu/assert";
import type { Test } from "../helpers/suite.ts";
import { type Scene, wmsFragment } from "./engine.ts";
import { assertReadHeaders, assertRefused } from "./reads.ts";

const script = "application/javascript; charset=utf-8";

export function docsTests(test: Test<Scene>) {
	const missing = (smallkey: string) => ({ error_code: 404, smallkey });

	test("docs answers one element for each item, in order, repeats too", async ({ get }) => {
		const answer = await get("/v0.9/docs/fr/none,23ax5t,none,a+b=c,23ax5t");
		assert.is(answer.status, 200);
		assertReadHeaders(answer, { hasUnknownKey: true });
		const limits = wmsFragment("23ax5t", "fr", "limits");
		const plus = wmsFragment("a+b=c", "fr", "plus");
		assert.equal(JSON.parse(answer.text), [missing("none"), limits, missing("none"), plus, limits]);
	});

	test("an item that cannot be a smallkey is a missing key as it was sent", async ({ differs, get }) => {
		for (const [items, expected] of [
			["none,,none", ["none", "", "none"]],
			["%20none%20,%20", ["none", ""]],
			["%zz", ["%zz"]],
			["none%2Cother", ["none", "other"]],
			["%252C,a%22%5C%3C,%C3%A9,toString,none+x", ["%2C", 'a"\\<', "é", "toString", "none+x"]],
		] as const) {
			const answer = await get(`/v0.9/docs/en/${items}`);
			if (items === "%zz" && differs("malformed percent-encoding")) {
				assertRefused(answer, 400, items);
				continue;
			}
			assert.is(answer.status, 200, items);
			assert.equal(JSON.parse(answer.text), expected.map(missing), items);
		}
	});

	test("JSONP calls the last callback with the array", async ({ get }) => {
		const callback = "dojo_request_script_callbacks.dojo_request_script0";
		const answer = await get(`/v0.9/docs/en/23ax5t,none?x=1&callback=alert(1)&callback=${callback}&_=2`);
		assert.is(answer.status, 200);
		assertReadHeaders(answer, { type: script, hasUnknownKey: true });
		assert.ok(answer.text.startsWith(`/**/${callback}(`), answer.text.slice(0, 80));
		let argument: unknown;
		const take = (value: unknown) => {
			argument = value;
		};
		runInNewContext(answer.text, { dojo_request_script_callbacks: { dojo_request_script0: take } });
		assert.equal(
			JSON.stringify(argument),
			JSON.stringify([wmsFragment("23ax5t", "en", "limits"), missing("none")]),
		);
	});

	test("JSONP escapes the separators that end a line in older scripts", async ({ get }) => {
		const plain = await get("/v0.9/docs/en/Z");
		const jsonp = await get("/v0.9/docs/en/Z,%E2%80%A8?callback=f");
		assert.ok(plain.text.includes("\u2028"), "the layer's name has one");
		assert.not.ok(/[\u2028\u2029]/.test(jsonp.text));
		assert.ok(jsonp.text.includes("a\\u2028b\\u2029c"));
	});

	test("a callback is at most 128 characters of dotted ASCII identifiers", async ({ get }) => {
		for (const good of ["_a.b$.c1", "x".repeat(128), "%66"]) {
			const answer = await get(`/v0.9/docs/en/none?callback=${good}`);
			assert.is(answer.status, 200, good);
			assert.is(answer.headers["content-type"], script);
		}
		const bad = ["", "1a", "a..b", "a(b)", "%C3%A9", "%3Cscript%3E", "x".repeat(129), "%zz"];
		for (const callback of bad) {
			assertRefused(await get(`/v0.9/docs/en/none?callback=${callback}`), 400, callback);
		}
		assertRefused(await get("/v0.9/docs/en/none?callback=f&callback="), 400, "the last one counts");
		assertRefused(await get("/v0.9/docs/en/none?c%61llback=alert(1)"), 400, "another spelling of the name");
	});

	test("docs has limits: items, length, different keys", async ({ engine, get }) => {
		const { docsMaxKeys } = engine;
		const repeated = Array.from({ length: 1000 }, () => "-").join(",");
		const all = await get(`/v0.9/docs/en/${repeated}`);
		assert.is(all.status, 200);
		assert.is((JSON.parse(all.text) as unknown[]).length, 1000);
		assertRefused(await get(`/v0.9/docs/en/${repeated},-`), 414, "1,001 items");
		assertRefused(await get(`/v0.9/docs/en/${"y".repeat(16_001 - 14)}`), 414, "16,001 bytes");
		assert.is((await get(`/v0.9/docs/en/${"y".repeat(16_000 - 14)}`)).status, 200);
		if (docsMaxKeys >= 1000) return;
		const different = Array.from({ length: docsMaxKeys + 1 }, (_, index) => `k${index}`);
		assert.is((await get(`/v0.9/docs/en/${different.slice(1).join(",")},k1,k2`)).status, 200);
		assertRefused(await get(`/v0.9/docs/en/${different.join(",")}`), 414, "one key too many");
	});
}
