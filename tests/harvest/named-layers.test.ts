import { readFile } from "node:fs/promises";
import * as assert from "uvu/assert";
import { mergeDescription, Trouble } from "../../harvest/finding.ts";
import { createHarvestLayer } from "../../harvest/layer.ts";
import { createAsk } from "../../harvest/net/ask.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import { createReadCapabilities } from "../../harvest/wms/read-capabilities.ts";
import { causeOf } from "../../registry/causes.ts";
import { describedFor, descriptionText, isDescribed, parseDescription } from "../../registry/description.ts";
import type { LangNode, Registration, Registration1 } from "../../registry/registration.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { featureAt } from "../viewer/viewer.ts";
import { layerDocument, mapLayer, serveLayer } from "./arcgis-server.ts";
import { json, Peer, status, text } from "./peer.ts";

let peer: Peer;
test.before.each(async () => {
	peer = await Peer.open();
});
test.after.each(() => peer.close());

/** A WMS layer of version 1.0.0; one service for both languages. */
function wms(layer: string, fr = layer): Registration1 {
	const service_url = `${peer.origin}/wms`;
	const version = "1.0.0";
	return { version, payload_type: "wms", en: { service_url, layer }, fr: { service_url, layer: fr } };
}

async function serve(file: string): Promise<void> {
	const document = await readFile(new URL(`../fixtures/capabilities/${file}`, import.meta.url));
	peer.on("/wms", text(document, "text/xml"));
}

function newHarvest() {
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }), sleep: async () => {} });
	return createHarvestLayer({ ask, mapWkid: 3978 });
}

async function harvest(registration: Registration, stored: string | null = null, run = newHarvest()) {
	const harvested = await run(registration);
	const description = mergeDescription(registration, harvested, stored);
	const written = description && descriptionText(description);
	if (written) assert.equal(parseDescription(written), description, "it is read as it was written");
	const findings = harvested.findings.map(({ state, text }) => [state, text.replace(/^\S+ /, "")]);
	return { description, text: written, findings, said: describedFor({ registration, description }, "en") };
}

const geomedian =
	"Data is only visible at higher resolutions; when zoomed-out the available area will be displayed as a shaded region. The surface reflectance geometric median (geomedian) is a pixel composite mosaic of a time series of earth observations. The value of a pixel in a an annual geomedian image is the statistical median of all observations for that pixel from a calendar year. Annual mosaics are available for the following years:Landsat 8: 2013 to 2017;For more information, see http://pid.geoscience.gov.au/dataset/ga/120374For service status information, see https://status.dea.ga.gov.au";

/** A written description without the layers that stand beside. */
function withoutSiblings(written: unknown) {
	return JSON.parse(String(written), (name, value) => (name === "siblings" ? undefined : value));
}

test("WMS 1.3.0: title, abstract, keywords and box of the named layer", async () => {
	await serve("digital-earth-1.3.0.xml");
	const { said, findings } = await harvest(wms("ls8_nbart_geomedian_annual"));
	assert.equal(findings, []);
	assert.equal(said, {
		title: "Surface Reflectance 25m Annual Geomedian (Landsat 8)",
		description: geomedian,
		keywords: [
			...["WOfS", "HLTC", "landsat", "time-series", "mangrove", "bare-earth", "australia"],
			...["geomedian", "NIDEM", "fractional-cover"],
		],
		bounds: [109.9898, -45.2414, 156.1016, -9.0272],
	});
	assert.equal(peer.asked, ["/wms?SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.3.0"]);
});

test("WMS 1.1.1: a layer without a box of its own has its parent's; what a style says is not the layer's", async () => {
	await serve("acme-1.1.1.xml");
	const { said, text: written } = await harvest(wms("ROADS_1M", "RIVERS_1M"));
	const bounds = [-71.63, 41.75, -70.78, 42.9];
	assert.equal(said, {
		title: "Roads at 1:1M scale",
		description: "Roads at a scale of 1 to 1 million.",
		keywords: ["road", "transportation", "atlas"],
		bounds,
	});
	const service_url = `${peer.origin}/wms`;
	const { siblings } = JSON.parse(String(written)).en;
	assert.ok(siblings.includes("RIVERS_1M") && !siblings.includes("ROADS_1M"), "the layers beside it");
	assert.equal(withoutSiblings(written), {
		en: {
			service_url,
			layers: ["ROADS_1M"],
			title: "Roads at 1:1M scale",
			abstract: "Roads at a scale of 1 to 1 million.",
			keywords: ["road", "transportation", "atlas"],
			bounds,
		},
		fr: {
			service_url,
			layers: ["RIVERS_1M"],
			title: "Rivers at 1:1M scale",
			abstract: "Rivers at a scale of 1 to 1 million.",
			keywords: ["river", "canal", "waterway"],
			bounds,
		},
	});
	const group = await harvest(wms("ROADS_RIVERS"));
	assert.equal(group.said, { title: "Roads and Rivers", description: null, keywords: [], bounds });
});

test("a service is asked once for all of its layers; unchanged, it changes no description", async () => {
	await serve("acme-1.1.1.xml");
	const run = newHarvest();
	const first = await harvest(wms("ROADS_1M"), null, run);
	await Promise.all(["RIVERS_1M", "ROADS_RIVERS"].map((layer) => harvest(wms(layer), null, run)));
	assert.is(peer.asked.length, 1);
	assert.is((await harvest(wms("ROADS_1M"), first.text)).text, first.text);
	assert.not.match(String(first.text), /20\d\d-/);
});

test("the capabilities of a service that many layers name stay at hand while others are asked", async () => {
	const asked: string[] = [];
	const bytes = new TextEncoder().encode("<WMS_Capabilities/>");
	const read = createReadCapabilities(async (address) => {
		asked.push(new URL(address).hostname);
		return { ok: true, bytes, type: "text/xml" };
	});
	for (let other = 0; other < 40; other += 1) {
		await read("WMS", "https://often.example/wms", null);
		await read("WMS", `https://other${other}.example/wms`, null);
	}
	assert.is(asked.filter((host) => host === "often.example").length, 1);
	await read("WMS", "https://other0.example/wms", null);
	assert.is(asked.filter((host) => host === "other0.example").length, 2);
});

test("capabilities that could not be read are asked for again when a layer is harvested again", async () => {
	let isUp = false;
	let now = 0;
	const bytes = new TextEncoder().encode("<WMS_Capabilities/>");
	const down = new Trouble("down", causeOf("slow", 10));
	const ask = async () => (isUp ? ({ ok: true, bytes, type: "text/xml" } as const) : down);
	const read = createReadCapabilities(ask, () => now);
	const isRead = () => read("WMS", "https://a.example/wms", null).then(Boolean, () => false);
	assert.not(await isRead());
	isUp = true;
	assert.not(await isRead(), "within a minute one failure is enough for all layers");
	now = 60_000;
	assert.ok(await isRead());
	isUp = false;
	now = 600_000;
	assert.ok(await isRead());
});

test("a layer's time ends the wait for capabilities, and not the request, for which others wait", async () => {
	const answers: (() => void)[] = [];
	peer.on("/wms", (_request, response) => {
		answers.push(() => response.end("<WMS_Capabilities/>"));
	});
	const run = newHarvest();
	const patient = run(wms("ROADS_1M"));
	await eventually(() => answers.length === 1);
	const { findings } = await run(wms("ROADS_1M"), AbortSignal.timeout(100));
	assert.equal(
		findings.map((finding) => finding.text),
		Array(2).fill(`${peer.origin}/wms was not asked to the end`),
	);
	const late = await run(wms("ROADS_1M"), AbortSignal.abort());
	assert.match(late.findings[0]?.text ?? "", "was not asked to the end");
	assert.is(answers.length, 1);
	answers[0]?.();
	assert.match((await patient).findings[0]?.text ?? "", "has no layer ROADS_1M among its 0");
});

test("no fragment changes: the title that viewers show is the registered one, or the layer's name", async () => {
	await serve("acme-1.1.1.xml");
	const service_url = `${peer.origin}/wms`;
	const node = { service_type: "ogcWms", service_url, scrape_only: ["ROADS_1M"] } as LangNode;
	const plain = wms("ROADS_1M");
	for (const registration of [plain, { version: "2.0", en: node, fr: node }] as const) {
		const { description } = await harvest(registration);
		assert.ok(description);
		const render = (known: typeof description | null) =>
			targetNames.map((target) => {
				const settings = { metadataUrl: "", catalogueUrl: "" };
				return renderAt(target, layerFacts("en", "roads", registration, known, settings));
			});
		assert.equal(render(description), render(null));
		assert.match(JSON.stringify(render(null)), "ROADS_1M");
	}
});

test("what was harvested counts for the registered layer only, and stays while the service is down", async () => {
	await serve("acme-1.1.1.xml");
	const { description, text: stored } = await harvest(wms("ROADS_1M"));
	assert.ok(isDescribed(wms("ROADS_1M"), description));
	assert.not(isDescribed(wms("RIVERS_1M"), description));
	assert.is(describedFor({ registration: wms("RIVERS_1M"), description }, "en").title, null);
	peer.on("/wms", status(503));
	const down = await harvest(wms("ROADS_1M"), stored);
	assert.is(down.text, stored);
	assert.equal(down.findings[0], ["down", "answers with status 503"]);
	assert.is((await harvest(wms("RIVERS_1M"), stored)).text, null);
	await serve("acme-1.1.1.xml");
	const gone = await harvest(wms("RAILS"), stored);
	assert.is(gone.text, null);
	assert.equal(gone.findings[0], ["wrong", "has no layer RAILS among its 3"]);
});

test("a service whose capabilities are too large is asked for the layer alone", async () => {
	const roads = "<Layer><Name>roads</Name><Title>Roads</Title></Layer>";
	peer.on("/wms", (request, response) => {
		const isWhole = !request.url?.includes("LAYER=roads");
		response.end(`<WMS_Capabilities>${isWhole ? " ".repeat(5_000_001) : roads}</WMS_Capabilities>`);
	});
	assert.is((await harvest(wms("roads"))).said.title, "Roads");
});

test("several layers: the words of the service, the keywords of all, and where all of them lie", async () => {
	const box = (west: number) => `<LatLonBoundingBox minx="${west}" miny="45" maxx="${west + 1}" maxy="46"/>`;
	const words = (word: string) =>
		`<KeywordList><Keyword>${word}</Keyword><Keyword>map</Keyword></KeywordList>`;
	const layer = (name: string, west: number) =>
		`<Layer><Name>${name}</Name><Title>${name}</Title>${words(name)}${box(west)}</Layer>`;
	const document = `<WMT_MS_Capabilities><Layer><Title>Transport</Title>${layer("roads", -75)}${layer("rails", -80)}</Layer></WMT_MS_Capabilities>`;
	peer.on("/wms", text(document, "text/xml"));
	const node = { service_type: "ogcWms", service_url: `${peer.origin}/wms`, scrape_only: ["roads", "rails"] };
	const registration = { version: "2.0", en: node, fr: node } as Registration;
	const { said, findings } = await harvest(registration);
	assert.equal(findings, []);
	const keywords = ["roads", "map", "rails"];
	assert.equal(said, { title: "Transport", description: null, keywords, bounds: [-80, 45, -74, 46] });
});

test("WMTS: title and box of the named layer", async () => {
	const document = `<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1"><Contents><Layer>
<ows:Title>Toporama</ows:Title><ows:Abstract>Maps</ows:Abstract><ows:WGS84BoundingBox><ows:LowerCorner>-142 41</ows:LowerCorner>
<ows:UpperCorner>-52 84</ows:UpperCorner></ows:WGS84BoundingBox><ows:Identifier>topo</ows:Identifier></Layer></Contents></Capabilities>`;
	peer.on("/wmts", text(document, "text/xml"));
	const node = { service_type: "ogcWmts", service_url: `${peer.origin}/wmts`, scrape_only: ["topo"] };
	const { said } = await harvest({ version: "2.0", en: node, fr: node } as Registration);
	const bounds = [-142, 41, -52, 84];
	assert.equal(said, { title: "Toporama", description: "Maps", keywords: [], bounds });
});

/** A service with one layer, `roads`, and what it says of it. */
function serveRoads(about: string, prolog = "", type = "text/xml"): void {
	const document = `${prolog}<WMS_Capabilities><Layer><Name>roads</Name>${about}</Layer></WMS_Capabilities>`;
	peer.on("/wms", text(document, type));
}

test("texts are plain, one line, and bounded", async () => {
	const keywords = Array.from(
		{ length: 500 },
		(_, at) => `<Keyword>k${at % 400} ${"x".repeat(200)}</Keyword>`,
	);
	serveRoads(`<Title>R&lt;script&gt;alert(1)&lt;/script&gt;\u202Eoads
		&amp;eacute;&amp;#60;b onclick=x&amp;gt; ${"t".repeat(5_000)}</Title>
		<Abstract><![CDATA[<p style="x">One</p>\r\n<!-- no --><a href="javascript:x">two</a> <3 & ${"😀".repeat(3_000)}]]></Abstract>
		<KeywordList><Keyword>  </Keyword><Keyword>&lt;i&gt;</Keyword>${keywords.join("")}</KeywordList>`);
	const { said, text: written } = await harvest(wms("roads"));
	assert.match(said.title ?? "", /^R alert\(1\) oads é t{200}/);
	assert.is(said.title?.length, 300);
	assert.match(said.description ?? "", /^One two <3 & (?:😀)+…$/u);
	assert.ok((said.description?.length ?? 0) >= 1_999 && (said.description?.length ?? 0) <= 2_000);
	assert.is(said.keywords.length, 20);
	assert.ok(said.keywords.every((word) => /^k\d+ x+…$/.test(word) && word.length === 100));
	assert.ok(String(written).isWellFormed());
	for (const one of Object.values(JSON.parse(String(written)).en)) {
		assert.not.match(String(one), /[\p{Cc}\p{Cf}]|<[a-z/!]/iu);
	}
});

test("an entity bomb is not expanded, and encodings are read as they are declared", async () => {
	const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>`;
	serveRoads("<Title>Roads &c;</Title>", bomb);
	assert.is((await harvest(wms("roads"))).said.title, "Roads &c;");
	const latin = '<?xml version="1.0" encoding="ISO-8859-1"?>';
	const document = `${latin}<WMS_Capabilities><Layer><Name>roads</Name><Title>Réseau</Title></Layer></WMS_Capabilities>`;
	peer.on("/wms", text(Buffer.from(document, "latin1"), "text/xml"));
	assert.is((await harvest(wms("roads"))).said.title, "Réseau");
	peer.on("/wms", text(Buffer.from(`\ufeff${document}`, "utf16le"), "text/xml"));
	assert.is((await harvest(wms("roads"))).said.title, "Réseau");
});

test("an invalid box is left out, and one over the antimeridian goes around the earth", async () => {
	const box = (...sides: (number | string)[]) => {
		const [west, south, east, north] = sides;
		return `<Title>Roads</Title><LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>`;
	};
	for (const [sides, bounds] of [
		[[0, 0, 0, 0], null],
		[[10, 0, -10, 5], null],
		[["NaN", 0, 1, 1], null],
		[[-1e9, 0, 1, 1], null],
		[
			[0, -90, 360, 90],
			[-180, -90, 180, 90],
		],
		[
			[-140.123456, 40, -52.000001, 83.2],
			[-140.1235, 40, -52, 83.2],
		],
	] as const) {
		serveRoads(box(...sides));
		assert.equal((await harvest(wms("roads"))).said.bounds, bounds, String(sides));
	}
});

test("ten thousand layers: what is kept is of the one that is named", async () => {
	const about = (at: number) => `<Title>T${at}</Title><Abstract>${"a".repeat(300)}</Abstract>`;
	const layers = Array.from({ length: 10_000 }, (_, at) => `<Layer><Name>n${at}</Name>${about(at)}</Layer>`);
	peer.on("/wms", text(`<WMS_Capabilities><Layer>${layers.join("")}</Layer></WMS_Capabilities>`, "text/xml"));
	const { said, text: written } = await harvest(wms("n9999"));
	assert.is(said.title, "T9999");
	assert.ok(String(JSON.stringify(withoutSiblings(written))).length < 2_000);
	assert.is(
		JSON.parse(String(written)).en.siblings.length,
		100,
		"of the layers beside it, the nearest by name",
	);
});

test("a feature layer: its name, its description without markup, and its extent in degrees", async () => {
	const description = "<div style='x'>Hourly&nbsp;ozone,<br>in ppb</div>";
	serveLayer(peer, { layer: json(layerDocument({ description })) });
	const registration = featureAt(peer.origin + mapLayer);
	const { said, description: known } = await harvest(registration);
	const bounds = [-123, 45.4215, -60, 70];
	assert.equal(said, { title: "Stations", description: "Hourly ozone, in ppb", keywords: [], bounds });
	// One that was stored before there were bounds: they are found from the extent in the map's spatial reference.
	const older = JSON.parse(JSON.stringify(known));
	for (const lang of ["en", "fr"]) for (const member of ["bounds", "abstract"]) delete older[lang][member];
	const parsed = parseDescription(JSON.stringify(older));
	assert.equal(parsed, older, "it stays valid");
	const [west = 0, south = 0, east = 0, north = 0] =
		describedFor({ registration, description: parsed }, "en").bounds ?? [];
	assert.ok(west <= -123 && south <= 45.4215 && east >= -60 && north >= 70, "all of it is inside");
	assert.ok(west > -180 && south > 30 && east < 0 && north <= 90);
});

test("what a file says is as plain as what a service says", () => {
	const registration = wms("roads");
	const { service_url } = registration.en;
	const stored = {
		service_url,
		layers: ["roads"],
		title: "<img src=x>Roads\n",
		abstract: "a\u0000b",
		keywords: ["x", "x"],
	};
	const description = parseDescription(JSON.stringify({ en: stored }));
	assert.equal(describedFor({ registration, description }, "en"), {
		title: "Roads",
		description: "a b",
		keywords: ["x"],
		bounds: null,
	});
	for (const wrong of [
		{ title: "t".repeat(301) },
		{ abstract: "a".repeat(2_001) },
		{ keywords: Array(21).fill("k") },
		{ bounds: [1, 2, 3] },
		{ changed: "2026-03-04" },
	]) {
		assert.is(parseDescription(JSON.stringify({ en: { ...stored, ...wrong } })), null, JSON.stringify(wrong));
	}
});

test.run();
