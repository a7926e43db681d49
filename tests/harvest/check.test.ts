import * as assert from "uvu/assert";
import { createCheckLayer } from "../../harvest/check-layer.ts";
import { createAsk } from "../../harvest/net/ask.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import type { LangEntry, Registration, Registration2 } from "../../registry/registration.ts";
import { test } from "../helpers/suite.ts";
import { featureAt } from "../viewer/viewer.ts";
import { layerDocument, mapLayer, oddRoutes, serveLayer } from "./arcgis-server.ts";
import { json, Peer, text } from "./peer.ts";

let peer: Peer;
test.before.each(async () => {
	peer = await Peer.open();
});
test.after.each(() => peer.close());

/** A WMS 1.3.0 with a group without a name, and layers in it. */
const current = `<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:sld="http://www.opengis.net/sld">
<Service><Name>WMS</Name><Title>A service</Title></Service>
<Capability>
<Request>
<GetFeatureInfo><Format>text/html; charset=utf-8</Format><Format>text/plain</Format></GetFeatureInfo>
<sld:GetLegendGraphic><Format>image/png</Format></sld:GetLegendGraphic>
</Request>
<Layer queryable="1"><Title>All of it</Title>
<Style><Name>all</Name><Title>Style of all</Title><LegendURL><Format>image/gif</Format></LegendURL></Style>
<Layer><Title>Transport</Title>
<Layer><Name>roads</Name><Title>Roads &amp; streets</Title><Style><Name>x</Name><Title>Style</Title></Style></Layer>
<Layer queryable="0"><Name>routes</Name><Title>Routes</Title></Layer>
</Layer>
</Layer>
</Capability>
</WMS_Capabilities>`;

/** A WMS 1.1.1 as MapServer sends it: a DTD, and a declared encoding. */
const older = `<?xml version='1.0' encoding="ISO-8859-1" standalone="no" ?>
<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd" [
<!ELEMENT VendorSpecificCapabilities EMPTY>
]>
<WMT_MS_Capabilities version="1.1.1"><Service><Name>OGC:WMS</Name></Service><Capability>
<Request><GetFeatureInfo><Format>text/plain</Format></GetFeatureInfo></Request>
<Layer><Name>all</Name><Title>Tout</Title>
<Layer queryable="1"><Name>roads</Name><Title>Réseau routier</Title></Layer>
<Layer><Name>routes</Name><Title>Voies</Title></Layer></Layer>
</Capability></WMT_MS_Capabilities>`;

function registration(en: Partial<LangEntry> = {}, fr: Partial<LangEntry> = {}): Registration {
	const service_url = `${peer.origin}/wms`;
	return {
		version: "1.0.0",
		payload_type: "wms",
		en: { service_url, layer: "roads", ...en },
		fr: { service_url, layer: "routes", ...fr },
	};
}

/** Only what hangs meets its end, on a slow machine too. */
function check(layer: Registration, timeoutMs = 60_000) {
	const fetch = createFetch({ allowPrivate: true, timeoutMs });
	return createCheckLayer(createAsk({ fetch, sleep: async () => {} }))(layer);
}

/** What is found, without the address at the start of each text. */
async function found(layer: Registration, timeoutMs?: number): Promise<string[][]> {
	const { findings } = await check(layer, timeoutMs);
	return findings.map(({ state, pointer, text }) => [state, pointer, text.replace(/^\S+ /, "")]);
}

test("WMS 1.3.0: nested layers, with what they have from their parents", async () => {
	peer.on("/wms", text(current, "text/xml"));
	const more = { legend_format: "image/png", feature_info_type: "text/html" };
	const { facts, findings } = await check(registration(more, { legend_format: "image/gif" }));
	assert.equal(findings, []);
	const featureInfoFormats = ["text/html; charset=utf-8", "text/plain"];
	const legendFormats = ["image/gif", "image/png"];
	assert.equal(facts, {
		en: { title: "Roads & streets", queryable: true, legendFormats, featureInfoFormats },
		fr: { title: "Routes", queryable: false, legendFormats, featureInfoFormats },
	});
	assert.equal(peer.asked, ["/wms?SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.3.0"]);
});

test("WMS 1.1.1: a document type, another encoding", async () => {
	peer.on("/wms", text(Buffer.from(older, "latin1"), "application/vnd.ogc.wms_xml"));
	const { facts, findings } = await check(registration({ feature_info_type: "text/plain" }));
	assert.equal(findings, []);
	assert.is(facts.en?.title, "Réseau routier");
	assert.is(facts.fr?.title, "Voies");
});

test("encodings: of the content type, of the byte order mark", async () => {
	const undeclared = older.replace(/^.*\n/, "");
	for (const [body, type] of [
		[Buffer.from(undeclared, "latin1"), "text/xml; charset=ISO-8859-1"],
		[Buffer.from(`\ufeff${undeclared}`, "utf16le"), "text/xml"],
		[Buffer.from(`\ufeff${undeclared}`, "utf8"), "text/xml; charset=ISO-8859-1"],
		[Buffer.from(undeclared, "utf8"), "text/xml"],
	] as const) {
		peer.on("/wms", text(body, type));
		assert.is((await check(registration())).facts.en?.title, "Réseau routier");
	}
	peer.on("/wms", text(older.replace("ISO-8859-1", "x-klingon"), "text/xml"));
	assert.is((await found(registration())).length, 2);
});

test("the address keeps its own parameters, but not those of the request", async () => {
	peer.on("/wms", text(current, "text/xml"));
	const service_url = `${peer.origin}/wms?map=/a.map&request=GetMap&Version=1.1.1`;
	assert.equal(await found(registration({ service_url }, { service_url })), []);
	assert.equal(peer.asked, ["/wms?map=%2Fa.map&SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.3.0"]);
});

test("a layer, a query type and a legend type that the service does not have are wrong registrations", async () => {
	peer.on("/wms", text(current, "text/xml"));
	const wrong = { feature_info_type: "application/json", legend_format: "image/jpeg" };
	assert.equal(await found(registration(wrong, { layer: "Transport" })), [
		[
			"wrong",
			"/en/feature_info_type",
			"does not offer application/json for queries, only: text/html; charset=utf-8, text/plain",
		],
		["wrong", "/en/legend_format", "does not offer image/jpeg for legends, only: image/gif, image/png"],
		["wrong", "/fr/layer", "has no layer Transport among its 2"],
	]);
	assert.equal(await found(registration({}, { feature_info_type: "text/plain" })), [
		["wrong", "/fr/feature_info_type", "cannot be queried for routes"],
	]);
	assert.equal(await found(registration({ layer: "__proto__" }, { layer: "constructor" })), [
		["wrong", "/en/layer", "has no layer __proto__ among its 2"],
		["wrong", "/fr/layer", "has no layer constructor among its 2"],
	]);
});

test("a service that names no legend is not said to lack one", async () => {
	peer.on("/wms", text(Buffer.from(older, "latin1"), "text/xml"));
	assert.equal(await found(registration({ legend_format: "image/png" })), []);
});

test("a page is no WMS, an exception and a dead server are the server's", async () => {
	const outcome = async (body: string, type: string) => {
		peer.on("/wms", text(body, type));
		return (await found(registration()))[0];
	};
	const page = "<!doctype html><html><head><meta charset=utf-8><br>&nbsp;</html>";
	const notWms = ["wrong", "/en/service_url", "does not answer as a WMS does"];
	assert.equal(await outcome(page, "text/html"), notWms);
	assert.equal(await outcome("{}", "application/json"), notWms);
	assert.equal(await outcome("", "text/xml"), notWms);
	const exception =
		'<ServiceExceptionReport version="1.3.0"><ServiceException code="X">\nNo such\nmap </ServiceException></ServiceExceptionReport>';
	assert.equal(await outcome(exception, "text/xml"), [
		"down",
		"/en/service_url",
		"answers with an exception: No such map",
	]);
	const ows =
		'<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows"><ows:Exception><ows:ExceptionText>Busy</ows:ExceptionText></ows:Exception></ows:ExceptionReport>';
	assert.equal(await outcome(ows, "text/xml"), [
		"down",
		"/en/service_url",
		"answers with an exception: Busy",
	]);
	peer.on("/wms", (_request, response) => response.writeHead(503).end());
	assert.equal((await found(registration()))[0], ["down", "/en/service_url", "answers with status 503"]);
	peer.on("/wms", oddRoutes.hang);
	assert.is((await found(registration(), 300))[0]?.[0], "down");
});

test("entities are not expanded, and nesting is bounded", async () => {
	const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
<WMS_Capabilities><Capability><Layer><Name>roads</Name><Title>&b;&f;</Title></Layer></Capability></WMS_Capabilities>`;
	peer.on("/wms", text(bomb, "text/xml"));
	assert.is((await check(registration())).facts.en?.title, "&b;&f;");
	peer.on("/wms", text("<Layer>".repeat(600_000), "text/xml"));
	assert.is((await found(registration()))[0]?.[0], "wrong");
});

test("a service that is too large to be read whole is asked for the layer alone", async () => {
	peer.on("/wms", (request, response) => {
		const isOne = request.url?.includes("LAYER=roads") || request.url?.includes("LAYER=routes");
		response.writeHead(200, { "Content-Type": "text/xml" });
		response.end(isOne ? current : `${current}<!--${" ".repeat(6_000_000)}-->`);
	});
	assert.equal(await found(registration()), []);
	assert.is(peer.asked.length, 3);
});

test("a feature layer: its title, a field that it does not have, and whose fault a failure is", async () => {
	serveLayer(peer);
	const good = await check(featureAt(peer.origin + mapLayer, { display_field: "NAME" }));
	assert.equal(good, { facts: { en: { title: "Stations" }, fr: { title: "Stations" } }, findings: [] });
	const wrong = await found(featureAt(peer.origin + mapLayer, { display_field: "NAAM" }));
	assert.equal(wrong, [
		["wrong", "/en/display_field", "has no field NAAM"],
		["wrong", "/fr/display_field", "has no field NAAM"],
	]);
	serveLayer(peer, { layer: json(layerDocument({ type: "Group Layer" })) });
	assert.match((await found(featureAt(peer.origin + mapLayer)))[0]?.join(" ") ?? "", /^wrong .*group layer/);
	assert.equal((await found(featureAt(`${peer.origin}/gone/MapServer/1`)))[0], [
		"wrong",
		"/en/service_url",
		"answers with status 404",
	]);
});

test("version 2.0: whether a service has the layers that are named, of each kind", async () => {
	const service = "/arcgis/rest/services/Odd/MapServer";
	const node = (service_type: string, path: string, more: object = {}): Registration2["en"] => {
		return { service_type, service_url: peer.origin + path, ...more } as Registration2["en"];
	};
	const findings = (en: Registration2["en"]) => found({ version: "2.0", en, fr: node("esriTile", service) });
	peer.on(
		service,
		json({ mapName: "Map", layers: [{ id: 0 }, { id: 4, parentLayerId: 0 }], tables: [{ id: 9 }] }),
	);
	peer.on("/wms", text(current, "text/xml"));
	const tiles =
		"<Capabilities><Contents><Layer><ows:Identifier>topo</ows:Identifier></Layer></Contents></Capabilities>";
	peer.on("/wmts", text(tiles, "text/xml"));
	for (const good of [
		node("esriMapServer", service, { scrape_only: [4, 9] }),
		node("esriFeatureServer", service, { recursive: true }),
		node("esriImage", service),
		node("ogcWms", "/wms", { scrape_only: ["roads", "routes"] }),
		node("ogcWmts", "/wmts", { scrape_only: ["topo"] }),
	]) {
		assert.equal(await findings(good), [], good.service_type);
	}
	assert.equal(await findings(node("esriMapServer", service, { scrape_only: [0, 5] })), [
		["wrong", "/en/scrape_only/1", "has no layer 5 among its 3"],
	]);
	assert.equal(await findings(node("ogcWms", "/wms", { scrape_only: ["rails", "__proto__"] })), [
		["wrong", "/en/scrape_only/0", "has no layer rails among its 2"],
		["wrong", "/en/scrape_only/1", "has no layer __proto__ among its 2"],
	]);
	assert.equal(await findings(node("ogcWmts", "/wms")), [
		["wrong", "/en/service_url", "does not answer as a WMTS does"],
	]);
	const many = Array.from({ length: 500 }, (_, index) => `n${index}`);
	const bounded = await findings(node("ogcWms", "/wms", { scrape_only: many }));
	assert.is(bounded.length, 11);
	assert.equal(bounded[10], ["wrong", "/en/scrape_only", "does not have 490 more of its layers"]);
	peer.on(service, json({ error: { code: 404, message: "Service not found" } }));
	const gone = ["wrong", "service_url", "answers with ArcGIS error 404: Service not found"];
	assert.equal(await findings(node("esriImage", service)), [
		[gone[0], `/en/${gone[1]}`, gone[2]],
		[gone[0], `/fr/${gone[1]}`, gone[2]],
	]);
});

test.run();
