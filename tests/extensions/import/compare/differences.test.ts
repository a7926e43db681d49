import * as assert from "uvu/assert";
import { differences } from "../../../../extensions/import/compare/differences.ts";
import { test } from "../../../helpers/suite.ts";

const service = "https://maps.example.ca/arcgis/rest/services/x/MapServer";
const column = (more: object) => ({ datagrid: { gridColumns: [{ id: "a", fieldName: "a", ...more }] } });
const symbols = (more: object) => ({ symbology: { type: "simple", ...more } });
const classes = (...valueMaps: object[]) => ({ symbology: { type: "uniqueValue", valueMaps } });
const extent = { xmin: 1, ymin: 2, xmax: 3, ymax: 4 };
const dynamic = { layerType: "esriDynamic", url: service, layerEntries: [{ index: 3 }] };

// biome-ignore format: a table
const cosmetic: [kind: string, before: object, now: object][] = [
	["geometryType", { geometryType: "point" }, {}],
	["metadataUrl", { layerName: "a", metadataUrl: "https://m/" }, { layerName: "a" }],
	["nameField", {}, { nameField: "NAME" }],
	["layerExtent", { layerExtent: { ...extent, spatialReference: { wkid: 4326 } } }, { layerExtent: { ...extent, xmin: 700 } }],
	["minScale", { minScale: -1 }, { minScale: 0 }],
	["name", { name: null }, { name: "Roads" }],
	["displayName", { displayName: "a<b" }, { displayName: "a‹b" }],
	["aliasMap", { aliasMap: { a: "<b>" } }, { aliasMap: { a: "‹b>" } }],
	["url", { url: "https://h/wms?" }, { url: "https://h/wms" }],
	["datagrid: sortType", column({ sortType: "string" }), column({ sortType: "num" })],
	["symbology: field2", symbols({ field2: "" }), symbols({})],
	["symbology: value", classes({ value: 5 }), classes({ value: "5" })],
	["layerType, by the setting V2_MAP_SERVER", dynamic, { layerType: "esriFeature", url: `${service}/3`, nameField: "N" }],
];

// biome-ignore format: a table
const relevant: [kind: string, before: object, now: object][] = [
	["metadataUrl", { layerType: "ogcWms", metadataUrl: "https://m/" }, { layerType: "ogcWms" }],
	["url", { url: "https://maps.example.ca/wms?map=a" }, { url: "https://maps.example.ca/wms" }],
	["layerExtent", { layerExtent: extent }, { layerExtent: { ...extent, xmin: 3 } }],
	["layerEntries", { layerEntries: [{ id: "a" }, { id: "b" }] }, { layerEntries: [{ id: "b" }, { id: "a" }] }],
	["aliasMap", { aliasMap: { a: "x" } }, { aliasMap: { a: "y" } }],
	["datagrid: columns", column({}), column({ fieldName: "b" })],
	["symbology: classes", classes({ value: 1 }), classes({ value: 1 }, { value: 2 })],
	["symbology: value", classes({ value: 5 }), classes({ value: "6" })],
	["symbology: value", classes({ value: "6" }, { value: 5 }), classes({ value: "7" }, { value: "5" })],
];

function kindsOf(before: object, now: object) {
	return differences({ ...before }, { ...now }).map(({ kind, isRelevant }) => [kind, isRelevant]);
}

test("what no viewer sees is cosmetic, the rest is relevant; each kind is named once", () => {
	for (const [isRelevant, rows] of [
		[false, cosmetic],
		[true, relevant],
	] as const)
		for (const [kind, before, now] of rows) assert.equal(kindsOf(before, now), [[kind, isRelevant]], kind);
	const other = { layerType: "esriFeature", url: `${service}/4` };
	assert.equal(
		kindsOf(dynamic, other),
		["layerType", "url", "layerEntries"].map((kind) => [kind, true]),
	);
});

test.run();
