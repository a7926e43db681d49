import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { checkLayer } from "../../../extensions/harvest/check-layer.ts";
import { resultOf } from "../../../extensions/harvest/finding.ts";
import { watchLayer } from "../../../extensions/harvest/layer.ts";
import { type Clients, parseCapabilities } from "../../../extensions/harvest/wms/read-capabilities.ts";
import { isDescribed } from "../../../registry/description.ts";
import type { LangEntry, Registration, Registration1 } from "../../../registry/registration.ts";
import { layerFacts } from "../../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../../registry/targets/table.ts";
import { describedFor } from "../../../site/data/entry.ts";
import { test } from "../../helpers/suite.ts";
import { clientsOf, harvestFrom, host, memoryHost, nodeAt, type Route } from "./memory.ts";
import { blank, drawn } from "./pictures.ts";

const address = `${host}/wms`;
const request = "SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.3.0";

function wms(en: string, fr = en, more: { en?: object; fr?: object } = {}): Registration1 {
	const entryOf = (layer: string, members: object = {}): LangEntry => ({
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

/** The findings of a check, without the address at the start of each text. */
async function check(registration: Registration, routes: Record<string, Route>) {
	const clients = memoryHost(routes);
	const { titles, findings } = await checkLayer(registration, clients);
	const rows = findings.map(({ state, pointer, text }) => [state, pointer, text.replace(/^\S+ /, "")]);
	return { titles, findings: rows, asked: clients.asked };
}

const inBytes = (body: Uint8Array, type = "text/xml") => ({ body, type });
const capabilities = (...layers: string[]) =>
	`<WMS_Capabilities><Capability><Layer>${layers.join("")}</Layer></Capability></WMS_Capabilities>`;
const layerOf = (name: string, about = "") => `<Layer><Name>${name}</Name>${about}</Layer>`;
const roads = (about: string) => capabilities(layerOf("roads", about));
const box = (...sides: (number | string)[]) => {
	const [west, south, east, north] = sides;
	return `<LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>`;
};

/** A WMS 1.3.0 with a group without a name, and layers in it. */
const current = `<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:sld="http://www.opengis.net/sld">
<Service><Name>WMS</Name><Title>A service</Title></Service><Capability><Request>
<GetFeatureInfo><Format>text/html; charset=utf-8</Format><Format>text/plain</Format></GetFeatureInfo>
<sld:GetLegendGraphic><Format>image/png</Format></sld:GetLegendGraphic></Request>
<Layer queryable="1"><Title>All of it</Title><EX_GeographicBoundingBox><westBoundLongitude>-80</westBoundLongitude>
<eastBoundLongitude>-60</eastBoundLongitude><southBoundLatitude>40</southBoundLatitude><northBoundLatitude>50</northBoundLatitude></EX_GeographicBoundingBox>
<Style><Name>all</Name><Title>Style of all</Title><LegendURL><Format>image/gif</Format></LegendURL></Style>
<Layer><Title>Transport</Title>
<Layer><Name>roads</Name><Title>Roads &amp; streets</Title><Abstract>All of them.</Abstract><KeywordList><Keyword>road</Keyword></KeywordList>
<MaxScaleDenominator>50000</MaxScaleDenominator><Style><Name>x</Name><Title>Style</Title><Abstract>Not the layer's</Abstract></Style></Layer>
<Layer queryable="0"><Name>routes</Name><Title>Routes</Title></Layer></Layer></Layer></Capability></WMS_Capabilities>`;

/** A WMS 1.1.1 as MapServer sends it: a DTD, and a declared encoding. */
const older = `<?xml version='1.0' encoding="ISO-8859-1" standalone="no" ?>
<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd" [
<!ELEMENT VendorSpecificCapabilities EMPTY>
]>
<WMT_MS_Capabilities version="1.1.1"><Service><Name>OGC:WMS</Name></Service><Capability>
<Request><GetFeatureInfo><Format>text/plain</Format></GetFeatureInfo></Request>
<Layer><Name>all</Name><Title>Tout</Title>${box(-71.63, 41.75, -70.78, 42.9)}<ScaleHint min="0" max="${50_000 * 0.00028 * Math.SQRT2}"/>
<Layer queryable="1"><Name>roads</Name><Title>Réseau routier</Title></Layer>
<Layer><Name>routes</Name><Title>Voies</Title></Layer></Layer></Capability></WMT_MS_Capabilities>`;

const wmts = `<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1"><Contents><Layer>
<ows:Title>Toporama</ows:Title><ows:Abstract>Maps</ows:Abstract><ows:WGS84BoundingBox><ows:LowerCorner>-142 41</ows:LowerCorner>
<ows:UpperCorner>-52 84</ows:UpperCorner></ows:WGS84BoundingBox><ows:Identifier>topo</ows:Identifier>
<Style><ows:Identifier>default</ows:Identifier></Style></Layer><Layer><ows:Identifier>canvec</ows:Identifier></Layer>
<TileMatrixSet><ows:Identifier>GoogleMapsCompatible</ows:Identifier></TileMatrixSet></Contents></Capabilities>`;

test("WMS 1.3.0 and 1.1.1, WMTS: title, words, box and scale of the named layer, inherited where it has none", async () => {
	const clients = memoryHost({
		"/wms": current,
		"/older": inBytes(Buffer.from(older, "latin1")),
		"/wmts": wmts,
	});
	const first = await harvest(wms("roads"), clients);
	assert.equal(
		[first.findings, first.description?.en],
		[
			[],
			{
				...{ service_url: address, layers: ["roads"], title: "Roads & streets", abstract: "All of them." },
				...{ keywords: ["road"], bounds: [-80, 40, -60, 50], min_scale: 50000, siblings: ["routes Routes"] },
			},
		],
	);
	assert.equal(clients.asked, [`/wms?${request}`], "once for both languages");
	assert.is((await harvest(wms("roads"), clients, first.text)).text, first.text);
	const old = await harvest(nodeAt("ogcWms", "/older", { scrape_only: ["roads"] }), clients);
	const bounds = [-71.63, 41.75, -70.78, 42.9];
	assert.equal(old.shown, { title: "Réseau routier", description: null, keywords: [], bounds });
	assert.is((old.description?.en as { min_scale?: number } | undefined)?.min_scale, 50000);
	const tiles = await harvest(nodeAt("ogcWmts", "/wmts", { scrape_only: ["topo"] }), clients);
	assert.equal(tiles.shown, {
		title: "Toporama",
		description: "Maps",
		keywords: [],
		bounds: [-142, 41, -52, 84],
	});
});

test("a box that is invalid is left out, and one over the antimeridian goes around the earth", async () => {
	for (const [sides, bounds] of Object.entries({
		"0 0 0 0": null,
		"0 0 -1 -1": null,
		"-0.0001 -0.0001 0.0001 0.0001": null,
		"-180.5 -90.9 180.000001 90.0000019": "-180 -90 180 90",
		"160.6 -55.95 -170 -25.88": "-180 -55.95 180 -25.88",
		"6,5 36,25 18,75 47,5": "6.5 36.25 18.75 47.5",
		"-75.7 45.42 -75.7 45.42": "-75.7 45.42 -75.7 45.42",
		"11.1 46.3 inf 1.7976931348623157E308": null,
	})) {
		const clients = memoryHost({ "/wms": roads(`<Title>Roads</Title>${box(...sides.split(" "))}`) });
		assert.is((await harvest(wms("roads"), clients)).shown.bounds?.join(" ") ?? null, bounds, sides);
	}
});

test("texts are plain, one line, and bounded", async () => {
	const keywords = Array.from(
		{ length: 500 },
		(_, at) => `<Keyword>k${at % 400} ${"x".repeat(200)}</Keyword>`,
	);
	const clients = memoryHost({
		"/wms": roads(`<Title>R&lt;script&gt;alert(1)&lt;/script&gt;\u202Eoads
			&amp;eacute;&amp;#60;b onclick=x&amp;gt; ${"t".repeat(5_000)}</Title>
			<Abstract><![CDATA[<p style="x">One</p>\r\n<!-- no --><a href="javascript:x">two</a> <3 & ${"😀".repeat(3_000)}]]></Abstract>
			<KeywordList><Keyword>  </Keyword><Keyword>&lt;i&gt;</Keyword>${keywords.join("")}</KeywordList>`),
	});
	const { shown, text } = await harvest(wms("roads"), clients);
	assert.match(shown.title ?? "", /^R alert\(1\) oads é t{200}/);
	assert.match(shown.description ?? "", /^One two <3 & (?:😀)+…$/u);
	assert.equal(
		[shown.title?.length, shown.keywords.length, (shown.description?.length ?? 0) <= 2_000],
		[300, 20, true],
	);
	assert.ok(shown.keywords.every((word) => /^k\d+ x+…$/.test(word) && word.length === 100));
	assert.ok(String(text).isWellFormed());
	for (const value of Object.values(JSON.parse(String(text)).en))
		assert.not.match(String(value), /[\p{Cc}\p{Cf}]|<[a-z/!]/iu);
});

test("a comment, an instruction or a section of text is read in parts, however long it is", async () => {
	const long = "x]-? ".repeat(200_000);
	for (const piece of [`<!--${long}-->`, `<?x ${long}?>`, `<![CDATA[${long}]]>`]) {
		const document = roads(`<Abstract>One ${piece}</Abstract><Title>Roads</Title>`);
		const { shown } = await harvest(wms("roads"), memoryHost({ "/wms": document }));
		assert.is(shown.title, "Roads", piece.slice(0, 9));
		assert.match(shown.description ?? "", piece.startsWith("<![") ? /^One x\]-\? x\]-\? / : /^One$/);
	}
});

test("encodings: of the byte order mark, of the content type, of the declaration; an unknown one is ignored", async () => {
	const undeclared = older.replace(/^.*\n/, "");
	for (const [body, type] of [
		[Buffer.from(older, "latin1"), "application/vnd.ogc.wms_xml"],
		[Buffer.from(undeclared, "latin1"), "text/xml; charset=ISO-8859-1"],
		[Buffer.from(`\ufeff${undeclared}`, "utf16le"), "text/xml"],
		[Buffer.from(older, "utf16le"), "text/xml"],
		[Buffer.from(older, "utf16le").swap16(), "text/xml"],
		[Buffer.from(undeclared, "latin1"), "text/xml"],
		[Buffer.from(`\xff\xfe${older}`, "latin1"), "text/xml"],
		[Buffer.from(`\ufeff${older}`, "utf8"), "text/xml; charset=ISO-8859-1"],
		[Buffer.from(older.replace("ISO-8859-1", "x-klingon"), "utf8"), "text/xml"],
		[Buffer.from(older, "latin1"), "text/xml; charset=UTF-8"],
		[Buffer.from(older.replace("ISO-8859-1", "UTF-8"), "latin1"), "text/xml"],
		[gzipSync(Buffer.from(older, "latin1")), "text/xml"],
		[Buffer.from(older.replace("<Service>", '<Service><x xlink:href="a"/>'), "latin1"), "text/xml"],
	] as const)
		assert.is((await check(wms("roads"), { "/wms": { body, type } })).titles.en, "Réseau routier");
	const japanese = older.replace("ISO-8859-1", "Shift_JIS").replace("Réseau routier", "\x93\xb9");
	const body = Buffer.from(japanese, "latin1");
	const declared = await check(wms("roads"), { "/wms": { body, type: "text/xml; charset=UTF-8" } });
	assert.is(declared.titles.en, "道");
	const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
	const { titles } = await check(wms("roads"), { "/wms": bomb + roads("<Title>&b;&f;</Title>") });
	assert.is(titles.en, "&b;&f;", "entities are not expanded");
});

test("a check finds a layer, a query type and a legend type that the service does not have", async () => {
	const more = {
		en: { legend_format: "image/png", feature_info_type: "text/html" },
		fr: { legend_format: "image/gif" },
	};
	const titles = { en: "Roads & streets", fr: "Routes" };
	const good = { titles, findings: [], asked: [`/wms?${request}`] };
	assert.equal(await check(wms("roads", "routes", more), { "/wms": current }), good);
	type Row = [registration: Registration, findings: [pointer: string, text: string][], document?: string];
	const rows: Row[] = [
		[
			wms("roads", "Transport", {
				en: { feature_info_type: "application/json", legend_format: "image/jpeg" },
			}),
			[
				[
					"/en/feature_info_type",
					"does not offer application/json for queries, only: text/html; charset=utf-8, text/plain",
				],
				["/en/legend_format", "does not offer image/jpeg for legends, only: image/gif, image/png"],
				["/fr/layer", "has no layer Transport among its 2"],
			],
		],
		[
			wms("roads", "routes", { fr: { feature_info_type: "text/plain" } }),
			[["/fr/feature_info_type", "cannot be queried for routes"]],
		],
		[wms("roads", "routes", { en: { legend_format: "image/png" } }), [], older],
	];
	for (const [registration, findings, document = current] of rows)
		assert.equal(
			(await check(registration, { "/wms": document })).findings,
			findings.map((row) => ["wrong", ...row]),
		);
	const own = wms("roads", "roads", {
		en: { service_url: `${address}?map=/a.map&request=GetMap&Version=1.1.1` },
	});
	const { findings, asked } = await check(own, { "/wms": current });
	assert.equal(
		[findings, asked[0]],
		[[], `/wms?map=%2Fa.map&${request}`],
		"other parameters of the address stay",
	);
});

test("a document that is not of a WMS is wrong, an exception or a document that is cut off is down", async () => {
	const whole = roads("");
	const notWms = ["wrong", "does not answer as a WMS does"];
	const cut = ["down", "answers with incomplete capabilities"];
	const exception = (text: string) => ["down", `answers with an exception: ${text}`];
	const rows: [document: Route, finding: string[]][] = [
		...["<!doctype html><html><br>&nbsp;</html>", wmts].map((text): [Route, string[]] => [text, notWms]),
		...[60, whole.length - 1].map((length): [Route, string[]] => [whole.slice(0, length), cut]),
		[
			"<ServiceExceptionReport><ServiceException>\nNo such\nmap </ServiceException></ServiceExceptionReport>",
			exception("No such map"),
		],
		[
			'<ExceptionReport><Exception exceptionCode="MissingParameterValue" locator="service"/></ExceptionReport>',
			exception("MissingParameterValue service"),
		],
		[503, ["down", "answers with status 503"]],
		[404, ["wrong", "answers with status 404"]],
	];
	for (const [document, [state, text]] of rows) {
		const { findings, asked } = await check(wms("roads"), { "/wms": document });
		// After an exception, the version is left to the server.
		const count = text?.includes("exception") ? 2 : 1;
		assert.equal([findings[0]?.[0], findings[0]?.[2], new Set(asked).size], [state, text, count]);
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

test("what was harvested is used for the registered layer only, and stays while the service is down", async () => {
	const server = memoryHost({ "/wms": current });
	const { description, text: stored } = await harvest(wms("roads"), server);
	assert.equal(
		[isDescribed(wms("roads"), description), isDescribed(wms("routes"), description)],
		[true, false],
	);
	assert.is(describedFor({ registration: wms("routes"), description }, "en").title, null);
	server.routes["/wms"] = 503;
	const down = await harvest(wms("roads"), server, stored);
	assert.equal(
		[down.text, down.findings[0]],
		[stored, ["down", "/en/service_url", "answers with status 503"]],
	);
	assert.is((await harvest(wms("routes"), server, stored)).text, null);
	server.routes["/wms"] = current;
	const gone = await harvest(wms("rails"), server, stored);
	assert.equal(
		[gone.text, gone.findings[0]],
		[null, ["wrong", "/en/service_url", "has no layer rails among its 2"]],
	);
	const settings = { metadataUrl: "", catalogueUrl: "" };
	for (const registration of [wms("roads"), nodeAt("ogcWms", "/wms", { scrape_only: ["roads"] })]) {
		const { description } = await harvest(registration, server);
		const render = (one: typeof description | null) =>
			targetNames.map((target) => renderAt(target, layerFacts("en", "roads", registration, one, settings)));
		assert.equal(render(description), render(null), "no fragment has the service's title");
	}
});

test("a whole WMS or WMTS: every named layer in the order of the document, which a later order does not change", async () => {
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
		capabilities("<Title>All</Title>", ...all.map((name) => layerOf(name, "<Identifier>x</Identifier>")));
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

/** A WMS 1.3.0 or 1.1.1 whose root layer has a member, and one layer, `roads`. */
const service13 = (about: string, { root = "", request = "" } = {}) =>
	`<WMS_Capabilities version="1.3.0"><Capability><Request>${request}</Request><Layer><Title>All</Title>${root}${layerOf("roads", about)}</Layer></Capability></WMS_Capabilities>`;
const service11 = (about: string, more = {}) =>
	service13(about, more).replaceAll("WMS_Capabilities", "WMT_MS_Capabilities").replace("1.3.0", "1.1.1");
const crs = (...names: string[]) => names.map((one) => `<CRS>${one}</CRS>`).join("");
const here = box(-80, 40, -60, 50);

/** Looks at the layer `roads`. @param draws what the service answers to the parameters of a picture; null: nothing drawn */
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
		if (typeof answer === "string")
			return {
				type: "text/xml",
				body: `<ServiceExceptionReport><ServiceException>${answer}</ServiceException></ServiceExceptionReport>`,
			};
		return { type: "image/png", body: answer ? drawn : blank };
	};
	const findings = await watchLayer(registration, null, clientsOf(answerOf), site);
	const query = Object.fromEntries(new URLSearchParams(pictures[0]));
	return {
		state: resultOf({ findings })?.state ?? null,
		query,
		pictures,
		said: findings.filter(({ lang }) => lang === "en").map(({ text }) => text.replace(/^\S+ /, "")),
	};
}

test("a picture is asked for as the document says: version, reference and its axes, format, address, dimension, size", async () => {
	const common = { VERSION: "1.3.0", FORMAT: "image/png", STYLES: "", WIDTH: "64", HEIGHT: "64" };
	const degrees = { CRS: "EPSG:4326", BBOX: "40,-80,50,-60" };
	const dimension = '<Dimension name="time" units="ISO8601">2024-01-01,2024-02-01/2024-12-31/P1D</Dimension>';
	const rows: [document: string, query: Record<string, string>][] = [
		[service13(here), degrees],
		[service13(here + crs("EPSG:4326", "EPSG:3978")), { CRS: "EPSG:3978" }],
		[
			service13(
				`${here}${crs("EPSG:2056")}<BoundingBox CRS="EPSG:2056" minx="1" miny="2" maxx="3" maxy="4"/>`,
			),
			{ CRS: "EPSG:2056", BBOX: "1,2,3,4" },
		],
		[service11(here), { VERSION: "1.1.1", SRS: "EPSG:4326", BBOX: "-80,40,-60,50" }],
		[
			service13(here, {
				request: "<GetMap><Format>image/gif</Format><Format>image/png; mode=8bit</Format></GetMap>",
			}),
			{ FORMAT: "image/png; mode=8bit" },
		],
		[service13(here + dimension), { TIME: "2024-12-31" }],
		[
			service13(here + dimension.replace("time", "level").replace("2024-01-01,", "")),
			{ DIM_LEVEL: "2024-12-31" },
		],
		[
			service13(here).replace("<Layer><Name>", '<Layer fixedWidth="300" fixedHeight="200"><Name>'),
			{ WIDTH: "300", HEIGHT: "200" },
		],
	];
	for (const [document, query] of rows) {
		const { query: asked, state } = await lookAt(document);
		assert.equal([state, { ...asked, ...common, ...query }], [null, asked], JSON.stringify(query));
	}
	const space = await lookAt(
		service13(here).replace(">roads<", ">Census Tracts<"),
		undefined,
		wms("Census Tracts"),
	);
	assert.match(space.pictures[0] ?? "", /LAYERS=Census%20Tracts/);
	assert.is(space.pictures.length, 1, "once for both languages");
});

test("what a viewer has to know of a layer that is drawn is a finding, and what was not seen is no verdict", async () => {
	const dimension = '<Dimension name="time" units="ISO8601">2024</Dimension>';
	const scale = "<MaxScaleDenominator>50000</MaxScaleDenominator>";
	const group = service13("").replace(
		layerOf("roads"),
		`<Layer><Name>roads</Name>${here}${layerOf("a", scale)}${layerOf("b", scale.replace("5", "1"))}</Layer>`,
	);
	const below = (denominator: number) => (query: Record<string, string>) => {
		const [, west = 0, , east = 0] = (query.BBOX ?? "").split(",").map(Number);
		return ((east - west) * 111_319.49) / 64 / 0.00028 <= denominator;
	};
	const unseen = "draws an empty picture of roads for this request, so that the layer could not be checked";
	type Row = [document: string, draws: Parameters<typeof lookAt>[1], state: string | null, said: string[]];
	const rows: Row[] = [
		[service13(here + scale), below(50_000), null, []],
		[group, below(10_000), null, []],
		[service13(here + scale), () => false, null, [unseen]],
		[service11(`${here}<ScaleHint min="0" max="20"/>`), () => false, null, [unseen]],
		[service13(box(-180, -90, 180, 90)), () => false, null, [unseen]],
		[service13(here), () => false, "empty", ["draws an empty picture of roads"]],
		[service13(here), ({ BBOX }) => BBOX === "44.95,-70.1,45.05,-69.9", null, []],
		[
			service13(here + dimension),
			({ TIME }) => TIME !== undefined || "no time",
			null,
			["draws nothing without a value of time, for which it names no default"],
		],
		[
			service13(here, {
				request: '<GetMap><OnlineResource href="http://other.example/ows?"/></GetMap>',
			}),
			() => true,
			null,
			["names http://other.example/ows? for its pictures, which sends none: refuses the connection"],
		],
		[
			service13(here + crs("EPSG:3978", "EPSG:4326")),
			({ CRS }) => CRS === "EPSG:4326" || "bad CRS",
			null,
			[],
		],
		[
			service13(`${here}<Style><Name>plain</Name></Style>`),
			({ STYLES }) => STYLES === "plain" || "no style",
			null,
			["draws nothing without the name of a style, such as plain"],
		],
		[
			service13(here + crs("EPSG:99999")),
			() => "bad CRS",
			null,
			["is drawn only in references that are not known here: EPSG:99999"],
		],
		[service13(here), () => "No data", "down", ["answers with no picture: No data"]],
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
		assert.is((await lookAt(service13(here), () => draws, wms("roads"), site)).state, state);
});

test("a name that is listed in another way, or not at all, is a finding where the layer is drawn", async () => {
	const document = service13(here);
	const rows: [name: string, listed: string, draws: boolean | string, state: string | null, said: string][] =
		[
			["pub:roads", "roads", true, null, "lists pub:roads as roads"],
			["roads", "pub:roads", true, null, "draws roads, which is not among its 1 listed layers"],
			["hidden", "roads", "no such layer", "wrong", "has no layer hidden among its 1"],
			[
				"réseau",
				"r\ufffdseau",
				true,
				null,
				"has characters that cannot be read in the name of the layer: r\ufffdseau",
			],
		];
	for (const [name, listed, draws, state, said] of rows) {
		const seen = await lookAt(document.replace(">roads<", `>${listed}<`), () => draws, wms(name));
		assert.equal([seen.state, seen.said], [state, [said]], name);
	}
});

test("boxes in references, boxes of groups, scales of a whole service, texts in languages and with elements in them", async () => {
	const boundsOf = async (document: string, name = "roads") =>
		(await harvest(wms(name), memoryHost({ "/wms": document }))).shown.bounds;
	const boxIn = (reference: string, ...[minx, miny, maxx, maxy]: number[]) =>
		`<BoundingBox CRS="${reference}" minx="${minx}" miny="${miny}" maxx="${maxx}" maxy="${maxy}"/>`;
	assert.equal(await boundsOf(service13(boxIn("EPSG:4326", -55, 160, -25, 179))), [160, -55, 179, -25]);
	assert.equal(
		(await boundsOf(service13(boxIn("EPSG:3857", -15696048, 5012341, -5788613, 18807215))))?.map(Math.round),
		[-141, 41, -52, 84],
	);
	const nothing = box(-1, -1, -1, -1);
	assert.equal(await boundsOf(service13(nothing, { root: here })), [-80, 40, -60, 50], "that of the parent");
	const group = service13(here, {
		root: `<Name>all</Name>${nothing}${layerOf("rails", box(-90, 42, -75, 55))}`,
	});
	assert.equal(await boundsOf(group, "all"), [-90, 40, -60, 55], "around its layers");
	const scaled = service13(here, { root: `${here}<MaxScaleDenominator>50000</MaxScaleDenominator>` });
	const whole = await harvest(nodeAt("ogcWms", "/wms"), memoryHost({ "/wms": scaled }));
	assert.equal(
		whole.description?.en && "min_scale" in whole.description.en,
		false,
		"a whole service has no scales",
	);
	const swapped =
		"<MinScaleDenominator>50000</MinScaleDenominator><MaxScaleDenominator>1000</MaxScaleDenominator>";
	const { description: scales } = await harvest(wms("roads"), memoryHost({ "/wms": service13(swapped) }));
	assert.match(JSON.stringify(scales?.en), /"min_scale":50000,"max_scale":1000\b/);
	const titled = (texts: string) => memoryHost({ "/wms": service13(texts) });
	const texts = `<Title xml:lang="fra">Relief <b>ombré</b></Title><Title xml:lang="en-CA">Shaded</Title><Abstract>All<br/>of it</Abstract>
		<KeywordList><Keyword xml:lang="fr">relief</Keyword><Keyword>map</Keyword></KeywordList>`;
	const { description } = await harvest(wms("roads"), titled(texts));
	const [en, fr] = [description?.en, description?.fr] as {
		title?: string;
		abstract?: string;
		keywords?: string[];
	}[];
	assert.equal([en?.title, fr?.title, fr?.abstract], ["Shaded", "Relief ombré", "All of it"]);
	assert.equal([en?.keywords, fr?.keywords], [["map"], ["relief", "map"]]);
});

test("a document is found: without a version, below the base address of a WMTS, in parts up to 64 MB", async () => {
	const refusal =
		"<ServiceExceptionReport><ServiceException>Only 1.1.1</ServiceException></ServiceExceptionReport>";
	const old = await check(wms("roads"), { [`/wms?${request}`]: refusal, "/wms": older });
	assert.equal(old.findings, []);
	const tiles = { scrape_only: ["topo"] };
	const base = await check(nodeAt("ogcWmts", "/basemap", tiles), {
		"/basemap/1.0.0/WMTSCapabilities.xml": wmts,
	});
	assert.equal(base.findings, []);
	const parts = function* () {
		yield new TextEncoder().encode("<WMS_Capabilities><Capability><Layer>");
		for (let at = 0; at < 30_000; at += 1) {
			yield new TextEncoder().encode(
				layerOf(`layer_${at}`, `<Title>${"t".repeat(200)}</Title><Abstract>${"a".repeat(200)}</Abstract>`),
			);
		}
		yield new TextEncoder().encode("</Layer></Capability></WMS_Capabilities>");
	};
	const { layers, others, count } = await parseCapabilities(parts(), "text/xml", "WMS", ["layer_29999"]);
	assert.equal(
		[count, layers.has("layer_0"), layers.has("layer_29998"), layers.has("layer_29999")],
		[30_000, true, false, true],
	);
	assert.ok(layers.size < 15_000 && others.size + layers.size <= 30_000);
	const cut = gzipSync(Buffer.from(older, "latin1")).subarray(0, 200);
	assert.equal((await check(wms("roads"), { "/wms": inBytes(cut) })).findings[0]?.slice(0, 1), ["down"]);
});

test.run();
