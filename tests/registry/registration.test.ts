import { readdirSync, readFileSync } from "node:fs";
import * as assert from "uvu/assert";
import { harvestedLangs } from "../../extensions/harvest/langs.ts";
import {
	canonicalText,
	kindOf,
	type LangPart2,
	parseRegistration,
	type Registration2,
} from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import { textsOf } from "../../registry/texts.ts";
import { test } from "../helpers/suite.ts";

const arcgis = "https://host.example/arcgis/rest/services/A/MapServer/0/";
const both = (base: object, en: object, fr: object) => ({ en: { ...base, ...en }, fr: { ...base, ...fr } });

/** Documents of each version, with other members than the required ones; undefined leaves one out. */
function wms(en: object = {}, fr: object = {}, more: object = {}): object {
	const base = { service_url: "https://h.example/wms", layer: "a" };
	return { version: "1.0.0", payload_type: "wms", ...both(base, en, fr), ...more };
}
function feature(en: object = {}, fr: object = {}, more: object = {}): object {
	return { version: "1.0.0", payload_type: "feature", ...both({ service_url: arcgis }, en, fr), ...more };
}
function version2(en: object, fr: object = en, more: object = {}): object {
	return { version: "2.0", ...both({ service_url: "https://h.example/a" }, en, fr), ...more };
}

function problemsOf(document: object | string, rules: "written" | "stored" = "written"): string[] {
	const text = typeof document === "string" ? document : JSON.stringify(document);
	const { registration, problems } = parseRegistration(new TextEncoder().encode(text), rules);
	assert.is(registration === null, problems.length > 0);
	assert.not.match(JSON.stringify(problems), "hidden");
	return textsOf(problems);
}

const folder = new URL("../fixtures/valid/", import.meta.url);
const longest = `https://h.example/${"x".repeat(2_030)}`;
// biome-ignore format: a table
const valid: object[] = [
	...readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"))),
	...["1.1", "1.2", "1.20.3"].map((version) => feature({}, {}, { version })),
	wms({ service_url: "http://host.example:8080/cgi?map=/a%20b.map&x=[1]&t=1:2@3" }, { service_url: "HTTPS://[2001:db8::1]/wms" }),
	wms({ service_url: longest, service_name: "1 < 2 < <", metadata: { metadata_url: "https://h.example/rest/services/a/MapServer" } }),
	wms({}, {}, { targets: { v2: { en: { service_url: "https://h.example/ows" }, fr: { layer: "b" } } } }),
	version2({ service_type: "ogcWmts", recursive: true }),
	version2({ service_type: "esriMapServer", scrape_only: [3, 0] }, { service_type: "esriFeatureServer", recursive: true }),
	version2({ service_type: "esriFeature", service_url: arcgis, display_field: "NAME", loading_mode: "snapshot", max_allowable_offset: 10, tolerance: 5, metadata: { uuid: "9d5b2fb4" } }),
	version2({ service_type: "esriTile" }, { service_type: "esriImage", service_name: "Élévation < 10 m" }),
	version2({ service_type: "ogcWms", scrape_only: ["b", "a", "b"], recursive: false, legend_format: "image/png", feature_info_format: "text/html;fgpv=summary" }),
];

for (const document of valid) {
	test(`valid: ${JSON.stringify(document).slice(0, 120)}`, () => {
		const bytes = new TextEncoder().encode(JSON.stringify(document));
		const { registration, problems } = parseRegistration(bytes, "written");
		assert.equal(problems, []);
		const text = registration ? canonicalText(registration) : "";
		assert.equal(JSON.parse(text), JSON.parse(JSON.stringify(document)), "nothing is added or lost");
		assert.equal(problemsOf(text, "stored"), []);
	});
}

const versionRule = "/version: must be 1.x.y, such as 1.0.0, or 2.0, not";
const characters = "must be percent-encoded where it has other characters than RFC 3986 allows:";
const notAddress = "must be an http or https address, not";
const notPossible = "must be an http or https address, not";
const credentials = "must not hold a user name or password";
const markup = "must not hold < before a letter, / or !, as in markup, not";
const oneOrOther = "must have either a uuid, or a metadata_url, a catalogue_url or both";
const noLayers = "must name its layers in scrape_only, or have a recursive of true";
const empty = "must not be empty";
const unknown = "is not a known member";
const otherType = "does not belong to this payload_type";
const mediaType = (value: string) => `must be a media type, such as image/png, not "${value}"`;

// biome-ignore format: a table
const invalid: [document: object | string, ...problems: string[]][] = [
	["null", "the document: must be an object, not null"],
	["{}", "/en: is missing", "/fr: is missing", "/payload_type: is missing", "/version: is missing"],
	...["1.3", "1.01.0", "2.0.0"].map((version): [object, string] => [wms({}, {}, { version }), `${versionRule} "${version}"`]),
	[wms({}, {}, { version: 1 }), "/version: must be a string, not 1"],
	[wms({}, {}, { payload_type: { toString: 1, valueOf: 1 } }), "/payload_type: must be wms | feature, not an object"],
	[wms({}, {}, { version: { toString: 1 }, payload_type: undefined }), "/payload_type: is missing", "/version: must be a string, not an object"],
	[version2({ service_type: "esriMapServer", service_url: { toString: 1 }, recursive: false }, { service_type: "esriTile" }), `/en/service_url: must be a string, not an object`, `/en: ${noLayers}`],
	[version2({ service_type: { toString: 1, valueOf: 1 } }, { service_type: "esriTile" }), "/en/service_type: must be ogcWms, ogcWmts, esriFeature, esriMapServer, esriFeatureServer, esriTile or esriImage, not an object"],
	[wms({}, {}, { en: [], fr: null }), "/en: must be an object, not []", "/fr: must be an object, not null"],
	[wms({ a: 1 }, {}, { de: {}, "a~/b": 1 }), `/a~0~1b: ${unknown}`, `/de: ${unknown}`, `/en/a: ${unknown}`],
	[feature({ service_url: "ftp://h.example/" }, { service_url: "javascript:alert(1)" }), `/en/service_url: ${notAddress} "ftp://h.example/"`, `/fr/service_url: ${notAddress} "javascript:alert(1)"`],
	[feature({ service_url: "HTTPS://user:hidden@h.example/" }, { service_url: "https://hidden@h é/" }), `/en/service_url: ${credentials}`, `/fr/service_url: ${credentials}`],
	[feature({ service_url: "https://h.example/é" }, { service_url: "https://h.example/{a}" }), `/en/service_url: ${characters} "https://h.example/é"`, `/fr/service_url: ${characters} "https://h.example/{a}"`],
	[feature({ service_url: "http://?x" }, { service_url: "https://a b/" }), `/en/service_url: ${notPossible} "http://?x"`, `/fr/service_url: ${characters} "https://a b/"`],
	[wms({ service_url: `${longest}x` }), "/en/service_url: must have at most 2048 characters"],
	[wms({ layer: undefined }, { layer: "" }), "/en/layer: is missing", "/fr/layer: must not be empty"],
	[wms({ display_field: 7, max_allowable_offset: 1 }), `/en/display_field: ${otherType}`, `/en/max_allowable_offset: ${otherType}`],
	[feature({ layer: "x" }, { feature_info_type: "text/html" }), `/en/layer: ${otherType}`, `/fr/feature_info_type: ${otherType}`],
	[wms({ legend_format: "png" }, { feature_info_type: "text" }), `/en/legend_format: ${mediaType("png")}`, `/fr/feature_info_type: ${mediaType("text")}`],
	[feature({ max_allowable_offset: -1 }, { max_allowable_offset: 1.5 }), "/en/max_allowable_offset: must be 0 or more, not -1", "/fr/max_allowable_offset: must be an integer, not 1.5"],
	[JSON.stringify(feature({ max_allowable_offset: 4711 })).replace("4711", "1e999"), "/en/max_allowable_offset: must be an integer, not Infinity"],
	[feature({ loading_mode: "auto" }, { loading_mode: null }), '/en/loading_mode: must be ondemand | snapshot, not "auto"', "/fr/loading_mode: must be ondemand | snapshot, not null"],
	...[["https://maps.example:99999/wms", " https://h.example/"], ["HTTPS:///wms", "https://maps..example/"], ["http://999.1.1.1/", "http:/h.example/"]].map((addresses): [object, ...string[]] => [
		wms({ service_url: addresses[0] }, { service_url: addresses[1] }),
		...addresses.map((address, at) => `/${langs[at]}/service_url: ${notPossible} "${address}"`),
	]),
	[feature({ metadata: {} }, { metadata: { uuid: 1, url: "x" } }), `/en/metadata: ${oneOrOther}`, `/fr/metadata/url: ${unknown}`, "/fr/metadata/uuid: must be a string, not 1"],
	[feature({ metadata: { uuid: "x", metadata_url: "https://h.example/" } }, { metadata: { metadata_url: "mailto:x", catalogue_url: "https://a:hidden@h.example/" } }), `/en/metadata: ${oneOrOther}`, `/fr/metadata/catalogue_url: ${credentials}`, `/fr/metadata/metadata_url: ${notAddress} "mailto:x"`],
	[wms({}, {}, { targets: {} }), `/targets: ${empty}`],
	[wms({}, {}, { targets: { v2: {}, v20: {} } }), `/targets/v20: ${unknown}`, `/targets/v2: ${empty}`],
	[feature({}, {}, { targets: { v2: { de: {}, fr: {}, en: { service_url: "https://me:hidden@h.example/2", layer: "a", service_name: "A" } } } }), `/targets/v2/de: ${unknown}`, `/targets/v2/en/layer: ${otherType}`, `/targets/v2/en/service_name: ${unknown}`, `/targets/v2/en/service_url: ${credentials}`, `/targets/v2/fr: ${empty}`],
	[version2({ service_type: "esriTile" }, {}, { payload_type: "wms", targets: {}, fr: undefined }), "/fr: is missing", `/payload_type: ${unknown}`, `/targets: ${unknown}`],
	[version2({ service_type: "esriTile" }, { service_type: "esriTile" }, { version: "2.0.0" }), `${versionRule} "2.0.0"`],
	[version2({ service_type: "esriMap" }, {}), '/en/service_type: must be ogcWms, ogcWmts, esriFeature, esriMapServer, esriFeatureServer, esriTile or esriImage, not "esriMap"', "/fr/service_type: is missing"],
	[feature({ metadata: "4a1c" }), '/en/metadata: must be an object, not "4a1c"'],
	[version2({ service_type: "ogcWms" }, { service_type: "esriMapServer", recursive: false }), `/en: ${noLayers}`, `/fr: ${noLayers}`],
	[version2({ service_type: "esriTile", tolerance: 1, scrape_only: [1] }, { service_type: "ogcWms", recursive: true, layer: "a", display_field: "a" }), `/en/scrape_only: ${unknown}`, `/en/tolerance: ${unknown}`, `/fr/display_field: ${unknown}`, `/fr/layer: ${unknown}`],
	[version2({ service_type: "esriMapServer", scrape_only: ["a", -1, 1.5] }, { service_type: "ogcWms", scrape_only: [] }), '/en/scrape_only/0: must be an integer, not "a"', "/en/scrape_only/1: must be 0 or more, not -1", "/en/scrape_only/2: must be an integer, not 1.5", "/fr/scrape_only: must not be empty"],
	[version2({ service_type: "esriMapServer", legend_format: "image/png", scrape_only: "1" }, { service_type: "ogcWms", scrape_only: [1] }), `/en/legend_format: ${unknown}`, '/en/scrape_only: must be a list, not "1"', "/fr/scrape_only/0: must be a string, not 1"],
	[version2({ service_type: "esriFeature", recursive: true, tolerance: -1 }, { service_type: "esriFeature", service_url: undefined }), `/en/recursive: ${unknown}`, "/en/tolerance: must be 0 or more, not -1", "/fr/service_url: is missing"],
	[version2({ service_type: "ogcWms", scrape_only: ["a<b>", ""], service_name: "</script>" }, { service_type: "ogcWms", recursive: "yes", feature_info_format: "text/xml", legend_format: "png" }), `/en/scrape_only/0: ${markup} "a<b>"`, "/en/scrape_only/1: must not be empty", `/en/service_name: ${markup} "</script>"`, '/fr/feature_info_format: must be text/html;fgpv=summary | text/html | text/plain | application/json, not "text/xml"', `/fr/legend_format: ${mediaType("png")}`, '/fr/recursive: must be a boolean, not "yes"'],
];

for (const [document, ...problems] of invalid)
	test(`invalid: ${problems[0]}`, () => assert.equal(problemsOf(document).sort(), problems));

test("the number of a layer in the address of a MapServer is as one in scrape_only", () => {
	const service_url = "https://h.example/a/MapServer";
	const numbered = { service_type: "esriMapServer", service_url: `${service_url}/3` };
	const parse = (document: object) => parseRegistration(Buffer.from(JSON.stringify(document)), "written");
	const { registration } = parse(version2(numbered));
	assert.equal(registration?.fr, { service_type: "esriMapServer", service_url, scrape_only: [3] });
	for (const more of [{ recursive: true }, { scrape_only: [1] }, { service_url: `${service_url}/3?token=a` }])
		assert.match(
			String(textsOf(parse(version2({ ...numbered, ...more })).problems)),
			"without /3: …/MapServer",
		);
});

test("the kind of a layer, and the languages in which its service is harvested", () => {
	const service_url = "https://h.example/";
	const plain = { version: "1.0.0", payload_type: "wms", en: { service_url }, fr: { service_url } } as const;
	assert.equal([kindOf(plain), harvestedLangs(plain)], ["wms", []]);
	const roads = { service_url, layer: "roads" };
	assert.equal(harvestedLangs({ ...plain, en: roads, fr: roads }), ["en", "fr"]);
	const features = { ...plain, payload_type: "feature" } as const;
	assert.equal([kindOf(features), harvestedLangs(features)], ["feature", ["en", "fr"]]);
	const of = (en: Partial<LangPart2>, fr: Partial<LangPart2>) =>
		({ version: "2.0", en: { service_url, ...en }, fr: { service_url, ...fr } }) as Registration2;
	const mixed = of({ service_type: "esriFeature" }, { service_type: "esriTile", service_name: "Tuiles" });
	assert.equal([kindOf(mixed), harvestedLangs(mixed)], ["esriFeature and esriTile", ["en"]]);
	const whole = { service_type: "ogcWms", recursive: true } as const;
	assert.equal(harvestedLangs(of(whole, { ...whole, scrape_only: ["a"] })), ["en", "fr"]);
	assert.equal(harvestedLangs(of({ ...whole, recursive: false }, whole)), ["fr"]);
	const tiles = { service_type: "esriTile" } as const;
	assert.equal(harvestedLangs(of(tiles, { ...tiles, service_name: "Tuiles" })), ["en"], "for its title");
});

test("markup and a text that is too long are refused in a write, and a stored one is still read", () => {
	const marked = wms({ layer: "a</b>", service_name: "x <img src=x>" }, { layer: "<!--" });
	const name = `/en/service_name: ${markup} "x <img src=x>"`;
	const rows: [object, ...string[]][] = [
		[marked, `/en/layer: ${markup} "a</b>"`, name, `/fr/layer: ${markup} "<!--"`],
		[wms({ service_name: "a".repeat(1_025) }), "/en/service_name: must have at most 1024 characters"],
		[wms({ service_url: "https://a..b/" }), `/en/service_url: ${notPossible} "https://a..b/"`],
	];
	for (const [document, ...problems] of rows) {
		assert.equal(problemsOf(document).sort(), problems);
		assert.equal(problemsOf(document, "stored"), []);
		assert.equal(problemsOf({ ...document, version: "1.3" }, "stored"), [`${versionRule} "1.3"`]);
	}
});

test("a service_name is seen, without control characters, or empty; a stored one is still read", () => {
	const rule = "must be visible text on one line, or empty, not";
	const tile = { service_type: "esriTile" };
	for (const service_name of [" ", " \u00a0\u3000", "\u200b\u2060", "A\u0000\u0007B", "A\u0085"]) {
		for (const row of [wms({ service_name }), version2({ ...tile, service_name }, tile)]) {
			assert.equal(problemsOf(row), [`/en/service_name: ${rule} ${JSON.stringify(service_name)}`]);
			assert.equal(problemsOf(row, "stored"), []);
		}
	}
	for (const service_name of ["", " Élan 😀 \u2028", "e\u0301", "道路", "\ufeffA", "."])
		assert.equal(problemsOf(wms({ service_name })), [], service_name);
	const slow = `${" ".repeat(1_000)}\n`;
	assert.is(problemsOf(wms({ service_name: slow })).length, 1);
});

test("a URL parser never gets a long address, or one of other characters: it takes 140 ms for some", () => {
	const parsed: string[] = [];
	const Parser = globalThis.URL;
	globalThis.URL = class extends Parser {
		constructor(address: string | URL, base?: string | URL) {
			parsed.push(String(address));
			super(address, base);
		}
	} as typeof URL;
	try {
		const problemsAt = (service_url: string) => problemsOf(wms({ service_url }), "stored").join();
		const tooLong = "/en/service_url: must have at most 2048 characters";
		assert.is(problemsAt(`https://${"\u4e00".repeat(20_000)}/`), tooLong);
		assert.match(problemsAt(`https://${"\u4e00".repeat(2_000)}/`), `/en/service_url: ${characters}`);
		assert.equal([...new Set(parsed)], ["https://h.example/wms"]);
	} finally {
		globalThis.URL = Parser;
	}
});

test("the canonical form has one order, two spaces and a final newline", () => {
	const metadata = { metadata_url: "http://h.example/m", catalogue_url: "http://h.example/c" };
	const part = { service_url: "http://h.example/", layer: "a", metadata };
	const sorted = { version: "1.0.0", payload_type: "wms", en: part, fr: { ...part, layer: "b" } };
	const names = "fr en payload_type version metadata catalogue_url metadata_url layer service_url".split(" ");
	const { registration } = parseRegistration(Buffer.from(JSON.stringify(sorted, names)), "written");
	assert.is(registration && canonicalText(registration), `${JSON.stringify(sorted, null, 2)}\n`);
});

test("a registration that is too large in its stored form is refused in a write", () => {
	const document = version2({ service_type: "esriMapServer", scrape_only: Array(5_000).fill(7) });
	assert.match(problemsOf(document).join(), /^the document: must have at most 65536 bytes/);
	assert.equal(problemsOf(document, "stored"), []);
});

const wholeService = (name: string) => `must end with the number of one layer: …/${name} is a whole service`;
const notWms = "must not be the address of another kind of service";
// biome-ignore format: a table
const kinds: [typeof wms, string, string | null][] = [
	[feature, "a/MapServer", wholeService("MapServer")],
	[feature, "a/mapserver/wmsserver", notWms],
	[feature, "ows?Service=wms", notWms],
	[wms, "arcgis/rest/services/a/mapserver/3?service=WFS", notWms],
	[wms, "arcgis/rest/services/a/MapServer?service=wms", null],
	[wms, "arcgis/rest/services/a/MapServer/WMSServer", null],
	[wms, "rest/services/MapServer", null],
];

for (const [documentOf, path, rule] of kinds) {
	test(`${documentOf.name} at ${path}: a rule of writes, not of what is stored`, () => {
		const document = documentOf({ service_url: `https://h.example/${path}` });
		assert.equal(problemsOf(document), rule === null ? [] : [`/en/service_url: ${rule}`]);
		assert.equal(problemsOf(document, "stored"), []);
	});
}

test.run();
