// Documents as the releases of the older service wrote them into its database.

const wmsAddress = "http://maps.example/wms";
const image = "data:image/png;base64,iVBORw0KGgo=";
const address = "http://maps.example/arcgis/rest/services/X/MapServer/1";

/** Releases before 1.6 spelled two members of its columns otherwise. */
function grid(isOld: boolean, names: string[]) {
	const sorting = (sorts: boolean) =>
		isOld ? { isSortable: sorts, sortType: "string" } : { orderable: sorts, type: "string" };
	const field = { width: "400px", alignment: 1, columnTemplate: "unformatted_grid_value", ...sorting(true) };
	const fixed = { fieldName: "", alignment: 0, ...sorting(false) };
	return {
		gridColumns: [
			{ ...fixed, id: "iconCol", width: "50px", title: "Icon", columnTemplate: "graphic_icon" },
			{ ...fixed, id: "detailsCol", width: "60px", title: "Details", columnTemplate: "details_button" },
			...names.map((name) => ({ ...field, id: name, fieldName: name, title: name })),
		],
	};
}

/** A feature layer's node, with an extent in EPSG:3978, which is the map's. */
export function featureNode(key: string, lang: string, more: object = {}, isOld = false): object {
	return {
		id: `rcs.${key}.${lang}`,
		url: address,
		displayName: lang === "en" ? "Wells" : "Puits",
		nameField: "NAME",
		minScale: 5000000,
		maxScale: 0,
		datagrid: grid(isOld, ["OBJECTID", "NAME"]),
		layerExtent: { xmin: -100, ymin: -200, xmax: 300, ymax: 400, spatialReference: { wkid: 3978 } },
		symbology: { type: "simple", imageUrl: image, label: "Well" },
		aliasMap: { OBJECTID: "Number", SHAPE: "Shape", NAME: "Name of the well" },
		...more,
	};
}

export function wmsNode(key: string, lang: string, more: object = {}): object {
	const name = lang === "en" ? "roads" : "routes";
	const names = { layerName: name, displayName: name };
	return { id: `rcs.${key}.${lang}`, url: wmsAddress, ...names, format: "image/png", ...more };
}

const uniqueValues = {
	type: "uniqueValue",
	field1: "CLASS",
	field2: null,
	field3: null,
	valueMaps: [
		{ value: "1", imageUrl: image, label: "one" },
		{ value: "2", imageUrl: image, label: "two" },
	],
	defaultImageUrl: image,
	label: "other",
};

const classBreaks = {
	type: "classBreaks",
	field: "DEPTH",
	minValue: 0,
	rangeMaps: [{ maxValue: 10.5, imageUrl: image, label: "0 - 10.5" }],
};

function version1(key: string, en: object, fr: object, request?: object) {
	const type = "layerName" in en ? "wms" : "feature";
	return { _id: key, type, data: { key, ...(request && { request }), en, fr } };
}

function features(key: string, more: object, isOld = false) {
	return version1(key, featureNode(key, "en", more, isOld), featureNode(key, "fr", more, isOld));
}

/** Release 1.5: columns as at v0.9, and no request. */
export const release15 = features("old-15", { symbology: classBreaks, mode: "snapshot" }, true);

/** Releases 1.6 and 1.7: columns as at v1, and no request. */
export const release17 = features("old-17", { symbology: uniqueValues, maxAllowableOffset: 3 });

const featureInfo = { mimeType: "text/plain", parser: "stringParse" };
export const release17Wms = version1(
	"old-17-wms",
	wmsNode("old-17-wms", "en", { legendMimeType: "image/png", featureInfo }),
	wmsNode("old-17-wms", "fr", { displayName: "Routes du Canada" }),
);

const requested = { service_url: address, max_allowable_offset: 5, metadata: { uuid: "abc" } };
const metadataAddresses = {
	metadataUrl: "http://csw.example/xml?id=abc",
	catalogueUrl: "http://csw.example/page?id=abc",
};
const served110 = { ...metadataAddresses, maxAllowableOffset: 5, geometryType: "esriGeometryPoint" };

/** Releases 1.8 to 1.10: with the request, and from 1.10 on the type of geometry. */
export const release110 = version1(
	"old-110",
	featureNode("old-110", "en", { ...served110, mode: "snapshot" }),
	featureNode("old-110", "fr", { ...served110, mode: "ondemand" }),
	{
		version: "1.2",
		payload_type: "feature",
		en: { ...requested, service_name: "Wells", legend_format: "image/png" },
		fr: { ...requested, service_name: "Puits", loading_mode: "ondemand" },
	},
);

/** Release 1.0: MongoDB's own id, and the key beside it. */
export const release10 = {
	...features("old-10", {}, true),
	_id: { $oid: "53a1c2d3e4f5061728394a5b" },
	key: "old-10",
};

/** A document of releases 2.0 to 3.0, with one request and one node for both languages. */
function version2(
	key: string,
	request: { service_type: string; [member: string]: unknown },
	node: object,
	v1: object | null,
) {
	const nodes = (of: object | null, lang: string) => of && { id: `rcs.${key}.${lang}`, ...of };
	return {
		_id: key,
		version: "2.0",
		service_type: request.service_type,
		request: { en: request, fr: request },
		layer_config: { en: nodes(node, "en"), fr: nodes(node, "fr") },
		v1_config: { en: nodes(v1, "en"), fr: nodes(v1, "fr") },
	};
}

const { id: _id, ...wells } = featureNode("", "en", metadataAddresses) as { id: string };
const feature2 = { service_type: "esriFeature", service_url: address, service_name: "Wells" };

/** Releases 2.0 to 2.2: a feature layer, whose registration says more than version 1.x could. */
export const release20 = version2(
	"new-20",
	{ ...feature2, tolerance: 5, metadata: { uuid: "abc" } },
	{ layerType: "esriFeature", url: address, name: "Wells", tolerance: 5, ...metadataAddresses },
	{ ...wells, geometryType: "esriGeometryPolygon" },
);

const { id: _wmsId, ...roads } = wmsNode("", "en", { legendMimeType: "image/png" }) as { id: string };

/** A WMS; one that has not exactly one layer has no node of version 1. */
function wms2(key: string, request: object, names: string[], v1: object | null = null) {
	const node = { layerType: "ogcWms", url: wmsAddress, layerEntries: names.map((id) => ({ id })) };
	return version2(key, { service_type: "ogcWms", service_url: wmsAddress, ...request }, node, v1);
}

export const release20Wms = wms2(
	"new-wms",
	{ scrape_only: ["roads"], legend_format: "image/png" },
	["roads"],
	roads,
);
export const release20Many = wms2("new-many", { scrape_only: ["b", "a"] }, ["b", "a"]);
/** Services that are taken whole: the layers that they had are in the node only. */
export const release20Whole = wms2("new-whole", { recursive: true }, ["z", "y"]);

const server = "http://maps.example/arcgis/rest/services/X/MapServer";
export const release20Server = version2(
	"new-server",
	{ service_type: "esriMapServer", service_url: server, recursive: true },
	{ layerType: "esriDynamic", url: server, layerEntries: [{ index: 4 }, { index: 0 }] },
	null,
);
