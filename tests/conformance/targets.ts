import * as assert from "uvu/assert";
import { langs } from "../../registry/smallkey.ts";
import { targets } from "../../registry/targets/table.ts";
import type { Test } from "../helpers/suite.ts";
import { assertAcceptedAt } from "../viewer/accepted.ts";
import { readAsFgpv } from "../viewer/fgpv.ts";
import { readAsGeoview, readAsPortal } from "../viewer/geoview.ts";
import { readAsRamp4 } from "../viewer/ramp4.ts";
import { ask } from "./client.ts";
import { differs } from "./differences.ts";
import { type Candidate, type Engine, plainKeys } from "./engine.ts";
import { assertReadHeaders, assertRefused } from "./reads.ts";

/** A smallkey as it stands in a path. */
const encoded = (smallkey: string) => encodeURIComponent(smallkey);

/** Every target at every address, as its viewers read it. */
export function targetTests(test: Test, candidate: Candidate, engine: () => Engine): void {
	const get = (target: string) => ask(engine().origin, "GET", target);

	test("every target has every layer in both languages, and its readers accept it", async () => {
		for (const { name, doc } of targets) {
			for (const lang of langs) {
				for (const smallkey of plainKeys) {
					const answer = await get(`/${doc}/${lang}/${encoded(smallkey)}`);
					assert.is(answer.status, 200, `${name} ${smallkey}`);
					assertReadHeaders(answer);
					assertAcceptedAt(name, answer.text);
					assert.match(answer.text, `"rcs.${smallkey}.${lang}"`);
				}
			}
		}
	});

	test("a key that is not registered is 404 in doc, and what its viewers expect in docs", async () => {
		for (const { name, doc, docs, absent, envelope } of targets) {
			assertRefused(await get(`/${doc}/en/none`), 404, name);
			assertRefused(await get(`/${doc}/de/23ax5t`), 400, name);
			const one = (await get(`/${doc}/en/23ax5t`)).text;
			const known = envelope ? JSON.stringify(Object.values(JSON.parse(one))[0]).slice(1, -1) : one;
			const [open, close] = envelope ? [`${envelope.open}[`, `]${envelope.close}`] : ["[", "]"];
			const answer = await get(`/${docs}/en/none,23ax5t,not%20a%20key`);
			assert.is(answer.status, 200, name);
			assertReadHeaders(answer, { hasUnknownKey: true });
			const elements = [absent("none", 3), known, absent("not a key", 3)].filter((one) => one !== null);
			assert.is(answer.text, open + elements.join(",") + close, name);
			const script = await get(`/${docs}/en/none,23ax5t?callback=a.b`);
			assertReadHeaders(script, { type: "application/javascript; charset=utf-8", hasUnknownKey: true });
			const two = [absent("none", 2), known].filter((one) => one !== null);
			assert.is(script.text, `/**/a.b(${open}${two.join(",")}${close});`, name);
		}
	});

	test("a sorted list of v1 is a list of the same layers", async () => {
		const plain = await get("/v1/docs/fr/23ax5t,none,feature");
		const sorted = await get("/v1/docs/fr/23ax5t,none,feature/sort");
		assert.is(sorted.status, 200);
		assertReadHeaders(sorted, { hasUnknownKey: true });
		// Nothing was harvested: the order is the one asked for.
		assert.is(sorted.text, plain.text);
		const script = await get("/v1/docs/fr/23ax5t/sort?callback=f");
		assertReadHeaders(script, { type: "application/javascript; charset=utf-8" });
		assertRefused(await get("/v1/docs/de/23ax5t/sort"), 400, "another language");
		assertRefused(await get("/v1/docs/fr/23ax5t/other"), 404, "another order");
	});

	test("aliases are the same layers at other addresses", async () => {
		for (const { doc, docs, aliases } of targets) {
			for (const alias of aliases) {
				for (const smallkey of ["23ax5t", "feature", "a%2Bb%3Dc"]) {
					const own = await get(`/${doc}/fr/${smallkey}`);
					const other = await get(`/${alias.doc}/fr/${smallkey}`);
					assert.is(other.status, 200, alias.doc);
					assertReadHeaders(other);
					assert.is(other.text, own.text);
				}
				const list = "none,23ax5t";
				assert.is((await get(`/${alias.docs}/fr/${list}`)).text, (await get(`/${docs}/fr/${list}`)).text);
				assertRefused(await get(`/${alias.doc}/fr/none`), 404, alias.doc);
			}
		}
	});

	test("doc is a script where a process answers", async () => {
		for (const { name, doc } of targets) {
			const plain = await get(`/${doc}/en/23ax5t`);
			const answer = await get(`/${doc}/en/23ax5t?callback=f.g`);
			assert.is(answer.status, 200, name);
			if (differs(candidate, "callback of a file")) {
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

	test("layers of version 2.0 are read where a target has a form for them", async () => {
		const table: [smallkey: string, statuses: number[]][] = [
			["many", [404, 404, 200, 200, 200]],
			["server", [404, 404, 200, 200, 200]],
			["tiles", [404, 404, 200, 200, 200]],
			["wmts", [404, 404, 200, 404, 200]],
			["one", [404, 404, 200, 200, 200]],
			["several", [404, 404, 404, 404, 404]],
			["whole", [404, 404, 404, 404, 404]],
		];
		for (const [smallkey, statuses] of table) {
			for (const [index, { name, doc }] of targets.entries()) {
				const answer = await get(`/${doc}/en/${smallkey}`);
				assert.is(answer.status, statuses[index], `${name} ${smallkey}`);
				if (answer.status === 200) assertAcceptedAt(name, answer.text);
			}
		}
		const missing = JSON.parse((await get("/v0.9/docs/en/many,23ax5t")).text)[0];
		assert.equal(missing, { error_code: 404, smallkey: "many" });
	});

	test("FGPV, GeoView and the portal read what they ask for", async () => {
		const keys = "23ax5t,none,feature,wmts,several,whole,many,server,one";
		const elements = JSON.parse((await get(`/v2/docs/en/${keys}`)).text);
		assert.equal(
			readAsFgpv(elements).map(({ key, layerType }) => `${key} ${layerType}`),
			["23ax5t ogcWms", "feature esriDynamic", "many ogcWms", "server esriDynamic", "one esriFeature"],
		);
		const expected: [key: string, layers: string[]][] = [
			["23ax5t", ["limits"]],
			["feature", ["1"]],
			["wmts", ["t"]],
			["many", ["b", "a"]],
			["server", ["5", "0"]],
			["one", ["3"]],
		];
		for (const [key, layers] of expected) {
			// GeoView asks for one key at a time; its own default address ends with a slash.
			const [layer] = readAsGeoview(JSON.parse((await get(`/v2/docs//en/${key}`)).text));
			if (key === "wmts") assert.is(layer, undefined, "FGPV's list: GeoView has it from the portal's door");
			else assert.equal(layer?.layers, layers);
		}
		for (const key of ["none", "wmts", "several", "whole"])
			assert.is((await get(`/v2/docs/en/${key}`)).text, "[]", key);
		const portal = await get(`/vcs?lang=en&id=${keys}&referrer=host.example`);
		assertReadHeaders(portal, { hasUnknownKey: true });
		assert.equal(
			readAsPortal(JSON.parse(portal.text), "en").map(({ id, layers }) => [id, layers]),
			expected,
		);
		for (const key of ["none", "several", "none,whole"]) {
			const answer = JSON.parse((await get(`/vcs?lang=fr&id=${key}`)).text);
			assert.equal(answer, { response: { rcs: { fr: [] }, gcs: [] } });
		}
		assertRefused(await get(`/vcs?lang=de&id=${keys}`), 400, "the portal's language");
	});

	test("RAMP4 reads one layer as an object, and several as an array", async () => {
		const one = JSON.parse((await get("/ramp4/fr/many")).text);
		assert.equal(readAsRamp4([one])[0]?.sublayers, ["b", "a"]);
		for (const comma of [",", "%2C", "%2c"]) {
			const items = JSON.parse((await get(`/ramp4/fr/tiles${comma}none${comma}many`)).text);
			assert.equal(
				readAsRamp4(items).map(({ type }) => type),
				["esri-tile", "ogc-wms"],
			);
		}
		assert.is((await get("/ramp4/fr/none,nothing")).text, "[]");
	});

	test("Terria reads a catalogue of one layer or several in one language", async () => {
		const membersOf = async (keys: string) => {
			const { catalog } = JSON.parse((await get(`/terria/fr/${keys}`)).text);
			return catalog.map(({ type, id }: { type: string; id: string }) => [type, id]);
		};
		assert.equal(await membersOf("many"), [["wms", "rcs.many.fr"]]);
		const several = [
			["esri-mapServer", "rcs.tiles.fr"],
			["wms", "rcs.many.fr"],
		];
		for (const comma of [",", "%2C", "%2c"])
			assert.equal(await membersOf(`tiles${comma}none${comma}many`), several);
		assert.is((await get("/terria/fr/none,nothing")).text, '{"catalog":[]}');
		const script = (await get("/terria/fr/none,nothing?callback=f")).text;
		assert.is(script, '/**/f({"catalog":[]});');
		assertRefused(await get("/terria/fr/none"), 404, "one key");
	});

	test("the version is a list, as the older service has it", async () => {
		const answer = await get("/v2/version/");
		assert.is(answer.status, 200);
		assert.match(answer.text, /^\["\d+\.\d+\.\d+"\]$/);
		assert.is(answer.headers["access-control-allow-origin"], "*");
	});
}
