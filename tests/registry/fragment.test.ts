import * as assert from "uvu/assert";
import { projectExtent } from "../../extensions/harvest/arcgis/area.ts";
import { type Description, parseDescription } from "../../registry/description.ts";
import { mapWkids } from "../../registry/extents.ts";
import type { Registration } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt, targetNames } from "../../registry/targets/table.ts";
import { test } from "../helpers/suite.ts";
import { assertAcceptedAt } from "../viewer/accepted.ts";
import { featureAt, nodeOf } from "../viewer/viewer.ts";
import { describedAt, wmsWith } from "./targets/samples.ts";

const settings = { metadataUrl: "", catalogueUrl: "" };

function renderFragment(...layer: Parameters<typeof layerFacts>): string {
	const facts = layerFacts(...layer);
	for (const name of targetNames) assertAcceptedAt(name, renderAt(name, facts) as string);
	return renderAt("v0.9", facts) as string;
}

function nodeIn(layer: Registration, given: Description | null = null, more = {}, lang: Lang = "en") {
	return nodeOf(renderFragment(lang, "k", layer, given, { ...settings, ...more }));
}

const dot = "data:image/png;base64,iVBORw0KGgo=";
const address = "https://host.example/arcgis/rest/services/X/MapServer/1";

const fields = [
	{ name: "OBJECTID", alias: "Number", type: "esriFieldTypeOID" },
	{ name: "SHAPE", alias: "Shape", type: "esriFieldTypeGeometry" },
	{ name: "NAME", alias: "Name", type: "esriFieldTypeString" },
	{ name: "DEPTH", alias: "Depth", type: "esriFieldTypeDouble" },
];
const described = { en: { ...describedAt(address).en, fields } } as Description & { en: object };

function describedNode(more: object) {
	return nodeIn(featureAt(address), { en: { ...described.en, ...more } } as Description);
}

test("the viewer has a parser for three feature-info types", () => {
	const parserOf = (feature_info_type: string) => nodeIn(wmsWith({ feature_info_type })).featureInfo;
	for (const [mimeType, parser] of [
		["text/html", "htmlRawParse"],
		["text/plain", "stringParse"],
		["application/json", "jsonRawParse"],
	] as const)
		assert.equal(parserOf(mimeType), { mimeType, parser });
	for (const type of ["application/vnd.ogc.gml", "constructor"]) assert.is(parserOf(type), undefined);
});

const fixed = { fieldName: "", isSortable: false, sortType: "string", alignment: 0 };

test("a feature layer that was not harvested has the generic form", () => {
	const node = nodeIn(featureAt(address));
	assert.equal([node.id, node.displayName, node.nameField], ["rcs.k.en", "k", ""]);
	assert.equal(node.layerExtent, { xmin: -2681457, ymin: -883440, xmax: 3549492, ymax: 3482193 });
	assert.equal(node.aliasMap, {});
	assert.is(node.symbology.type, "simple");
	assert.equal([node.minScale, node.maxScale], [0, 0]);
	assert.not("mode" in node || "isStatic" in node);
	assert.equal(node.datagrid.gridColumns, [
		{ id: "iconCol", width: "50px", title: "Icon", columnTemplate: "graphic_icon", ...fixed },
		{ id: "detailsCol", width: "60px", title: "Details", columnTemplate: "details_button", ...fixed },
	]);
});

test("a harvested feature layer has its service's name, fields, symbols, scales and extent", () => {
	const node = describedNode({});
	assert.equal([node.displayName, node.nameField, node.mode], ["Stations", "NAME", "snapshot"]);
	assert.equal([node.minScale, node.maxScale], [5000000, 1000]);
	assert.equal(node.layerExtent, { xmin: 1, ymin: 2, xmax: 3, ymax: 4 });
	assert.equal(node.aliasMap, { OBJECTID: "Number", SHAPE: "Shape", NAME: "Name", DEPTH: "Depth" });
	assert.equal(node.symbology, { type: "simple", imageUrl: dot, label: "Station" });
	const columns = node.datagrid.gridColumns;
	const ids = columns.map((column: { id: string }) => column.id);
	assert.equal(ids, ["iconCol", "detailsCol", "OBJECTID", "NAME", "DEPTH"]);
	assert.equal(columns[3], {
		id: "NAME",
		fieldName: "NAME",
		width: "400px",
		title: "NAME",
		isSortable: true,
		sortType: "string",
		alignment: 1,
		columnTemplate: "unformatted_grid_value",
	});
	assert.is(columns[4].sortType, "num");
});

test("the titles of the two fixed columns are in the fragment's language", () => {
	const both = { fr: described.en } as Description;
	const columns = nodeIn(featureAt(address), both, {}, "fr").datagrid.gridColumns;
	const titles = columns.map((column: { title: string }) => column.title);
	assert.equal(titles.slice(0, 3), ["Icône", "Détails", "OBJECTID"]);
});

test("a stored name that the viewer would take for HTML is shown escaped, and sent to the service as it is", () => {
	const image = "<img src=x onerror=alert(1)>";
	const shown = "‹img src=x onerror=alert(1)>";
	assert.is(nodeIn(wmsWith({ service_name: image })).displayName, shown);
	const { displayName, layerName } = nodeIn(wmsWith({ layer: image }));
	assert.equal([displayName, layerName], [shown, image]);
	const odd = nodeIn(wmsWith({ service_name: "a</b> <!-- c <1 < d <" }));
	assert.is(odd.displayName, "a‹/b> ‹!-- c <1 < d <");
	assert.is(nodeIn(featureAt(address, { display_field: image })).nameField, shown);
});

test("what a registration says of a feature layer takes precedence over what its service says", () => {
	const metadata = { metadata_url: "https://host.example/m" };
	const more = { service_name: "Ozone", display_field: "DEPTH", loading_mode: "ondemand", metadata };
	const node = nodeIn(featureAt(address, { ...more, max_allowable_offset: 0 }), described);
	assert.equal([node.displayName, node.nameField, node.mode], ["Ozone", "DEPTH", "ondemand"]);
	assert.equal([node.maxAllowableOffset, node.metadataUrl], [0, "https://host.example/m"]);
	assert.not("catalogueUrl" in node);
});

test("a metadata uuid becomes two addresses where the operator has set their templates", () => {
	const registration = featureAt(address, { metadata: { uuid: "a/b" } });
	const templates = { metadataUrl: "https://m.example/{0}.xml", catalogueUrl: "https://c.example/?id={0}" };
	const node = nodeIn(registration, null, templates);
	assert.is(node.metadataUrl, "https://m.example/a%2Fb.xml");
	assert.is(node.catalogueUrl, "https://c.example/?id=a%2Fb");
	assert.not("metadataUrl" in nodeIn(registration));
});

test("only small layers of points are loaded whole", () => {
	for (const geometry_type of ["esriGeometryPoint", "esriGeometryMultipoint", "esriGeometryEnvelope"]) {
		assert.is(describedNode({ geometry_type }).mode, "snapshot", geometry_type);
		assert.is(describedNode({ geometry_type, count: 2001 }).mode, undefined, geometry_type);
		assert.is(describedNode({ geometry_type, count: null }).mode, undefined, geometry_type);
	}
	assert.is(describedNode({ geometry_type: "esriGeometryPolygon" }).mode, undefined);
});

test("the field that names a feature: the service's, else the first text field, else the first field", () => {
	assert.is(describedNode({ display_field: "DEPTH" }).nameField, "DEPTH");
	assert.is(describedNode({ fields: fields.slice(0, 2) }).nameField, "OBJECTID");
	const alike = [{ ...fields[2], name: "Name" }, ...fields];
	assert.is(describedNode({ fields: alike }).nameField, "Name");
	assert.is(describedNode({ display_field: "NAME", fields: alike }).nameField, "NAME");
	assert.is(describedNode({ fields: [] }).nameField, "");
});

test("unique values and class breaks as the viewer reads them", () => {
	const other = { label: "other", image: dot };
	const classes = [
		{ value: 1, label: "one", image: dot },
		{ value: "1, b", label: "", image: dot },
	];
	const unique = { type: "unique", fields: ["A", "B", "C"], default: other, classes };
	assert.equal(describedNode({ renderer: unique }).symbology, {
		type: "uniqueValue",
		field1: "A",
		field2: "B",
		field3: "C",
		defaultImageUrl: dot,
		label: "other",
		valueMaps: [
			{ value: 1, imageUrl: dot, label: "one" },
			{ value: "1, b", imageUrl: dot, label: "" },
		],
	});
	const ranges = [{ max: 10.5, label: "to 10.5", image: dot }];
	const breaks = { type: "breaks", field: "A", min: -1, default: null, classes: ranges };
	assert.equal(describedNode({ renderer: breaks }).symbology, {
		type: "classBreaks",
		field: "A",
		minValue: -1,
		rangeMaps: [{ maxValue: 10.5, imageUrl: dot, label: "to 10.5" }],
	});
});

test("a description is used only for the service that it came from, and for its own language", () => {
	const moved = featureAt("https://host.example/arcgis/rest/services/X/MapServer/2");
	assert.is(nodeIn(moved, described).displayName, "k");
	assert.is(nodeIn(featureAt(address), described, {}, "fr").displayName, "k");
});

test("an extent is used in the map's spatial reference only; else it is that of Canada", () => {
	const mapped = (mapWkid: number, given: Description | null = described) =>
		nodeIn(featureAt(address), given, { mapWkid }).layerExtent;
	assert.equal(mapped(3978), { xmin: 1, ymin: 2, xmax: 3, ymax: 4 });
	assert.equal(mapped(3857), { xmin: -15697162, ymin: 5111674, xmax: -5856518, ymax: 17932470 });
	const degrees = { xmin: -141.01, ymin: 41.67, xmax: -52.61, ymax: 83.12, spatialReference: { wkid: 4269 } };
	for (const wkid of mapWkids.filter((other) => other !== 3978 && other !== 3979)) {
		const projected = projectExtent(degrees, wkid);
		// PROJ made the table, and proj4 projects here: 1 km apart at most on a side of thousands.
		for (const side of ["xmin", "ymin", "xmax", "ymax"] as const)
			assert.ok(Math.abs(mapped(wkid, null)[side] - (projected?.[side] ?? 0)) < 1000, `${wkid} ${side}`);
	}
});

test("viewers append to an address, so that a lone ? of a WMS and slashes of a layer are left out", () => {
	const urlOf = (service_url: string) => nodeIn(wmsWith({ service_url })).url;
	for (const [end, left = end] of [["?", ""], ["?SERVICE=WMS&&a=1", "?a=1"], [""], ["?map=a&"], ["?a=?"]])
		assert.is(urlOf(`https://host.example/wms${end}`), `https://host.example/wms${left}`);
	const layerAt = (end: string) => nodeIn(featureAt(address + end)).url;
	assert.is(layerAt("/"), address);
	assert.is(layerAt("//?token=a/"), `${address}?token=a/`);
	for (const [end, left] of [
		["?token=a/#/", "?token=a/"],
		["?f=pjson", ""],
		["?F=json&token=a%20b&callback=x&_=1&f%31=2", "?token=a%20b&f%31=2"],
		["/?#/", ""],
	] as const)
		assert.is(layerAt(end), address + left, end);
});

test("a hostile label, field name or alias stays inside its JSON string, and no part of it is a tag", () => {
	const hostile = '</script><script>alert(1)//"\\\u2028\u0000\ud800';
	const shown = '‹/script>‹script>alert(1)//"\\\u2028\u0000\ud800';
	const fields = [
		{ name: "__proto__", alias: hostile, type: "esriFieldTypeString" },
		{ name: hostile, alias: "constructor", type: "esriFieldTypeString" },
	];
	const classes = [{ value: hostile, label: hostile, image: dot }];
	const other = { label: hostile, image: dot };
	const renderers = [
		{ type: "simple", label: hostile, image: dot },
		{ type: "unique", fields: ["A"], default: other, classes },
		{ type: "breaks", field: "A", min: 0, default: other, classes: [{ max: 1, label: hostile, image: dot }] },
	];
	for (const renderer of renderers) {
		const en = { ...described.en, fields, renderer, name: hostile };
		const given = parseDescription(JSON.stringify({ en }));
		const { symbology, displayName, aliasMap, datagrid } = nodeIn(featureAt(address), given);
		assert.equal([symbology.label, displayName, datagrid.gridColumns[3].title], [shown, shown, shown]);
		assert.equal(new Map(Object.entries(aliasMap)).get("__proto__"), shown);
		if (renderer.classes === classes)
			assert.is(symbology.valueMaps[0].value, hostile, "compared with the features' own values");
		for (const entry of symbology.valueMaps ?? symbology.rangeMaps ?? []) assert.is(entry.label, shown);
	}
});

test.run();
