import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { checkLayer } from "../../../extensions/harvest/check-layer.ts";
import type { Clients } from "../../../extensions/harvest/clients.ts";
import { isDescribed } from "../../../extensions/harvest/description.ts";
import { resultOf } from "../../../extensions/harvest/finding.ts";
import { watchLayer } from "../../../extensions/harvest/watch-layer.ts";
import type { NamedDescription } from "../../../registry/description.ts";
import type { LangPart1, Registration, Registration1 } from "../../../registry/registration.ts";
import { renderAt, targetNames } from "../../../registry/targets/table.ts";
import { describedFor } from "../../../site/data/entry.ts";
import { readCapabilities } from "../../../site/service/read-capabilities.ts";
import { test } from "../../helpers/suite.ts";
import { factsOf } from "../../viewer/viewer.ts";
import { clientsOf, harvestFrom, host, memoryHost, nodeAt, type Route } from "./memory.ts";
import { blank, drawn } from "./pictures.ts";

const address = `${host}/wms`;
const request = "SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.3.0";

function wms(en: string, fr = en, more: { en?: object; fr?: object } = {}): Registration1 {
	const entryOf = (layer: string, members: object = {}): LangPart1 => ({
		service_url: address,
		layer,
		...members,
	});
	return { version: "1.0.0", payload_type: "wms", en: entryOf(en, more.en), fr: entryOf(fr, more.fr) };
}

async function harvest(registration: Registration, clients: Clients, stored: string | null = null) {
	const result = await harvestFrom(registration, clients, stored);
	const { isHarvested, ...shown } = describedFor({ registration, description: result.description }, "en");
	return { ...result, shown };
}

async function check(registration: Registration, routes: Record<string, Route>) {
	const clients = memoryHost(routes);
	const findings = await checkLayer(registration, clients);
	const rows = findings.map(({ state, pointer, text }) => [state, pointer, text.replace(/^\S+ /, "")]);
	return { findings: rows, asked: clients.asked };
}

const inBytes = (body: Uint8Array, type = "text/xml") => ({ body, type });
const layerOf = (name: string, about = "") => `<Layer><Name>${name}</Name>${about}</Layer>`;
const exceptionOf = (text: string) =>
	`<ServiceExceptionReport><ServiceException>${text}</ServiceException></ServiceExceptionReport>`;
const box = (...[west, south, east, north]: (number | string)[]) =>
	`<LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>`;
const crs = (...names: string[]) => names.map((name) => `<CRS>${name}</CRS>`).join("");
const here = box(-80, 40, -60, 50);
const smallest = (scale: number) => `<MaxScaleDenominator>${scale}</MaxScaleDenominator>`;

/** A WMS 1.3.0 whose root layer has members and other layers, and one layer, `roads`. */
const roads = (about: string, { root = "", request = "" } = {}) =>
	`<WMS_Capabilities version="1.3.0"><Capability><Request>${request}</Request><Layer><Title>All</Title>${root}${layerOf("roads", about)}</Layer></Capability></WMS_Capabilities>`;

const olderRoads = (about: string) =>
	roads(about).replaceAll("WMS_Capabilities", "WMT_MS_Capabilities").replace("1.3.0", "1.1.1");

const current = `<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:sld="http://www.opengis.net/sld">
<Service><Name>WMS</Name><Title>A service</Title></Service><Capability><Request>
<GetFeatureInfo><Format>text/html; charset=utf-8</Format><Format>text/plain</Format></GetFeatureInfo>
<sld:GetLegendGraphic><Format>image/png</Format></sld:GetLegendGraphic></Request>
<Layer queryable="1"><Title>All of it</Title><EX_GeographicBoundingBox><westBoundLongitude>-80</westBoundLongitude>
<eastBoundLongitude>-60</eastBoundLongitude><southBoundLatitude>40</southBoundLatitude><northBoundLatitude>50</northBoundLatitude></EX_GeographicBoundingBox>
<Style><Name>all</Name><LegendURL><Format>image/gif</Format></LegendURL></Style><Layer><Title>Transport</Title>
<Layer><Name>roads</Name><Title>Roads &amp; streets</Title><Abstract>All of them.</Abstract><KeywordList><Keyword>road</Keyword></KeywordList>
${smallest(50_000)}<Style><Name>x</Name><Title>Style</Title><Abstract>Not the layer's</Abstract></Style></Layer>
<Layer queryable="0"><Name>routes</Name><Title>Routes</Title></Layer></Layer></Layer></Capability></WMS_Capabilities>`;

/** A WMS 1.1.1 as MapServer sends it: a DTD, and a declared encoding. */
const older = `<?xml version='1.0' encoding="ISO-8859-1" standalone="no" ?>
<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd" [
<!ELEMENT VendorSpecificCapabilities EMPTY>
]>
<WMT_MS_Capabilities version="1.1.1"><Service><Name>OGC:WMS</Name></Service><Capability>
<Layer><Name>all</Name>${box(-71.63, 41.75, -70.78, 42.9)}<ScaleHint min="0" max="${50_000 * 0.00028 * Math.SQRT2}"/>
<Layer queryable="1"><Name>roads</Name><Title>Réseau routier</Title></Layer>
<Layer><Name>routes</Name></Layer></Layer></Capability></WMT_MS_Capabilities>`;

const wmts = `<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1"><Contents><Layer>
<ows:Title>Toporama</ows:Title><ows:Abstract>Maps</ows:Abstract><ows:WGS84BoundingBox><ows:LowerCorner>-142 41</ows:LowerCorner>
<ows:UpperCorner>-52 84</ows:UpperCorner></ows:WGS84BoundingBox><ows:Identifier>topo</ows:Identifier>
<Style><ows:Identifier>default</ows:Identifier></Style></Layer><Layer><ows:Identifier>canvec</ows:Identifier></Layer>
<TileMatrixSet><ows:Identifier>GoogleMapsCompatible</ows:Identifier></TileMatrixSet></Contents></Capabilities>`;

test("WMS 1.3.0 and 1.1.1, WMTS: title, words, box and scale of a layer, or its parent's", async () => {
	const clients = memoryHost({
		"/wms": current,
		"/older": inBytes(Buffer.from(older, "latin1")),
		"/wmts": wmts,
	});
	const first = await harvest(wms("roads"), clients);
	assert.equal(first.findings, []);
	assert.equal(first.description?.en, {
		service_url: address,
		layers: ["roads"],
		title: "Roads & streets",
		abstract: "All of them.",
		keywords: ["road"],
		bounds: [-80, 40, -60, 50],
		min_scale: 50000,
		siblings: ["routes Routes"],
	});
	assert.equal(clients.asked, [`/wms?${request}`], "once for both languages");
	assert.is((await harvest(wms("roads"), clients, first.text)).text, first.text);
	const old = await harvest(nodeAt("ogcWms", "/older", { scrape_only: ["roads"] }), clients);
	const bounds = [-71.63, 41.75, -70.78, 42.9];
	assert.equal(old.shown, { title: "Réseau routier", description: null, keywords: [], bounds });
	assert.is((old.description?.en as { min_scale?: number } | undefined)?.min_scale, 50000);
	const { shown } = await harvest(nodeAt("ogcWmts", "/wmts", { scrape_only: ["topo"] }), clients);
	assert.equal(shown, { title: "Toporama", description: "Maps", keywords: [], bounds: [-142, 41, -52, 84] });
});

test("a layer's box: its own, in a reference, around its layers, its parent's; none if invalid", async () => {
	const boxIn = (reference: string, ...[minx, miny, maxx, maxy]: number[]) =>
		`<BoundingBox CRS="${reference}" minx="${minx}" miny="${miny}" maxx="${maxx}" maxy="${maxy}"/>`;
	const nothing = box(-1, -1, -1, -1);
	const group = `<Name>all</Name>${nothing}${layerOf("rails", box(-90, 42, -75, 55))}`;
	const rows: [document: string, bounds: string | null, name?: string][] = [
		...Object.entries({
			"0 0 0 0": null,
			"0 0 -1 -1": null,
			"-0.0001 -0.0001 0.0001 0.0001": null,
			"-180.5 -90.9 180.000001 90.0000019": "-180 -90 180 90",
			"160.6 -55.95 -170 -25.88": "-180 -55.95 180 -25.88",
			"6,5 36,25 18,75 47,5": "6.5 36.25 18.75 47.5",
			"-75.7 45.42 -75.7 45.42": "-75.7 45.42 -75.7 45.42",
			"11.1 46.3 inf 1.7976931348623157E308": null,
		}).map(([sides, bounds]): [string, string | null] => [roads(box(...sides.split(" "))), bounds]),
		[roads(boxIn("EPSG:4326", -55, 160, -25, 179)), "160 -55 179 -25"],
		[roads(boxIn("EPSG:3857", -15696048, 5012341, -5788613, 18807215)), "-141 41 -52 84"],
		[roads(nothing, { root: here }), "-80 40 -60 50"],
		[roads(here, { root: group }), "-90 40 -60 55", "all"],
	];
	for (const [document, expected, name = "roads"] of rows) {
		const { bounds } = (await harvest(wms(name), memoryHost({ "/wms": document }))).shown;
		const sides = document.includes("EPSG:3857") ? bounds?.map(Math.round) : bounds;
		assert.is(sides?.join(" ") ?? null, expected, document);
	}
});

test("texts are plain, one line, and bounded", async () => {
	const keywordOf = (at: number) => `<Keyword>k${at % 400} ${"x".repeat(200)}</Keyword>`;
	const keywords = Array.from({ length: 500 }, (_, at) => keywordOf(at)).join("");
	const clients = memoryHost({
		"/wms": roads(`<Title>R&lt;script&gt;alert(1)&lt;/script&gt;\u202Eoads
			&amp;eacute;&amp;#60;b onclick=x&amp;gt; ${"t".repeat(5_000)}</Title>
			<Abstract><![CDATA[<p style="x">One</p>\r\n<!-- no --><a href="javascript:x">two</a> <3 & ${"😀".repeat(3_000)}]]></Abstract>
			<KeywordList><Keyword>  </Keyword><Keyword>&lt;i&gt;</Keyword>${keywords}</KeywordList>`),
	});
	const { shown, text } = await harvest(wms("roads"), clients);
	assert.match(shown.title ?? "", /^R alert\(1\) oads é t{200}/);
	assert.match(shown.description ?? "", /^One two <3 & (?:😀)+…$/u);
	const { length = 0 } = shown.description ?? {};
	assert.equal([shown.title?.length, shown.keywords.length, length <= 2_000], [300, 20, true]);
	assert.ok(shown.keywords.every((word) => /^k\d+ x+…$/.test(word) && word.length === 100));
	assert.ok(String(text).isWellFormed());
	for (const value of Object.values(JSON.parse(String(text)).en))
		assert.not.match(String(value), /[\p{Cc}\p{Cf}]|<[a-z/!]/iu);
});

test("a long comment, instruction or section of text is read in parts", async () => {
	const long = "x]-? ".repeat(200_000);
	for (const piece of [`<!--${long}-->`, `<?x ${long}?>`, `<![CDATA[${long}]]>`]) {
		const document = roads(`<Abstract>One ${piece}</Abstract><Title>Roads</Title>`);
		const { shown } = await harvest(wms("roads"), memoryHost({ "/wms": document }));
		assert.is(shown.title, "Roads", piece.slice(0, 9));
		assert.match(shown.description ?? "", piece.startsWith("<![") ? /^One x\]-\? x\]-\? / : /^One$/);
	}
});

test("encodings: of the byte order mark, the content type, the declaration", async () => {
	const undeclared = older.replace(/^.*\n/, "");
	const titleIn = async (document: Route) =>
		(await harvest(wms("roads"), memoryHost({ "/wms": document }))).shown.title;
	const latin1 = (text: string) => Buffer.from(text, "latin1");
	for (const [body, type = "text/xml"] of [
		[latin1(older), "application/vnd.ogc.wms_xml"],
		[latin1(undeclared), "text/xml; charset=ISO-8859-1"],
		[Buffer.from(`\ufeff${undeclared}`, "utf16le")],
		[Buffer.from(older, "utf16le")],
		[Buffer.from(older, "utf16le").swap16()],
		[latin1(undeclared)],
		[latin1(`\xff\xfe${older}`)],
		[Buffer.from(`\ufeff${older}`), "text/xml; charset=ISO-8859-1"],
		[Buffer.from(older.replace("ISO-8859-1", "x-klingon"))],
		[latin1(older), "text/xml; charset=UTF-8"],
		[latin1(older.replace("ISO-8859-1", "UTF-8"))],
		[gzipSync(latin1(older))],
		[latin1(older.replace("<Service>", '<Service><x xlink:href="a"/>'))],
	] as [Buffer, string?][])
		assert.is(await titleIn({ body, type }), "Réseau routier");
	const japanese = older.replace("ISO-8859-1", "Shift_JIS").replace("Réseau routier", "\x93\xb9");
	const sent = inBytes(latin1(japanese), "text/xml; charset=UTF-8");
	assert.is(await titleIn(sent), "道");
	const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
	assert.is(await titleIn(bomb + roads("<Title>&b;&f;</Title>")), "&b;&f;", "entities are not expanded");
});

test("a check finds layers, query types and legend types that the service lacks", async () => {
	const more = {
		en: { legend_format: "image/png", feature_info_type: "text/html" },
		fr: { legend_format: "image/gif" },
	};
	const good = { findings: [], asked: [`/wms?${request}`] };
	assert.equal(await check(wms("roads", "routes", more), { "/wms": current }), good);
	const types = { feature_info_type: "application/json", legend_format: "image/jpeg" };
	const rows: [registration: Registration, findings: string[], document?: string][] = [
		[
			wms("roads", "Transport", { en: types }),
			[
				"/en/feature_info_type does not offer application/json, only: text/html; charset=utf-8, text/plain",
				"/en/legend_format does not offer image/jpeg, only: image/gif, image/png",
				"/fr/layer has no layer Transport among its 2",
			],
		],
		[
			wms("roads", "routes", { fr: { feature_info_type: "text/plain" } }),
			["/fr/feature_info_type cannot be queried for routes"],
		],
		[wms("roads", "routes", { en: { legend_format: "image/png" } }), [], older],
	];
	for (const [registration, expected, document = current] of rows) {
		const { findings } = await check(registration, { "/wms": document });
		assert.equal(
			findings.map((row) => row.join(" ")),
			expected.map((text) => `wrong ${text}`),
		);
	}
	const service_url = `${address}?map=/a.map&request=GetMap&Version=1.1.1`;
	const { findings, asked } = await check(wms("roads", "roads", { en: { service_url } }), {
		"/wms": current,
	});
	assert.equal([findings, asked[0]], [[], `/wms?map=%2Fa.map&${request}`], "other parameters stay");
});

test("a document of another kind is wrong, an exception or a cut document is down", async () => {
	const whole = roads("");
	const [notWms, cut] = ["wrong does not answer as WMS does", "down answers with incomplete capabilities"];
	const missing = 'exceptionCode="MissingParameterValue" locator="service"';
	for (const [document, finding] of [
		["<!doctype html><html><br>&nbsp;</html>", notWms],
		[wmts, notWms],
		[whole.slice(0, 60), cut],
		[whole.slice(0, -1), cut],
		[exceptionOf("\nNo such\nmap "), "down answers with an exception: No such map"],
		[
			`<ExceptionReport><Exception ${missing}/></ExceptionReport>`,
			"down answers with an exception: MissingParameterValue service",
		],
	] as const) {
		const { findings, asked } = await check(wms("roads"), { "/wms": document });
		// After an exception, the version is left to the server.
		const count = finding.includes("exception") ? 2 : 1;
		const [state, , text] = findings[0] ?? [];
		assert.equal([`${state} ${text}`, new Set(asked).size], [finding, count]);
	}
});

test("large capabilities: the layer is asked for alone", async () => {
	const large = { body: `${current}${" ".repeat(5_000_000)}` };
	const routes = { [`/wms?${request}`]: large, "/wms": current };
	const { findings, asked } = await check(wms("roads", "routes"), routes);
	assert.equal(
		[findings, asked.slice(1)],
		[[], ["roads", "routes"].map((name) => `/wms?${request}&LAYER=${name}&LAYERS=${name}`)],
	);
	assert.is((await harvest(wms("roads"), memoryHost(routes))).shown.title, "Roads & streets");
});

test("a description is of the registered layer only, and stays while the service is down", async () => {
	const server = memoryHost({ "/wms": current });
	const { description, text: stored } = await harvest(wms("roads"), server);
	const isOf = (name: string) => isDescribed(wms(name), description);
	assert.equal([isOf("roads"), isOf("routes")], [true, false]);
	assert.is(describedFor({ registration: wms("routes"), description }, "en").title, null);
	for (const [answer, name, text, finding] of [
		[503, "roads", stored, "down answers with status 503"],
		[503, "routes", null, "down answers with status 503"],
		[current, "rails", null, "wrong has no layer rails among its 2"],
	] as const) {
		server.routes["/wms"] = answer;
		const later = await harvest(wms(name), server, stored);
		const [state, , words] = later.findings[0] ?? [];
		assert.equal([later.text, `${state} ${words}`], [text, finding]);
	}
	for (const registration of [wms("roads"), nodeAt("ogcWms", "/wms", { scrape_only: ["roads"] })]) {
		const { description } = await harvest(registration, server);
		const render = (harvested: typeof description | null) =>
			targetNames.map((target) => renderAt(target, factsOf("en", "roads", registration, harvested)));
		assert.equal(render(description), render(null), "no fragment has the service's title");
	}
});

test("a whole WMS or WMTS: every named layer, in the first order of the document", async () => {
	const server = memoryHost({ "/wms": current, "/wmts": wmts, "/1.0.0/WMTSCapabilities.xml": wmts });
	const entriesOf = async (registration: Registration, stored: string | null = null) => {
		const { description, text } = await harvest(registration, server, stored);
		return { entries: (description?.en as { entries?: unknown } | undefined)?.entries, text };
	};
	for (const path of ["/wmts", "/1.0.0/WMTSCapabilities.xml"])
		assert.equal((await entriesOf(nodeAt("ogcWmts", path))).entries, ["topo", "canvec"]);
	assert.equal(server.asked, [
		"/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&VERSION=1.0.0",
		"/1.0.0/WMTSCapabilities.xml",
	]);
	const names = (...all: string[]) =>
		roads("").replace(
			layerOf("roads"),
			all.map((name) => layerOf(name, "<Identifier>x</Identifier>")).join(""),
		);
	const layer = nodeAt("ogcWms", "/wms");
	assert.equal((await entriesOf(layer)).entries, ["roads", "routes"]);
	server.routes["/wms"] = names("a", "__proto__", "c", "a");
	const first = await entriesOf(layer);
	assert.equal(first.entries, ["a", "__proto__", "c"]);
	for (const [answer, entries] of [
		[names("new", "c", "a"), ["a", "c", "new"]],
		[503, ["a", "__proto__", "c"]],
	] as const) {
		server.routes["/wms"] = answer;
		assert.equal((await entriesOf(layer, first.text)).entries, entries);
	}
});

/** Looks at the layer `roads`. @param draws whether a picture shows something, or the text of an exception */
async function lookAt(
	document: string,
	draws: (query: Record<string, string>, path: string) => string | boolean = () => true,
	registration: Registration = wms("roads"),
	site: string | null = null,
) {
	const pictures: string[] = [];
	const answerOf = ({ pathname, search, searchParams, host: name }: URL) => {
		if (searchParams.get("REQUEST") !== "GetMap") return { type: "text/xml", body: document };
		pictures.push(search);
		if (name !== "maps.example") return undefined;
		const answer = draws(Object.fromEntries(searchParams), pathname);
		if (typeof answer === "string") return { type: "text/xml", body: exceptionOf(answer) };
		return { type: "image/png", body: answer ? drawn : blank };
	};
	const findings = await watchLayer(registration, null, clientsOf(answerOf), site);
	const query = Object.fromEntries(new URLSearchParams(pictures[0]));
	return {
		state: resultOf(findings)?.state ?? null,
		query,
		pictures,
		said: findings.filter(({ lang }) => lang === "en").map(({ text }) => text.replace(/^\S+ /, "")),
	};
}

test("a request for a picture has the document's version, reference, axes, format, dimension, size", async () => {
	const common = { VERSION: "1.3.0", FORMAT: "image/png", STYLES: "", WIDTH: "64", HEIGHT: "64" };
	const degrees = { CRS: "EPSG:4326", BBOX: "40,-80,50,-60" };
	const dimension = '<Dimension name="time" units="ISO8601">2024-01-01,2024-02-01/2024-12-31/P1D</Dimension>';
	const formats = "<GetMap><Format>image/gif</Format><Format>image/png; mode=8bit</Format></GetMap>";
	const far = `${here}${crs("EPSG:2056")}<BoundingBox CRS="EPSG:2056" minx="1" miny="2" maxx="3" maxy="4"/>`;
	const rows: [document: string, query: Record<string, string>][] = [
		[roads(here), degrees],
		[roads(here + crs("EPSG:4326", "EPSG:3978")), { CRS: "EPSG:3978" }],
		[roads(far), { CRS: "EPSG:2056", BBOX: "1,2,3,4" }],
		[olderRoads(here), { VERSION: "1.1.1", SRS: "EPSG:4326", BBOX: "-80,40,-60,50" }],
		[roads(here, { request: formats }), { FORMAT: "image/png; mode=8bit" }],
		[roads(here + dimension), { TIME: "2024-12-31" }],
		[
			roads(here + dimension.replace("time", "level").replace("2024-01-01,", "")),
			{ DIM_LEVEL: "2024-12-31" },
		],
		[
			roads(here).replace("<Layer><Name>", '<Layer fixedWidth="300" fixedHeight="200"><Name>'),
			{ WIDTH: "300", HEIGHT: "200" },
		],
	];
	for (const [document, query] of rows) {
		const { query: asked, state } = await lookAt(document);
		assert.equal([state, { ...asked, ...common, ...query }], [null, asked], JSON.stringify(query));
	}
	const spaced = roads(here).replace(">roads<", ">Census Tracts<");
	const { pictures } = await lookAt(spaced, undefined, wms("Census Tracts"));
	assert.match(pictures[0] ?? "", /LAYERS=Census%20Tracts/);
	assert.is(pictures.length, 1, "once for both languages");
});

test("what a viewer has to know is a finding, and what was not seen is no verdict", async () => {
	const dimension = '<Dimension name="time" units="ISO8601">2024</Dimension>';
	const scale = smallest(50_000);
	const group = roads(`${here}${layerOf("a", scale)}${layerOf("b", smallest(10_000))}`);
	const elsewhere = '<GetMap><OnlineResource href="http://other.example/ows?"/></GetMap>';
	const below = (denominator: number) => (query: Record<string, string>) => {
		const [, west = 0, , east = 0] = (query.BBOX ?? "").split(",").map(Number);
		return ((east - west) * 111_319.49) / 64 / 0.00028 <= denominator;
	};
	const unseen = "draws no picture of roads for this request, so that the layer could not be checked";
	type Row = [document: string, draws: Parameters<typeof lookAt>[1], state: string | null, said: string[]];
	const rows: Row[] = [
		[roads(here + scale), below(50_000), null, []],
		[group, below(10_000), null, []],
		[roads(here + scale), () => false, null, [unseen]],
		[olderRoads(`${here}<ScaleHint min="0" max="20"/>`), () => false, null, [unseen]],
		[roads(box(-180, -90, 180, 90)), () => false, null, [unseen]],
		[roads(here), () => false, "empty", ["draws an empty picture of roads"]],
		[roads(here), ({ BBOX }) => BBOX === "44.95,-70.1,45.05,-69.9", null, []],
		[
			roads(here + dimension),
			({ TIME }) => TIME !== undefined || "no time",
			null,
			["draws nothing without time"],
		],
		[
			roads(here, { request: elsewhere }),
			() => true,
			null,
			["names http://other.example/ows? for its pictures, which sends none: refuses the connection"],
		],
		[roads(here + crs("EPSG:3978", "EPSG:4326")), ({ CRS }) => CRS === "EPSG:4326" || "bad CRS", null, []],
		[
			roads(`${here}<Style><Name>plain</Name></Style>`),
			({ STYLES }) => STYLES === "plain" || "no style",
			null,
			["draws nothing without STYLES=plain"],
		],
		[roads(here + crs("EPSG:99999")), () => "bad CRS", null, [unseen]],
		[roads(here), () => "No data", "down", ["answers with no picture: No data"]],
	];
	for (const [document, draws, state, said] of rows) {
		const seen = await lookAt(document, draws);
		assert.equal([seen.state, seen.said], [state, said], document);
	}
	for (const [site, draws, state] of [
		["https://site.example/", true, "blocked"],
		["http://site.example/", true, null],
		["https://site.example/", "No data", "down"],
	] as const)
		assert.is((await lookAt(roads(here), () => draws, wms("roads"), site)).state, state);
});

test("another name in the list, or none, is a finding where the layer is drawn", async () => {
	const document = roads(here);
	const unreadable = "has characters that cannot be read in the name of the layer: r\ufffdseau";
	const rows: [name: string, listed: string, draws: boolean | string, state: string | null, said: string][] =
		[
			["pub:roads", "roads", true, null, "lists pub:roads as roads"],
			["roads", "pub:roads", true, null, "draws roads, which is not among its 1 listed layers"],
			["hidden", "roads", "no such layer", "wrong", "has no layer hidden among its 1"],
			["réseau", "r\ufffdseau", true, null, unreadable],
		];
	for (const [name, listed, draws, state, said] of rows) {
		const seen = await lookAt(document.replace(">roads<", `>${listed}<`), () => draws, wms(name));
		assert.equal([seen.state, seen.said], [state, [said]], name);
	}
});

test("scales of a whole service, swapped bounds, texts in languages and with elements", async () => {
	const englishOf = async (registration: Registration, document: string) =>
		JSON.stringify((await harvest(registration, memoryHost({ "/wms": document }))).description?.en);
	const scaled = roads(here, { root: here + smallest(50_000) });
	assert.not.match(await englishOf(nodeAt("ogcWms", "/wms"), scaled), "scale");
	const swapped = `<MinScaleDenominator>50000</MinScaleDenominator>${smallest(1000)}`;
	assert.match(await englishOf(wms("roads"), roads(swapped)), /"min_scale":50000,"max_scale":1000\b/);
	const texts = `<Title xml:lang="fra">Relief <b>ombré</b></Title><Title xml:lang="en-CA">Shaded</Title><Abstract>All<br/>of it</Abstract>
		<KeywordList><Keyword xml:lang="fr">relief</Keyword><Keyword>map</Keyword></KeywordList>`;
	const { description } = await harvest(wms("roads"), memoryHost({ "/wms": roads(texts) }));
	const textsOf = ({ title, abstract, keywords }: NamedDescription) => [title, abstract, keywords];
	assert.equal(
		[description?.en, description?.fr].map((part) => textsOf(part as NamedDescription)),
		[
			["Shaded", "All of it", ["map"]],
			["Relief ombré", "All of it", ["relief", "map"]],
		],
	);
});

test("a document is found without a version, below the address of a WMTS, and up to 64 MB", async () => {
	const refusing = { [`/wms?${request}`]: exceptionOf("Only 1.1.1"), "/wms": older };
	assert.equal((await check(wms("roads"), refusing)).findings, []);
	const base = nodeAt("ogcWmts", "/basemap", { scrape_only: ["topo"] });
	assert.equal((await check(base, { "/basemap/1.0.0/WMTSCapabilities.xml": wmts })).findings, []);
	const long = `<Title>${"t".repeat(200)}</Title><Abstract>${"a".repeat(200)}</Abstract>`;
	const parts = function* () {
		const encoder = new TextEncoder();
		yield encoder.encode("<WMS_Capabilities><Capability><Layer>");
		for (let at = 0; at < 30_000; at += 1) yield encoder.encode(layerOf(`layer_${at}`, long));
		yield encoder.encode("</Layer></Capability></WMS_Capabilities>");
	};
	const { layers, others, count } = await readCapabilities("WMS", parts(), "text/xml", ["layer_29999"]);
	const kept = [0, 29_998, 29_999].map((at) => layers.has(`layer_${at}`));
	assert.equal([count, ...kept], [30_000, true, false, true]);
	assert.ok(layers.size < 15_000 && others.size + layers.size <= 30_000);
	const cut = gzipSync(Buffer.from(older, "latin1")).subarray(0, 200);
	assert.equal((await check(wms("roads"), { "/wms": inBytes(cut) })).findings[0]?.slice(0, 1), ["down"]);
});

test.run();
