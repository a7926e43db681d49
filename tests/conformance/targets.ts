import * as assert from "uvu/assert";
import { langs } from "../../registry/smallkey.ts";
import { targets } from "../../registry/targets/table.ts";
import type { Test } from "../helpers/suite.ts";
import { assertAcceptedAt } from "../viewer/accepted.ts";
import { readAsPortal } from "../viewer/geoview.ts";
import { readAsRamp4 } from "../viewer/ramp4.ts";
import { layers, type Scene } from "./engine.ts";
import { assertReadHeaders, assertRefused } from "./reads.ts";

/** Those that every target can express. */
const plainKeys = [...layers.keys()].slice(0, -7);

export function targetTests(test: Test<Scene>) {
	test("every target has every layer in both languages, and its readers accept it", async ({ get }) => {
		for (const { name, doc } of targets) {
			for (const lang of langs) {
				for (const smallkey of plainKeys) {
					const answer = await get(`/${doc}/${lang}/${encodeURIComponent(smallkey)}`);
					assert.is(answer.status, 200, `${name} ${smallkey}`);
					assertReadHeaders(answer);
					assertAcceptedAt(name, answer.text);
					assert.match(answer.text, `"rcs.${smallkey}.${lang}"`);
				}
			}
		}
	});

	test("a key that is not registered is 404 in doc, and an impossible lang 400", async ({ get }) => {
		for (const { name, doc, docs } of targets) {
			assertRefused(await get(`/${doc}/en/none`), 404, name);
			assertRefused(await get(`/${doc}/de/23ax5t`), 400, name);
			assertReadHeaders(await get(`/${docs}/en/none,23ax5t,not%20a%20key`), { hasUnknownKey: true });
			const script = await get(`/${docs}/en/none,23ax5t?callback=a.b`);
			assertReadHeaders(script, { type: "application/javascript; charset=utf-8", hasUnknownKey: true });
			assert.match(script.text, /^\/\*\*\/a\.b\(.*"rcs\.23ax5t\.en".*\);$/);
		}
	});

	test("doc is a script where a process answers", async ({ differs, get }) => {
		for (const { name, doc } of targets) {
			const plain = await get(`/${doc}/en/23ax5t`);
			const answer = await get(`/${doc}/en/23ax5t?callback=f.g`);
			assert.is(answer.status, 200, name);
			if (differs("callback of a file")) {
				assert.is(answer.text, plain.text, name);
				continue;
			}
			assertReadHeaders(answer, { type: "application/javascript; charset=utf-8" });
			assert.is(answer.text, `/**/f.g(${plain.text});`);
			const other = await get(`/${doc}/en/23ax5t?callback=f`);
			assert.is(new Set([plain, answer, other].map(({ headers }) => headers.etag)).size, 3, name);
			assertRefused(await get(`/${doc}/en/23ax5t?callback=f(g)`), 400, name);
		}
	});

	test("a comma, in each of its spellings, means several layers, also at aliases", async ({ get }) => {
		for (const comma of [",", "%2C", "%2c"]) {
			const items = JSON.parse((await get(`/ramp4/fr/tiles${comma}none${comma}many`)).text);
			assert.equal(readAsRamp4(items), [[], ["b", "a"]]);
			const { catalog } = JSON.parse((await get(`/terria/fr/tiles${comma}many`)).text);
			assert.is(catalog.length, 2);
		}
		const portal = await get("/vcs?lang=en&id=none,many,whole&referrer=host.example");
		assert.equal(readAsPortal(JSON.parse(portal.text), "en"), [{ id: "many", layers: ["b", "a"] }]);
		for (const { doc, aliases } of targets)
			for (const alias of aliases)
				assert.is((await get(`/${alias.doc}/fr/23ax5t`)).text, (await get(`/${doc}/fr/23ax5t`)).text);
	});
}
