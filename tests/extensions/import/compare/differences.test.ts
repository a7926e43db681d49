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
	["a picture of a wms layer for the list of layers", {}, { imageUrl: "data:x" }],
	[
		"metadata of a wms layer, which RAMP 4.0 refuses: left out",
		{ metadataUrl: "https://m/", catalogueUrl: "https://c/" },
		{},
	],
	[
		"a slash or a ? at the end of the address: left out",
		{ url: "https://maps.example.ca/wms?" },
		{ url: "https://maps.example.ca/wms" },
	],
	["an extent in the map's spatial reference", {}, { layerExtent: extent }],
	[
		"an extent in the map's spatial reference",
		{ layerExtent: { ...extent, spatialReference: { wkid: 4326 } } },
		{ layerExtent: { ...extent, xmin: 700 } },
	],
	["an impossible scale", { minScale: -1 }, { minScale: 0 }],
	["a name where there was none", { name: null }, { name: "Roads" }],
	[
		"titles of a service's layers: viewers have them from the service",
		{ layerEntries: [{ id: "a", name: "Roads" }] },
		{ layerEntries: [{ id: "a" }] },
	],
	["an offset that a release of the older service lost", {}, { maxAllowableOffset: 5 }],
	["a text that a viewer would run as HTML: made harmless", { displayName: "a<b" }, { displayName: "a‹b" }],
	[
		"a text that a viewer would run as HTML: made harmless",
		column({ title: "a<b" }),
		column({ title: "a‹b" }),
	],
	["French titles of the fixed columns", column({ title: "Icon" }), column({ title: "Icône" })],
	["columns of numbers that sort as numbers", column({ sortType: "string" }), column({ sortType: "num" })],
	["symbols where there were none", {}, symbols({ imageUrl: "data:x" })],
	["symbology: an empty second or third field", symbols({ field2: "", field3: null }), symbols({})],
	["symbology: an empty label", symbols({ label: null }), symbols({ label: "" })],
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
	["layerExtent: only before", { layerExtent: extent }, {}],
	["name: only before", { name: "Roads" }, {}],
	[
		"layerEntries",
		{ layerEntries: [{ id: "a" }, { id: "b" }] },
		{ layerEntries: [{ id: "b" }, { id: "a" }] },
	],
	["aliasMap", { aliasMap: { a: "x" } }, { aliasMap: { a: "y" } }],
	["displayName", { displayName: "a<b" }, { displayName: "a(b" }],
	["datagrid: title of a column", column({ title: "Icon" }), column({ title: "Ikone" })],
	["datagrid: other columns, or in another order", column({}), column({ fieldName: "b" })],
	["symbology: field2", symbols({ field2: "F" }), symbols({})],
	["symbology: another number of classes", classes({ value: 1 }), classes({ value: 1 }, { value: 2 })],
	["symbology: value", classes({ value: 5 }), classes({ value: "6" })],
	["symbology: label", classes({ label: "a" }), classes({ label: "" })],
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
