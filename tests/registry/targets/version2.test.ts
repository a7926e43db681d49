import * as assert from "uvu/assert";
import type { Description } from "../../../registry/description.ts";
import type { LangPart2 } from "../../../registry/registration.ts";
import type { Target } from "../../../registry/targets/facts.ts";
import { v1, v09 } from "../../../registry/targets/ramp.ts";
import { ramp4 } from "../../../registry/targets/ramp4.ts";
import { v2 } from "../../../registry/targets/v2.ts";
import { test } from "../../helpers/suite.ts";
import { readAsFgpv } from "../../viewer/fgpv.ts";
import { readAsGeoview } from "../../viewer/geoview.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { describedAt, featureServer, mapServer, renderAt, renderText, version2, wmsWith } from "./samples.ts";

const wms = "https://host.example/wms";
const service = "https://host.example/arcgis/rest/services/X/MapServer";

function withEntries(service_url: string, entries: (string | number)[]): Description {
	return { en: { service_url, entries }, fr: { service_url, entries } };
}

const nodeAt = (target: Target, node: LangPart2, description?: Description) =>
	renderAt(target, version2(node), description ? { description } : {});

test("an esriFeature is served by every target", () => {
	const node: LangPart2 = { service_type: "esriFeature", service_url: featureServer, service_name: "Wells" };
	for (const target of [v09, v1]) assert.is(nodeAt(target, node).layers.feature[0].displayName, "Wells");
	const { name, tolerance } = nodeAt(v2, { ...node, service_url: mapServer, tolerance: 5 }).layers[0];
	assert.equal([name, tolerance], ["Wells", 5]);
});

test("layers of a WMS are in the publisher's order", () => {
	const node: LangPart2 = {
		service_type: "ogcWms",
		service_url: `${wms}?`,
		scrape_only: ["b", "a", "c"],
		feature_info_format: "text/html;fgpv=summary",
	};
	const fragment = nodeAt(v2, node);
	assert.equal(fragment.layers[0], {
		id: "rcs.k.en",
		layerType: "ogcWms",
		url: wms,
		name: "k",
		layerEntries: [{ id: "b" }, { id: "a" }, { id: "c" }],
		featureInfoMimeType: "text/html;fgpv=summary",
	});
	assert.equal(readAsGeoview([fragment])[0]?.layers, ["b", "a", "c"]);
	assert.equal(nodeAt(ramp4, node).sublayers, [{ id: "b" }, { id: "a" }, { id: "c" }]);
	assert.is(nodeAt(ramp4, node).featureInfoMimeType, "text/html");
	assert.is(nodeAt(v09, node), null, "a viewer of v0.9 has one layer for a fragment");
	assert.is(nodeAt(v1, node), null);
});

test("one layer of a WMS is what a wms registration of version 1.x is", () => {
	const node: LangPart2 = {
		service_type: "ogcWms",
		service_url: wms,
		scrape_only: ["roads"],
		feature_info_format: "text/html",
		legend_format: "image/gif",
	};
	const older = wmsWith({ feature_info_type: "text/html", legend_format: "image/gif" });
	for (const target of [v09, v1, v2, ramp4])
		assert.equal(nodeAt(target, node), renderAt(target, older), target.name);
	const titled = { en: { service_url: wms, layers: ["roads"], title: "Roads" } } as Description;
	assert.is(nodeAt(v2, node, titled).layers[0].name, "roads");
	const summary: LangPart2 = { ...node, feature_info_format: "text/html;fgpv=summary" };
	assert.equal(nodeAt(v09, summary), nodeAt(v09, node), "to a viewer of v0.9 it is HTML");
});

test("recursive is every layer that was harvested, in the service's order; until then none", () => {
	const node: LangPart2 = { service_type: "ogcWms", service_url: wms, recursive: true };
	for (const target of [v09, v1, v2, ramp4])
		assert.is(nodeAt(target, node), null, "no viewer makes a layer of no entries");
	const found = withEntries(wms, ["z", "a"]);
	assert.equal(nodeAt(v2, node, found).layers[0].layerEntries, [{ id: "z" }, { id: "a" }]);
	assert.is(nodeAt(v2, node, found).layers[0].name, "k");
	assert.is(nodeAt(v2, node, withEntries(`${wms}/other`, ["z"])), null);
	assert.equal(nodeAt(v09, node, withEntries(wms, ["z"])).layers.wms[0].layerName, "z");
	const chosen: LangPart2 = { ...node, scrape_only: ["m"] };
	assert.equal(nodeAt(v2, chosen, found).layers[0].layerEntries, [{ id: "m" }]);
	assert.is(nodeAt(v2, { ...node, recursive: false }, found), null);
});

test("a WMTS is served at v2 only, and not in a list, which ends FGPV's", () => {
	const node: LangPart2 = { service_type: "ogcWmts", service_url: `${wms}?SERVICE=WMTS`, scrape_only: ["t"] };
	const [{ layerType, url, name, layerEntries }] = nodeAt(v2, node).layers;
	assert.equal([layerType, url, name, layerEntries], ["ogcWmts", wms, "t", [{ id: "t" }]]);
	const isUnlisted = (part: LangPart2) =>
		v2.isUnlisted?.(new TextEncoder().encode(JSON.stringify(nodeAt(v2, part))));
	assert.is(isUnlisted({ ...node, service_name: '","layerType":"ogcWms"' }), true);
	assert.is(isUnlisted({ ...node, service_type: "ogcWms", service_name: ',"layerType":"ogcWmts"' }), false);
	for (const target of [v09, v1, ramp4]) assert.is(nodeAt(target, node), null, target.name);
});

test("a whole MapServer and a whole FeatureServer", () => {
	const node: LangPart2 = { service_type: "esriMapServer", service_url: `${service}/`, scrape_only: [5, 0] };
	const fragment = nodeAt(v2, node);
	const layerEntries = [{ index: 5 }, { index: 0 }];
	const expected = { id: "rcs.k.en", layerType: "esriDynamic", url: service, name: "X", layerEntries };
	assert.equal(fragment.layers[0], expected);
	assert.equal(readAsGeoview([fragment])[0]?.layers, ["5", "0"]);
	assert.is(readAsFgpv([fragment]).length, 1);
	const item = nodeAt(ramp4, node);
	assert.equal([item.layerType, item.sublayers], ["esri-map-image", [{ index: 5 }, { index: 0 }]]);
	const all: LangPart2 = { service_type: "esriMapServer", service_url: service, recursive: true };
	assert.is(nodeAt(ramp4, all), null);
	for (const [path, name] of Object.entries({ "%C3%89t%C3%A9": "Été", "%E9t": "%E9t" }))
		assert.is(nodeAt(v2, { ...node, service_url: service.replace("X", path) }).layers[0].name, name);
	const [harvested] = nodeAt(v2, all, withEntries(service, [2, 1])).layers;
	assert.equal(harvested.layerEntries, [{ index: 2 }, { index: 1 }]);
	const features = "https://host.example/arcgis/rest/services/X/FeatureServer";
	const some: LangPart2 = { service_type: "esriFeatureServer", service_url: features, scrape_only: [3] };
	const server = { id: "rcs.k.en", layerType: "esriFeature", url: `${features}/3`, name: "X" };
	assert.equal(nodeAt(v2, some).layers, [server]);
	assert.equal([nodeAt(ramp4, some).layerType, nodeAt(ramp4, some).url], ["esri-feature", `${features}/3`]);
	const withToken: LangPart2 = { ...some, service_url: `${features}?token=1` };
	assert.is(JSON.parse(renderText(v2, version2(withToken)) ?? "").layers[0].url, `${features}/3?token=1`);
	for (const target of [v2, ramp4]) assert.is(nodeAt(target, { ...some, scrape_only: [3, 4] }), null);
	for (const target of [v09, v1])
		for (const part of [node, some]) assert.is(nodeAt(target, part), null, target.name);
});

test("services of tiles and of images", () => {
	for (const [service_type, item] of [
		["esriTile", "esri-tile"],
		["esriImage", "esri-imagery"],
	] as const) {
		const node: LangPart2 = { service_type, service_url: service, service_name: "Imagery" };
		const [{ layerType, url, name }] = nodeAt(v2, node).layers;
		assert.equal([layerType, url, name], [service_type, service, "Imagery"]);
		assert.equal(nodeAt(ramp4, node), { id: "rcs.k.en", layerType: item, url: service, name: "Imagery" });
		assert.is(nodeAt(v09, node), null);
	}
});

test("a registration may have another address and layer for v2, in either language", () => {
	const registration = {
		...wmsWith({ service_name: "Cube" }),
		targets: { v2: { en: { service_url: "https://host.example/ows?", layer: "cube" } } },
	};
	const english = renderAt(v2, registration).layers[0];
	assert.equal([english.url, english.layerEntries], ["https://host.example/ows", [{ id: "cube" }]]);
	assert.is(english.name, "Cube");
	const french = renderAt(v2, registration, { lang: "fr" }).layers[0];
	assert.equal([french.url, french.layerEntries], [wms, [{ id: "roads" }]]);
	for (const target of [v09, ramp4])
		assert.equal(renderAt(target, registration), renderAt(target, wmsWith({ service_name: "Cube" })));
	const feature = { ...featureAt(mapServer), targets: { v2: { en: { service_url: featureServer } } } };
	const given = { description: describedAt(mapServer) };
	const [node] = renderAt(v2, feature, given).layers;
	assert.equal([node.layerType, node.url, node.name], ["esriFeature", featureServer, "Stations"]);
	assert.is(renderAt(v09, feature, given).layers.feature[0].url, mapServer);
});

test.run();
