import * as assert from "uvu/assert";
import { mergeDescription } from "../../harvest/finding.ts";
import { createHarvestLayer } from "../../harvest/layer.ts";
import { createAsk } from "../../harvest/net/ask.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import {
	currentDescription,
	type Description,
	descriptionText,
	isDescribed,
	parseDescription,
} from "../../registry/description.ts";
import type { LangNode, Registration2 } from "../../registry/registration.ts";
import { test } from "../helpers/suite.ts";
import { layerDocument, mapLayer, serveLayer } from "./arcgis-server.ts";
import { json, Peer, type Route, text } from "./peer.ts";

let peer: Peer;
test.before.each(async () => {
	peer = await Peer.open();
});
test.after.each(() => peer.close());

const service = "/arcgis/rest/services/Odd/MapServer";

/** A registration of version 2.0 with one node for both languages. */
function registration(service_type: string, path: string, more: object = { recursive: true }): Registration2 {
	const node = { service_type, service_url: peer.origin + path, ...more } as LangNode;
	return { version: "2.0", en: node, fr: node };
}

async function harvest(layer: Registration2, stored: string | null = null) {
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }), sleep: async () => {} });
	const harvested = await createHarvestLayer({ ask, mapWkid: 3978 })(layer);
	const description = mergeDescription(layer, harvested, stored);
	const written = description && descriptionText(description);
	if (written) assert.equal(parseDescription(written), description, "it is read as it was written");
	const en = description?.en;
	const findings = harvested.findings.map(({ state, pointer, text }) => [
		state,
		pointer,
		text.replace(/^\S+ /, ""),
	]);
	return { entries: en && "entries" in en ? en.entries : null, findings, text: written, description };
}

/** Layers of a map service: two groups, one with a group in it. */
const mapService = {
	mapName: "Layers",
	layers: [
		{ id: 0, name: "Roads", parentLayerId: -1, subLayerIds: null },
		{ id: 1, name: "Water", parentLayerId: -1, subLayerIds: [2, 3] },
		{ id: 2, name: "Rivers", parentLayerId: 1, subLayerIds: null },
		{ id: 3, name: "Lakes", parentLayerId: 1, subLayerIds: [4] },
		{ id: 4, name: "Large lakes", parentLayerId: 3, subLayerIds: null },
		{ id: 9, name: "Parks", parentLayerId: -1, subLayerIds: null },
		{ id: 5, name: "Rail", parentLayerId: -1, subLayerIds: null },
	],
	tables: [{ id: 7, name: "Table" }],
};

test("a map service: its top layers in its own order, a group's layers in place of the group", async () => {
	peer.on(service, json(mapService));
	for (const type of ["esriMapServer", "esriFeatureServer"]) {
		const { entries, findings } = await harvest(registration(type, service));
		assert.equal(entries, [0, 2, 3, 9, 5]);
		assert.equal(findings, []);
	}
	assert.equal(peer.asked, [`${service}?f=json`, `${service}?f=json`], "once for both languages");
});

test("a feature service without groups, and one that lists a group's layers as objects", async () => {
	peer.on(service, json({ layers: [{ id: 3 }, { id: 0 }, { id: 3 }, { id: "4" }, null] }));
	assert.equal((await harvest(registration("esriFeatureServer", service))).entries, [3, 0]);
	peer.on(service, json({ layers: [{ id: 1, parentLayerId: -1, subLayers: [{ id: 7, name: "x" }] }] }));
	assert.equal((await harvest(registration("esriMapServer", service))).entries, [7]);
});

test("what is no whole service, or has too many layers, is a wrong registration", async () => {
	const many = Array.from({ length: 1001 }, (_, id) => ({ id }));
	for (const [route, words] of [
		[json(layerDocument()), "is no whole service: the address must end with MapServer or FeatureServer"],
		[json({ services: [] }), "is no whole service: the address must end with MapServer or FeatureServer"],
		[json({ layers: [] }), "has no layers"],
		[json({ layers: many }), "has more than 1000 layers: name those that are wanted"],
		[text("<html>"), "does not answer as an ArcGIS service does"],
		[
			json({ error: { code: 499, message: "Token Required" } }),
			"answers with ArcGIS error 499: Token Required",
		],
	] as [Route, string][]) {
		peer.on(service, route);
		const { description, findings } = await harvest(registration("esriMapServer", service));
		assert.is(description, null);
		assert.equal(findings, [
			["wrong", "/en/service_url", words],
			["wrong", "/fr/service_url", words],
		]);
	}
});

const capabilities = (...names: string[]) =>
	text(
		`<WMS_Capabilities><Capability><Layer><Name>all</Name><Title>All</Title><Layer><Title>No name</Title>${names
			.map((name) => `<Layer><Identifier>x</Identifier><Name>${name}</Name></Layer>`)
			.join("")}</Layer></Layer></Capability></WMS_Capabilities>`,
		"text/xml",
	);

test("a WMS: every layer that has a name, in the order of the document, a group before what is in it", async () => {
	peer.on("/wms", capabilities("roads", "__proto__", "routes", "roads"));
	const { entries, findings } = await harvest(registration("ogcWms", "/wms"));
	assert.equal(entries, ["all", "roads", "__proto__", "routes"]);
	assert.equal(findings, []);
	assert.equal(peer.asked, ["/wms?SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.3.0"]);
});

test("a WMTS: every layer by its identifier, by parameters or by the address of the document itself", async () => {
	const document = `<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" version="1.0.0">
<ows:ServiceIdentification><ows:Title>Tiles</ows:Title></ows:ServiceIdentification>
<Contents><Layer><ows:Title>Toporama</ows:Title><ows:Identifier>toporama</ows:Identifier>
<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style></Layer>
<Layer><ows:Identifier>canvec</ows:Identifier></Layer>
<TileMatrixSet><ows:Identifier>GoogleMapsCompatible</ows:Identifier></TileMatrixSet></Contents></Capabilities>`;
	peer.on("/wmts", text(document, "text/xml"));
	peer.on("/1.0.0/WMTSCapabilities.xml", text(document, "text/xml"));
	for (const path of ["/wmts", "/1.0.0/WMTSCapabilities.xml"]) {
		assert.equal((await harvest(registration("ogcWmts", path))).entries, ["toporama", "canvec"]);
	}
	assert.equal(peer.asked, [
		"/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&VERSION=1.0.0",
		"/1.0.0/WMTSCapabilities.xml",
	]);
	const { findings } = await harvest(registration("ogcWms", "/wmts"));
	assert.equal(findings[0], ["wrong", "/en/service_url", "does not answer as a WMS does"]);
});

test("a service that answers in another order changes nothing; what is new stands behind, what is gone goes", async () => {
	peer.on("/wms", capabilities("a", "b", "c"));
	const layer = registration("ogcWms", "/wms");
	const first = await harvest(layer);
	peer.on("/wms", capabilities("c", "a", "b"));
	assert.is((await harvest(layer, first.text)).text, first.text);
	peer.on("/wms", capabilities("new", "c", "a"));
	assert.equal((await harvest(layer, first.text)).entries, ["all", "a", "c", "new"]);
});

test("a service that is down keeps its layers, and one of another kind or address takes nothing over", async () => {
	peer.on("/wms", capabilities("a"));
	peer.on("/other", capabilities("z"));
	const layer = registration("ogcWms", "/wms");
	const first = await harvest(layer);
	peer.on("/wms", (_request, response) => response.writeHead(503).end());
	const down = await harvest(layer, first.text);
	assert.is(down.text, first.text);
	assert.equal(down.findings[0], ["down", "/en/service_url", "answers with status 503"]);
	assert.equal((await harvest(registration("ogcWms", "/other"), first.text)).entries, ["all", "z"]);
	const stored = parseDescription(String(first.text));
	assert.is(currentDescription(registration("esriFeature", "/wms", {}), stored, "en"), null);
	assert.is(currentDescription(registration("ogcWms", "/wms", { scrape_only: ["a"] }), stored, "en"), null);
});

test("what was imported is replaced by the first harvest that succeeds, and never removed by one that fails", async () => {
	serveLayer(peer);
	const layer = registration("esriFeature", mapLayer, {});
	const { description, text: harvested } = await harvest(layer);
	assert.ok(isDescribed(layer, description));
	const imported = JSON.parse(String(harvested));
	for (const lang of ["en", "fr"]) Object.assign(imported[lang], { from: "import", name: "Imported" });
	const stored = descriptionText(imported);
	assert.not(isDescribed(layer, parseDescription(stored)), "it is still to be harvested");
	for (const answers of [
		{ layer: text("busy", "text/plain", 503) },
		{ legend: text("busy", "text/plain", 503) },
	]) {
		serveLayer(peer, answers);
		assert.is((await harvest(layer, stored)).text, stored);
	}
	serveLayer(peer);
	assert.is((await harvest(layer, stored)).text, harvested);
	const both = registration("ogcWms", "/wms");
	const entries: Description["en"] = {
		service_url: `${peer.origin}/wms`,
		from: "import",
		entries: ["old", "a"],
	};
	peer.on("/wms", capabilities("a"));
	const whole = await harvest(both, descriptionText({ en: entries, fr: entries }));
	assert.equal(whole.entries, ["a", "all"]);
	assert.not.match(String(whole.text), "import");
});

test("nothing is asked of an ArcGIS service whose layers are named, or that is a picture", async () => {
	for (const layer of [
		registration("ogcWmts", "/wmts", {}),
		registration("esriTile", service, {}),
		registration("esriImage", service, {}),
		registration("esriMapServer", service, { scrape_only: [3] }),
	]) {
		const { description, findings } = await harvest(layer);
		assert.is(description, null);
		assert.equal(findings, []);
		assert.ok(isDescribed(layer, null));
	}
	assert.equal(peer.asked, []);
});

test.run();
