import * as assert from "uvu/assert";
import type { LangPart2 } from "../../../registry/registration.ts";
import { terria } from "../../../registry/targets/terria.ts";
import { test } from "../../helpers/suite.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { featureServer, mapServer, metadata, renderAt, version2, wmsWith } from "./samples.ts";

const service = "https://host.example/arcgis/rest/services/a";

function memberOf(registration: Parameters<typeof renderAt>[1]) {
	const fragment = renderAt(terria, registration);
	if (fragment === null) return null;
	assert.equal(Object.keys(fragment), ["catalog"]);
	assert.is(fragment.catalog.length, 1);
	const { id, name: _, ...member } = fragment.catalog[0];
	assert.is(id, "rcs.k.en");
	return member;
}

test("metadata is info of a member", () => {
	const info = [metadata.metadata_url, metadata.catalogue_url].map((content) => ({
		name: "Metadata",
		content,
	}));
	assert.equal(memberOf(wmsWith({ metadata })).info, info);
});

test("a feature layer of a FeatureServer has its whole address, and one of a MapServer its number in the service", () => {
	const url = featureServer;
	for (const address of [url, `${url}?token=a`])
		assert.equal(memberOf(featureAt(address)), { type: "esri-featureServer", url });
	const service = mapServer.replace("/3", "");
	for (const address of [mapServer, `${mapServer}/`, `${mapServer}?token=a`])
		assert.equal(memberOf(featureAt(address)), { type: "esri-mapServer", url: service, layers: "3" });
});

// biome-ignore format: a table
const nodes: [string, object, object | null][] = [
	["ogcWms", { service_url: `${service}/wms`, scrape_only: ["b", "a"] }, { type: "wms", url: `${service}/wms`, layers: "b,a" }],
	["ogcWms", { service_url: `${service}/wms`, recursive: true }, null],
	["ogcWmts", { service_url: `${service}/wmts`, scrape_only: ["t"] }, { type: "wmts", url: `${service}/wmts`, layer: "t" }],
	["ogcWmts", { service_url: `${service}/wmts`, scrape_only: ["t", "u"] }, null],
	["esriMapServer", { service_url: `${service}/MapServer`, scrape_only: [0, 12] }, { type: "esri-mapServer", url: `${service}/MapServer`, layers: "0,12" }],
	["esriMapServer", { service_url: `${service}/MapServer`, recursive: true }, null],
	["esriFeatureServer", { service_url: `${service}/FeatureServer`, scrape_only: [3] }, { type: "esri-featureServer", url: `${service}/FeatureServer/3` }],
	["esriFeatureServer", { service_url: `${service}/FeatureServer?token=a`, scrape_only: [3] }, { type: "esri-featureServer", url: `${service}/FeatureServer/3` }],
	["esriFeatureServer", { service_url: `${service}/FeatureServer`, scrape_only: [3, 4] }, null],
	["esriImage", { service_url: `${service}/ImageServer` }, { type: "esri-imageServer", url: `${service}/ImageServer` }],
	["esriTile", { service_url: `${service}/MapServer` }, { type: "esri-mapServer", url: `${service}/MapServer` }],
];

test("each kind of service of version 2.0 has its member, or none", () => {
	for (const [service_type, members, expected] of nodes)
		assert.equal(memberOf(version2({ service_type, ...members } as LangPart2)), expected, service_type);
});

test.run();
