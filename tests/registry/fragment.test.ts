import * as assert from "uvu/assert";
import { projectExtent } from "../../harvest/arcgis/answers.ts";
import { type Description, descriptionText, parseDescription } from "../../registry/description.ts";
import { mapWkids } from "../../registry/extent.ts";
import { wmsImage } from "../../registry/pictures.ts";
import type { LangEntry, Registration } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { renderLayer, targetNames } from "../../registry/targets/table.ts";
import { test } from "../helpers/suite.ts";
import { assertAcceptedAt } from "../viewer/accepted.ts";
import { assertAccepted, featureAt, nodeOf } from "../viewer/viewer.ts";
import { describedAt } from "./targets/samples.ts";

const settings = { metadataUrl: "", catalogueUrl: "" };

/** The fragment of v0.9; those of all other targets have to be accepted by their own readers. */
function renderFragment(...layer: LayerArguments): string {
	const texts = renderLayer(targetNames, ...layer);
	for (const [index, name] of targetNames.entries()) assertAcceptedAt(name, texts[index] as string);
	return texts[0] as string;
}

/** The layer in that fragment. */
function nodeIn(layer: Registration, given: Description | null = null, more = {}, lang: Lang = "en") {
	return nodeOf(renderFragment(lang, "k", layer, given, { ...settings, ...more }));
}

type LayerArguments = Parameters<typeof renderLayer> extends [unknown, ...infer Rest] ? Rest : never;
const dot = "data:image/png;base64,iVBORw0KGgo=";
/** From the Yukon to Cape Spear, and from Middle Island to Cape Columbia. */
const degrees = { xmin: -141.01, ymin: 41.67, xmax: -52.61, ymax: 83.12 };
const address = "https://host.example/arcgis/rest/services/X/MapServer/1";

function wmsWith(more: Partial<LangEntry>): Registration {
	const entry = { service_url: "https://host.example/wms?map=a", layer: "roads", ...more };
	return { version: "1.0.0", payload_type: "wms", en: entry, fr: { ...entry, layer: "routes" } };
}

const fields = [
	{ name: "OBJECTID", alias: "Number", type: "esriFieldTypeOID" },
	{ name: "SHAPE", alias: "Shape", type: "esriFieldTypeGeometry" },
	{ name: "NAME", alias: "Name", type: "esriFieldTypeString" },
	{ name: "DEPTH", alias: "Depth", type: "esriFieldTypeDouble" },
];
const described = { en: { ...describedAt(address).en, fields } } as Description & { en: object };

/** The description with other facts in English. */
function describedWith(more: object): Description {
	return { en: { ...described.en, ...more } } as Description;
}

test("a wms layer has the members that the viewer allows, and no others", () => {
	const text = renderFragment("fr", "nrn", wmsWith({}), null, settings);
	assert.is(
		text,
		`{"layers":{"wms":[{"id":"rcs.nrn.fr","displayName":"routes","url":"https://host.example/wms?map=a","imageUrl":"${wmsImage}","layerName":"routes","format":"image/png"}]}}`,
	);
	assertAccepted(text);
});

test("a wms layer's optional fields", () => {
	const metadata = { metadata_url: "https://host.example/m", catalogue_url: "https://host.example/c" };
	const shown = { service_name: "Roads", legend_format: "image/jpeg", feature_info_type: "text/plain" };
	const node = nodeIn(wmsWith({ ...shown, metadata }));
	assert.is(node.displayName, "Roads");
	assert.is(node.legendMimeType, "image/jpeg");
	assert.is(node.imageUrl, wmsImage, "the list of layers shows it, whatever the legend's format is");
	assert.equal(node.featureInfo, { mimeType: "text/plain", parser: "stringParse" });
	assert.not(
		"metadataUrl" in node || "catalogueUrl" in node,
		"the viewer's schema refuses both in a wms node",
	);
});

test("the viewer has a parser for three feature-info types", () => {
	const parserOf = (feature_info_type: string) => nodeIn(wmsWith({ feature_info_type })).featureInfo;
	assert.equal(parserOf("text/html"), { mimeType: "text/html", parser: "htmlRawParse" });
	assert.equal(parserOf("application/json"), { mimeType: "application/json", parser: "jsonRawParse" });
	assert.is(parserOf("application/vnd.ogc.gml"), undefined);
	assert.is(parserOf("constructor"), undefined);
});

test("a feature layer that was not harvested has the generic form", () => {
	const node = nodeIn(featureAt(address));
	assert.is(node.id, "rcs.k.en");
	assert.is(node.displayName, "k");
	assert.is(node.nameField, "");
	assert.equal(node.layerExtent, { xmin: -2681457, ymin: -883440, xmax: 3549492, ymax: 3482193 });
	assert.equal(node.aliasMap, {});
	assert.is(node.symbology.type, "simple");
	assert.equal([node.minScale, node.maxScale], [0, 0]);
	assert.not("mode" in node || "isStatic" in node);
	const fixed = { fieldName: "", isSortable: false, sortType: "string", alignment: 0 };
	assert.equal(node.datagrid.gridColumns, [
		{ id: "iconCol", width: "50px", title: "Icon", columnTemplate: "graphic_icon", ...fixed },
		{ id: "detailsCol", width: "60px", title: "Details", columnTemplate: "details_button", ...fixed },
	]);
});

test("a harvested feature layer has its service's name, fields, symbols, scales and extent", () => {
	const node = nodeIn(featureAt(address), described);
	assert.is(node.displayName, "Stations");
	assert.is(node.nameField, "NAME");
	assert.equal([node.minScale, node.maxScale], [5000000, 1000]);
	assert.equal(node.layerExtent, { xmin: 1, ymin: 2, xmax: 3, ymax: 4 });
	assert.equal(node.aliasMap, { OBJECTID: "Number", SHAPE: "Shape", NAME: "Name", DEPTH: "Depth" });
	assert.equal(node.symbology, { type: "simple", imageUrl: dot, label: "Station" });
	assert.is(node.mode, "snapshot");
	const columns = node.datagrid.gridColumns;
	assert.equal(
		columns.map((column: { id: string }) => column.id),
		["iconCol", "detailsCol", "OBJECTID", "NAME", "DEPTH"],
	);
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
	const titlesOf = (given: Description | null) => {
		const columns = nodeIn(featureAt(address), given, {}, "fr").datagrid.gridColumns;
		return columns.map((column: { id: string; title: string }) => `${column.id} ${column.title}`);
	};
	assert.equal(titlesOf(null), ["iconCol Icône", "detailsCol Détails"]);
	const both = { fr: described.en } as Description;
	assert.equal(titlesOf(both).slice(0, 3), ["iconCol Icône", "detailsCol Détails", "OBJECTID OBJECTID"]);
});

test("a lone question mark at the end of a wms address goes, a query stays", () => {
	const urlOf = (service_url: string) => nodeIn(wmsWith({ service_url })).url;
	assert.is(urlOf("https://host.example/wms?"), "https://host.example/wms");
	for (const end of ["", "?map=a", "?a=?"])
		assert.is(urlOf(`https://host.example/wms${end}`), `https://host.example/wms${end}`);
});

test("a stored name that the viewer would take for HTML is shown escaped, and asked of the service as it is", () => {
	const shown = (more: Partial<LangEntry>) => nodeIn(wmsWith(more));
	const image = "<img src=x onerror=alert(1)>";
	assert.is(shown({ service_name: image }).displayName, "‹img src=x onerror=alert(1)>");
	assert.is(shown({ layer: image }).displayName, "‹img src=x onerror=alert(1)>");
	assert.is(shown({ layer: image }).layerName, image);
	assert.is(shown({ service_name: "a</b> <!-- c <1 < d <" }).displayName, "a‹/b> ‹!-- c <1 < d <");
	assert.is(nodeIn(featureAt(address, { display_field: image })).nameField, "‹img src=x onerror=alert(1)>");
});

test("what a registration says of a feature layer goes before what its service says", () => {
	const more = {
		service_name: "Ozone",
		display_field: "DEPTH",
		loading_mode: "ondemand",
		max_allowable_offset: 0,
		metadata: { metadata_url: "https://host.example/m" },
	};
	const node = nodeIn(featureAt(address, more), described);
	assert.is(node.displayName, "Ozone");
	assert.is(node.nameField, "DEPTH");
	assert.is(node.mode, "ondemand");
	assert.is(node.maxAllowableOffset, 0);
	assert.is(node.metadataUrl, "https://host.example/m");
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
	const modeOf = (more: object) => nodeIn(featureAt(address), describedWith(more)).mode;
	for (const geometry_type of ["esriGeometryPoint", "esriGeometryMultipoint", "esriGeometryEnvelope"]) {
		assert.is(modeOf({ geometry_type }), "snapshot", geometry_type);
		assert.is(modeOf({ geometry_type, count: 2001 }), undefined, geometry_type);
		assert.is(modeOf({ geometry_type, count: null }), undefined, geometry_type);
	}
	assert.is(modeOf({ geometry_type: "esriGeometryPolygon" }), undefined);
});

test("the field that names a feature: the service's, else the first text field, else the first field", () => {
	const nameField = (more: object) => nodeIn(featureAt(address), describedWith(more)).nameField;
	assert.is(nameField({ display_field: "DEPTH" }), "DEPTH");
	assert.is(nameField({ fields: fields.slice(0, 2) }), "OBJECTID");
	assert.is(nameField({ fields: [] }), "");
});

test("unique values and class breaks as the viewer reads them", () => {
	const symbologyOf = (renderer: object) => nodeIn(featureAt(address), describedWith({ renderer })).symbology;
	const other = { label: "other", image: dot };
	const classes = [
		{ value: 1, label: "one", image: dot },
		{ value: "1, b", label: "", image: dot },
	];
	assert.equal(symbologyOf({ type: "unique", fields: ["A", "B"], default: other, classes }), {
		type: "uniqueValue",
		field1: "A",
		field2: "B",
		valueMaps: [
			{ value: 1, imageUrl: dot, label: "one" },
			{ value: "1, b", imageUrl: dot, label: "" },
		],
		defaultImageUrl: dot,
		label: "other",
	});
	const ranges = [{ max: 10.5, label: "to 10.5", image: dot }];
	assert.equal(symbologyOf({ type: "breaks", field: "A", min: -1, default: null, classes: ranges }), {
		type: "classBreaks",
		field: "A",
		minValue: -1,
		rangeMaps: [{ maxValue: 10.5, imageUrl: dot, label: "to 10.5" }],
	});
});

test("a description counts only for the service that it came from, and for each language by itself", () => {
	const moved = featureAt("https://host.example/arcgis/rest/services/X/MapServer/2");
	assert.is(nodeIn(moved, described).displayName, "k");
	assert.is(nodeIn(featureAt(address), described, {}, "fr").displayName, "k");
});

test("an extent in another spatial reference than the map's is not used", () => {
	const mapped = (mapWkid: number) => nodeIn(featureAt(address), described, { mapWkid }).layerExtent;
	assert.equal(mapped(3978), { xmin: 1, ymin: 2, xmax: 3, ymax: 4 });
	assert.equal(mapped(3857), { xmin: -15697162, ymin: 5111674, xmax: -5856518, ymax: 17932470 });
});

test("every spatial reference that a map can have is one that extents can be projected to", () => {
	for (const wkid of mapWkids) {
		const extent = { ...degrees, spatialReference: { wkid: 4269 } };
		const own = projectExtent(extent, wkid);
		assert.ok(own, `${wkid}`);
		const generic = nodeIn(featureAt(address), null, { mapWkid: wkid }).layerExtent;
		if (wkid === 3978 || wkid === 3979) continue;
		// What the fragments say was computed by PROJ, this by proj4: 1 km apart at most on a side of thousands.
		const sides = ["xmin", "ymin", "xmax", "ymax"] as const;
		for (const side of sides)
			assert.ok(Math.abs(generic[side] - (own?.[side] ?? 0)) < 1000, `${wkid} ${side}`);
	}
});

test("the viewer appends to the address, so its trailing slash goes", () => {
	const urlOf = (service_url: string) => nodeIn(featureAt(service_url)).url;
	assert.is(urlOf(`${address}/`), address);
	assert.is(urlOf(`${address}//?token=a/`), `${address}?token=a/`);
	for (const end of ["?token=a/", "?path=/a/#/", "#/"]) assert.is(urlOf(address + end), address + end);
});

test("whatever a description holds, the fragment is one that the viewer accepts", () => {
	const text = descriptionText(described);
	const broken = [
		"",
		"null",
		"[]",
		"{",
		'{"en":1,"fr":[]}',
		'{"__proto__":{"en":1},"constructor":2}',
		"[".repeat(1_000_000),
		`${text.slice(0, -3)}`,
		text.replace('"count": 2000', '"count": -1'),
		text.replace('"type": "simple"', '"type": "heatmap"'),
		text.replace('"xmin": 1', '"xmin": null'),
		text.replace('"xmin": 1', '"xmin": 1e999'),
		text.replace('"NAME"', "7"),
		text.replace("data:image/png;base64,iVBORw0KGgo=", "javascript:alert(1)"),
		text.replace("iVBORw0KGgo=", "iVBORw0KGgo"),
		text.replace("iVBORw0KGgo=", "A".repeat(1_000_000)),
		text.replace("image/png", "text/html"),
		text.replace('"fields": [', '"fields": [[],'),
		text.replace('"label": "Station"', '"label": {"toString": 1}'),
		text.padEnd(3_000_000),
	];
	for (const one of broken) {
		assert.is.not(one, text);
		assert.is(
			nodeIn(featureAt(address), parseDescription(one)).displayName,
			"k",
			`${one.slice(0, 60)} is taken for a description`,
		);
	}
});

test("a hostile label, field name or alias stays inside its JSON string, and no part of it is a tag", () => {
	const hostile = '</script><script>alert(1)//"\\\u2028\u0000\ud800';
	const shown = '‹/script>‹script>alert(1)//"\\\u2028\u0000\ud800';
	const fields = [
		{ name: "__proto__", alias: hostile, type: "esriFieldTypeString" },
		{ name: hostile, alias: "constructor", type: "esriFieldTypeString" },
	];
	const classes = [{ value: hostile, label: hostile, image: dot }];
	const ranges = [{ max: 1, label: hostile, image: dot }];
	const other = { label: hostile, image: dot };
	const renderers = [
		{ type: "simple", label: hostile, image: dot },
		{ type: "unique", fields: ["A"], default: other, classes },
		{ type: "breaks", field: "A", min: 0, default: other, classes: ranges },
	];
	for (const renderer of renderers) {
		const given = parseDescription(JSON.stringify(describedWith({ fields, renderer, name: hostile })));
		const { symbology, displayName, aliasMap, datagrid } = nodeIn(featureAt(address), given);
		assert.is(symbology.label, shown);
		assert.is(displayName, shown);
		assert.ok(Object.hasOwn(aliasMap, "__proto__"));
		assert.is(datagrid.gridColumns[3].title, shown);
		if (renderer.classes === classes)
			assert.is(symbology.valueMaps[0].value, hostile, "compared with the features' own values");
	}
	assert.is(({} as Record<string, unknown>).polluted, undefined);
});

test("a description is written in one form, and read back as it was", () => {
	const both = { fr: described.en, en: described.en } as Description;
	assert.equal(parseDescription(descriptionText(both)), both);
	assert.ok(descriptionText(both).startsWith('{\n  "en": {\n    "service_url"'));
	assert.ok(descriptionText(both).endsWith("}\n"));
});

test.run();
