import * as assert from "uvu/assert";
import { differences } from "../../../../extensions/import/compare/differences.ts";
import { test } from "../../../helpers/suite.ts";

const service = "https://maps.example.ca/arcgis/rest/services/x/MapServer";
const column = (more: object) => ({ datagrid: { gridColumns: [{ id: "a", fieldName: "a", ...more }] } });
const symbols = (more: object) => ({ symbology: { type: "simple", ...more } });
const classes = (...valueMaps: object[]) => ({ symbology: { type: "uniqueValue", valueMaps } });
const extent = { xmin: 1, ymin: 2, xmax: 3, ymax: 4 };
const dynamic = { layerType: "esriDynamic", url: service, layerEntries: [{ index: 3 }] };

const cosmetic: [kind: string, before: object, now: object][] = [
	["geometryType: no viewer reads it", { geometryType: "point" }, {}],
	[
		"metadata of a wms layer, which RAMP 4.0 refuses: left out",
		{ metadataUrl: "https://m/", catalogueUrl: "https://c/" },
		{},
	],
	[
		"an extent in the map's spatial reference",
		{ layerExtent: { ...extent, spatialReference: { wkid: 4326 } } },
		{ layerExtent: { ...extent, xmin: 700 } },
	],
	["an impossible scale", { minScale: -1 }, { minScale: 0 }],
	["a name that was missing", { name: null }, { name: "Roads" }],
	["a text that a viewer would run as HTML: made harmless", { displayName: "a<b" }, { displayName: "a‹b" }],
	["columns of numbers that sort as numbers", column({ sortType: "string" }), column({ sortType: "num" })],
	["symbology: an empty second or third field", symbols({ field2: "", field3: null }), symbols({})],
	[
		"symbology: values of a number field as numbers at v0.9, as texts at v1",
		classes({ value: 5 }),
		classes({ value: "5" }),
	],
	[
		"a layer of a MapServer in the form of V2_MAP_SERVER",
		dynamic,
		{ layerType: "esriFeature", url: `${service}/3`, nameField: "N" },
	],
];

const relevant: [kind: string, before: object, now: object][] = [
	["url", { url: "https://maps.example.ca/wms?map=a" }, { url: "https://maps.example.ca/wms" }],
	["layerExtent", { layerExtent: extent }, { layerExtent: { ...extent, xmin: 3 } }],
	[
		"layerEntries",
		{ layerEntries: [{ id: "a" }, { id: "b" }] },
		{ layerEntries: [{ id: "b" }, { id: "a" }] },
	],
	["aliasMap", { aliasMap: { a: "x" } }, { aliasMap: { a: "y" } }],
	["datagrid: other columns, or in another order", column({}), column({ fieldName: "b" })],
	["symbology: another number of classes", classes({ value: 1 }), classes({ value: 1 }, { value: 2 })],
	["symbology: value", classes({ value: 5 }), classes({ value: "6" })],
];

test("what no viewer sees is cosmetic, and what one sees is relevant; each kind is named once", () => {
	for (const [isRelevant, rows] of [
		[false, cosmetic],
		[true, relevant],
	] as const)
		for (const [kind, before, now] of rows)
			assert.equal([...differences({ ...before }, { ...now })], [[kind, isRelevant]], kind);
	const kinds = ["layerType", "url", "layerEntries: only before"];
	const other = { layerType: "esriFeature", url: `${service}/4` };
	assert.equal(
		[...differences(dynamic, other)],
		kinds.map((kind) => [kind, true]),
	);
	const twice = classes({ value: 1, label: "a" }, { value: 2, label: "b" });
	const renamed = classes({ value: 1, label: "c" }, { value: 2, label: "d" });
	assert.equal([...differences(twice, renamed)], [["symbology: label", true]]);
});

test.run();
