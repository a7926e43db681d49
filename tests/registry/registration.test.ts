import { readdir, readFile } from "node:fs/promises";
import * as assert from "uvu/assert";
import { textsOf } from "../../registry/problems.ts";
import {
	canonicalText,
	harvestedLangs,
	kindOf,
	type LangNode,
	parseRegistration,
	type Registration2,
} from "../../registry/registration.ts";
import { test } from "../helpers/suite.ts";

const fixtures = new URL("../fixtures/", import.meta.url);
const encoder = new TextEncoder();

async function names(folder: string): Promise<string[]> {
	return (await readdir(new URL(`${folder}/`, fixtures))).filter((name) => name.endsWith(".json")).sort();
}

for (const folder of ["", "version-2/"]) {
	for (const name of await names(`${folder}valid`)) {
		test(`valid: ${folder}${name}`, async () => {
			const bytes = await readFile(new URL(`${folder}valid/${name}`, fixtures));
			const { registration, problems } = parseRegistration(bytes, "written");
			assert.equal(problems, []);
			if (!registration) return assert.unreachable();
			const text = canonicalText(registration);
			assert.equal(JSON.parse(text), JSON.parse(bytes.toString()), "nothing is added and nothing is lost");
			const again = parseRegistration(encoder.encode(text), "written").registration;
			assert.is(again && canonicalText(again), text);
		});
	}

	for (const name of await names(`${folder}invalid`)) {
		test(`invalid: ${folder}${name}`, async () => {
			const bytes = await readFile(new URL(`${folder}invalid/${name}`, fixtures));
			const path = `${folder}invalid/${name.replace(".json", ".txt")}`;
			const expected = await readFile(new URL(path, fixtures), "utf8");
			const { registration, problems } = parseRegistration(bytes, "written");
			assert.is(registration, null);
			assert.is(`${textsOf(problems).sort().join("\n")}\n`, expected);
			assert.not.match(JSON.stringify(problems), "hidden");
		});
	}
}

test("what kind of layer it is, and in which languages its service is harvested", () => {
	const service_url = "https://h.example/";
	const wms = { version: "1.0.0", payload_type: "wms", en: { service_url }, fr: { service_url } } as const;
	const feature = { ...wms, payload_type: "feature" } as const;
	assert.equal([kindOf(wms), harvestedLangs(wms)], ["wms", []]);
	const roads = { service_url, layer: "roads" };
	assert.equal(harvestedLangs({ ...wms, en: roads, fr: roads }), ["en", "fr"]);
	assert.equal([kindOf(feature), harvestedLangs(feature)], ["feature", ["en", "fr"]]);
	const of = (en: Partial<LangNode>, fr: Partial<LangNode>) =>
		({ version: "2.0", en: { service_url, ...en }, fr: { service_url, ...fr } }) as Registration2;
	const mixed = of({ service_type: "esriFeature" }, { service_type: "esriTile" });
	assert.equal([kindOf(mixed), harvestedLangs(mixed)], ["esriFeature and esriTile", ["en"]]);
	const whole = { service_type: "ogcWms", recursive: true } as const;
	const named = of(whole, { ...whole, scrape_only: ["a"] });
	assert.equal([kindOf(named), harvestedLangs(named)], ["ogcWms", ["en", "fr"]]);
	assert.equal(harvestedLangs(of({ ...whole, recursive: false }, whole)), ["fr"]);
});

test("what viewers take for markup is refused as it is written, and stays readable where it is stored", async () => {
	const bytes = await readFile(new URL("invalid/markup.json", fixtures));
	assert.is(parseRegistration(bytes, "written").registration, null);
	const { registration, problems } = parseRegistration(bytes, "stored");
	assert.equal(problems, []);
	assert.equal(registration, JSON.parse(bytes.toString()));
	const wrong = JSON.stringify({ ...registration, version: "1.3" });
	assert.equal(textsOf(parseRegistration(encoder.encode(wrong), "stored").problems), [
		'/version: must be 1.x.y, such as 1.0.0, or 2.0, not "1.3"',
	]);
});

test("a text that is longer than the limit is refused as it is written, and stays readable where it is stored", () => {
	const entry = { service_url: "https://h.example/", layer: "a", service_name: "a".repeat(1_025) };
	const value = { version: "1.0.0", payload_type: "wms", en: entry, fr: entry };
	const bytes = encoder.encode(JSON.stringify(value));
	const problem = "/service_name: must have at most 1024 characters";
	assert.equal(textsOf(parseRegistration(bytes, "written").problems), [`/en${problem}`, `/fr${problem}`]);
	assert.equal(parseRegistration(bytes, "stored"), { registration: value, problems: [] });
});

test("a long address, or one of other characters, is refused before a URL parser sees it", () => {
	const parsed: string[] = [];
	const Parser = globalThis.URL;
	globalThis.URL = class extends Parser {
		constructor(address: string | URL, base?: string | URL) {
			parsed.push(String(address));
			super(address, base);
		}
	} as typeof URL;
	try {
		// For such a host a URL parser takes some 140 ms.
		const host = Array.from({ length: 20_000 }, (_, index) =>
			String.fromCodePoint(0x4e00 + (index % 5_000)),
		).join("");
		const problemsAt = (service_url: string) => {
			const entry = { service_url, layer: "a" };
			const other = { service_url: "https://h.example/", layer: "a" };
			const value = { version: "1.0.0", payload_type: "wms", en: entry, fr: other };
			return textsOf(parseRegistration(encoder.encode(JSON.stringify(value)), "stored").problems);
		};
		const tooLong = "/en/service_url: must have at most 2048 characters";
		assert.equal(problemsAt(`https://${host}/`), [tooLong]);
		assert.equal(problemsAt(`https://${"a.".repeat(10_000)}/`), [tooLong]);
		assert.match(
			problemsAt(`https://${host.slice(0, 2_000)}/`).join(),
			/^\/en\/service_url: must be percent-encoded/,
		);
		assert.equal([...new Set(parsed)], ["https://h.example/"]);
	} finally {
		globalThis.URL = Parser;
	}
});

test("the canonical form has one order, two spaces and a final newline", () => {
	const text =
		'{"fr":{"layer":"b","service_url":"http://h.example/"},"en":{"metadata":{"catalogue_url":"http://h.example/c","metadata_url":"http://h.example/m"},"layer":"a","service_url":"http://h.example/"},"payload_type":"wms","version":"1.0.0"}';
	const { registration } = parseRegistration(encoder.encode(text), "written");
	assert.is(
		registration && canonicalText(registration),
		`{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": {
    "service_url": "http://h.example/",
    "layer": "a",
    "metadata": {
      "metadata_url": "http://h.example/m",
      "catalogue_url": "http://h.example/c"
    }
  },
  "fr": {
    "service_url": "http://h.example/",
    "layer": "b"
  }
}
`,
	);
});

const misspelt: [string, object, string][] = [
	[
		"of the document",
		{ payload_typ: "wms" },
		"/payload_typ: is not a known member: did you mean payload_type?",
	],
	[
		"of a language",
		{ en: { servce_url: "x" } },
		"/en/servce_url: is not a known member: did you mean service_url?",
	],
	["that lacks its first word", { type: "wms" }, "/type: is not a known member: did you mean payload_type?"],
	[
		"of a language that lacks its first word",
		{ en: { url: "x" } },
		"/en/url: is not a known member: did you mean service_url?",
	],
	["that is far from all", { en: { colour: "x" } }, "/en/colour: is not a known member"],
	[
		"of the other type",
		{ en: { display_field: "x" } },
		"/en/display_field: belongs to payload_type feature, and must be left out of wms",
	],
];

for (const [what, members, expected] of misspelt) {
	test(`a member ${what} is refused with the way out`, () => {
		const document = { version: "1.0.0", payload_type: "wms", en: {}, fr: {}, ...members };
		const { problems } = parseRegistration(new TextEncoder().encode(JSON.stringify(document)), "written");
		assert.ok(textsOf(problems).includes(expected), textsOf(problems).join("\n"));
	});
}

const [wrongWms, wrongArcgis] = [
	"of a WMS, not of an ArcGIS service",
	"of a MapServer or FeatureServer, not of a WMS",
];
const whole = (name: string) => `must end with the number of one layer: …/${name} is a whole service`;
const wrongKinds: [object, string, string | null][] = [
	[{ payload_type: "feature" }, "a/MapServer", whole("MapServer")],
	[{ payload_type: "feature" }, "a/FeatureServer/?f=json", whole("FeatureServer")],
	[{ payload_type: "feature" }, "a/MapServer/WMSServer", `must be the address ${wrongArcgis}`],
	[{ payload_type: "feature" }, "ows?Service=wms", `must be the address ${wrongArcgis}`],
	[{ payload_type: "feature" }, "behind/a/proxy", null],
	[{ payload_type: "wms" }, "arcgis/rest/services/a/MapServer/3", `must be the address ${wrongWms}`],
	[{ payload_type: "wms" }, "arcgis/services/a/MapServer/WMSServer", null],
	[{ payload_type: "wms" }, "MapServer", null],
];

for (const [type, path, rule] of wrongKinds) {
	test(`${JSON.stringify(type)} at ${path}: a rule of what is written, not of what is stored`, () => {
		const node = { service_url: `https://h.example/${path}` };
		const lang = JSON.stringify(type).includes("wms") ? { ...node, layer: "a" } : node;
		const bytes = new TextEncoder().encode(JSON.stringify({ version: "1.0.0", ...type, en: lang, fr: lang }));
		const problems = rule === null ? [] : ["en", "fr"].map((one) => `/${one}/service_url: ${rule}`);
		assert.equal(textsOf(parseRegistration(bytes, "written").problems), problems);
		assert.equal(parseRegistration(bytes, "stored").problems, []);
	});
}

test("an address of the wrong kind is named together with every other problem", () => {
	const layer = { service_url: "https://h.example/a/MapServer", displayField: "x" };
	const document = { version: "1.0.0", payload_type: "feature", en: layer, fr: null };
	const { problems } = parseRegistration(new TextEncoder().encode(JSON.stringify(document)), "written");
	assert.equal(textsOf(problems), [
		"/en/displayField: is not a known member: did you mean display_field?",
		"/fr: must be an object, not null",
		`/en/service_url: ${whole("MapServer")}`,
	]);
});

test.run();
