import { existsSync } from "node:fs";
import * as assert from "uvu/assert";
import type { Registration } from "../../../registry/registration.ts";
import { terria } from "../../../registry/targets/terria.ts";
import { snippetsOf } from "../../../site/data/snippets.ts";
import { test } from "../../helpers/suite.ts";
import { answering, runUnless } from "../../helpers/world.ts";
import { renderAt, wmsWith } from "../../registry/targets/samples.ts";
import { featureAt } from "../viewer.ts";

/** What Terria has made of a reference; `layers` are those that its pictures are requested with. */
interface Read {
	type: string;
	name: string;
	hasIssues: boolean;
	error?: string;
	items: number;
	layers?: string;
}

const bundle = new URL("node_modules/.cache/terria.mjs", import.meta.url);
const missing = existsSync(bundle)
	? null
	: "Terria's classes: node tests/viewer/terria/prepare.mjs fetches them (40 MB)";
const { readReference }: { readReference: (reference: object) => Promise<Read> } =
	missing === null ? await import(bundle.href) : {};

const spatialReference = { wkid: 102100, latestWkid: 3857 };
const extent = { xmin: -1e7, ymin: 5e6, xmax: -9e6, ymax: 6e6, spatialReference };
const layers = [
	{ id: 2, name: "Two", extent },
	{ id: 3, name: "Three", extent },
];
const symbol = { type: "esriSMS", style: "esriSMSCircle", color: [1, 2, 3, 255], size: 4 };
const points = {
	geometryType: "esriGeometryPoint",
	spatialReference: { wkid: 4326 },
	fields: [{ name: "OBJECTID", type: "esriFieldTypeOID" }],
	features: [{ attributes: { OBJECTID: 1 }, geometry: { x: -75, y: 45 } }],
};
/** Out of what https://ows.services.dea.ga.gov.au/wms answered on 2020-07-21 (nested_groups_1.3.0.xml of TerriaJS, Apache-2.0). */
const capabilities = `<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink">
<Service><Name>WMS</Name><Title>Digital Earth Australia</Title><LayerLimit>1</LayerLimit></Service>
<Capability><Layer><Title>Digital Earth Australia</Title><CRS>EPSG:3857</CRS><CRS>EPSG:4326</CRS>
<Layer><Title>Surface Reflectance</Title><Layer queryable="1"><Name>ls8_nbart_geomedian_annual</Name>
<Title>Surface Reflectance 25m Annual Geomedian (Landsat 8)</Title><EX_GeographicBoundingBox>
<westBoundLongitude>109.99</westBoundLongitude><eastBoundLongitude>156.1</eastBoundLongitude>
<southBoundLatitude>-45.24</southBoundLatitude><northBoundLatitude>-9.03</northBoundLatitude>
</EX_GeographicBoundingBox></Layer></Layer></Layer></Capability></WMS_Capabilities>`;
const answers = new Map<string, object | string>([
	["/a/MapServer", { mapName: "M", capabilities: "Map,Query", layers, fullExtent: extent, spatialReference }],
	["/a/MapServer/layers", { layers }],
	["/a/MapServer/legend", { layers: [] }],
	["/a/MapServer/3", { id: 3, name: "Three", extent }],
	["/a/FeatureServer/3", { id: 3, extent, drawingInfo: { renderer: { type: "simple", symbol } } }],
	["/a/FeatureServer/3/query", points],
	["/wms", capabilities],
]);
const fragmentPath = "/terria/en/k";
const asked: string[] = [];
const server = await answering(({ url = "" }, response) => {
	asked.push(url);
	const answer = answers.get(url.split("?", 1)[0] as string);
	response.statusCode = answer === undefined ? 404 : 200;
	if (typeof answer === "string") response.setHeader("Content-Type", "text/xml");
	response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
});
const { origin } = server;
test.after(() => server[Symbol.asyncDispose]());

/** Lets Terria read the reference that *Copy as* gives for a catalogue; with the requests that follow. */
async function readCatalogue(catalogue: object): Promise<Read & { requests: string[] }> {
	answers.set(fragmentPath, catalogue);
	asked.length = 0;
	const layer = { smallkey: "k", type: "wms", title: { en: "Roads", fr: "Routes" }, address: { en: origin } };
	const snippet = snippetsOf(layer, "en", `${origin}/`, ["terria"]).find(({ name }) => name === "Terria");
	const read = await readReference(JSON.parse(snippet?.text ?? ""));
	const [first, ...requests] = asked;
	assert.is(first, fragmentPath);
	return { ...read, requests };
}

/** What Terria draws of a registration. Fails on an error, or a member that it does not know. */
async function draw(registration: Registration) {
	const { hasIssues, error, ...drawn } = await readCatalogue(renderAt(terria, registration));
	assert.is(error, undefined);
	assert.is(hasIssues, false);
	return drawn;
}

test("a layer of a MapServer is a picture of that layer alone", async () => {
	assert.equal(await draw(featureAt(`${origin}/a/MapServer/3`)), {
		type: "esri-mapServer",
		name: "Roads",
		items: 1,
		layers: "3",
		requests: ["/a/MapServer?f=json", "/a/MapServer/legend?f=json", "/a/MapServer/layers?f=json"],
	});
});

test("a layer of a FeatureServer is its features", async () => {
	assert.equal(await draw(featureAt(`${origin}/a/FeatureServer/3?f=json`)), {
		type: "esri-featureServer",
		name: "Roads",
		items: 1,
		layers: undefined,
		requests: [
			"/a/FeatureServer/3?f=json",
			"/a/FeatureServer/3/query?f=json&where=1%3D1&outFields=*&outSR=4326",
		],
	});
});

test("a wms layer is a picture of that layer alone", async () => {
	const layer = "ls8_nbart_geomedian_annual";
	assert.equal(await draw(wmsWith({ service_url: `${origin}/wms`, layer })), {
		type: "wms",
		name: "Roads",
		items: 1,
		layers: layer,
		requests: ["/wms?service=WMS&version=1.3.0&request=GetCapabilities"],
	});
});

runUnless(missing, test);
