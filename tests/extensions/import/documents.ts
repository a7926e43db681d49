// Documents as the releases of the older service wrote them into its database.

const wmsAddress = "http://maps.example/wms";
const image = "data:image/png;base64,iVBORw0KGgo=";
const address = "http://maps.example/arcgis/rest/services/X/MapServer/1";

/** Releases before 1.6 spelled two members of its columns otherwise. */
function grid(isOld: boolean, names: string[]): object {
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

function featureNodes(key: string, more: object, isOld = false) {
	return { en: featureNode(key, "en", more, isOld), fr: featureNode(key, "fr", more, isOld) };
}

/** Release 1.5: columns as at v0.9, and no request. */
export const release15 = {
	_id: "old-15",
	_rev: "1-a",
	type: "feature",
	data: { key: "old-15", ...featureNodes("old-15", { symbology: classBreaks, mode: "snapshot" }, true) },
};

/** Releases 1.6 and 1.7: columns as at v1, and no request. */
export const release17 = {
	_id: "old-17",
	type: "feature",
	data: { key: "old-17", ...featureNodes("old-17", { symbology: uniqueValues, maxAllowableOffset: 3 }) },
};

const featureInfo = { mimeType: "text/plain", parser: "stringParse" };
export const release17Wms = {
	_id: "old-17-wms",
	type: "wms",
	data: {
		key: "old-17-wms",
		en: wmsNode("old-17-wms", "en", { legendMimeType: "image/png", featureInfo }),
		fr: wmsNode("old-17-wms", "fr", { displayName: "Routes du Canada" }),
	},
};

const requested = { service_url: address, max_allowable_offset: 5, metadata: { uuid: "abc" } };
const metadataAddresses = {
	metadataUrl: "http://csw.example/xml?id=abc",
	catalogueUrl: "http://csw.example/page?id=abc",
};
const served110 = { ...metadataAddresses, maxAllowableOffset: 5, geometryType: "esriGeometryPoint" };

/** Releases 1.8 to 1.10: with the request, and from 1.10 on the type of geometry. */
export const release110 = {
	_id: "old-110",
	type: "feature",
	updated_at: "2015-02-26T19:56:26.166Z",
	data: {
		key: "old-110",
		request: {
			version: "1.2",
			payload_type: "feature",
			en: { ...requested, service_name: "Wells", legend_format: "image/png" },
			fr: { ...requested, service_name: "Puits", loading_mode: "ondemand" },
		},
		en: featureNode("old-110", "en", { ...served110, mode: "snapshot" }),
		fr: featureNode("old-110", "fr", { ...served110, mode: "ondemand" }),
	},
};

/** Release 1.0: MongoDB's own id, and the key beside it. */
export const release10 = {
	_id: { $oid: "53a1c2d3e4f5061728394a5b" },
	key: "old-10",
	type: "feature",
	data: { key: "old-10", ...featureNodes("old-10", {}, true) },
};

/** A document of releases 2.0 to 3.0, with one request and one node for both languages. */
function version2(key: string, type: string, request: object, node: object, v1: object | null) {
	const nodes = (of: object | null, lang: string) => of && { id: `rcs.${key}.${lang}`, ...of };
	const requested = { service_type: type, ...request };
	return {
		_id: key,
		version: "2.0",
		service_type: type,
		created_at: "2016-05-01",
		updated_at: "2016-05-02",
		request: { en: requested, fr: requested },
		layer_config: { en: nodes(node, "en"), fr: nodes(node, "fr") },
		v1_config: { en: nodes(v1, "en"), fr: nodes(v1, "fr") },
	};
}

const { id: _id, ...wells } = featureNode("", "en", metadataAddresses) as { id: string };

/** Releases 2.0 to 2.2: a feature layer, whose registration says more than version 1.x could. */
export const release20 = version2(
	"new-20",
	"esriFeature",
	{ service_url: address, service_name: "Wells", tolerance: 5, metadata: { uuid: "abc" } },
	{ layerType: "esriFeature", url: address, name: "Wells", tolerance: 5, ...metadataAddresses },
	{ ...wells, geometryType: "esriGeometryPolygon" },
);

const wms2 = { layerType: "ogcWms", url: wmsAddress };
const { id: _wmsId, ...roads } = wmsNode("", "en", { legendMimeType: "image/png" }) as { id: string };

export const release20Wms = version2(
	"new-wms",
	"ogcWms",
	{ service_url: wmsAddress, scrape_only: ["roads"], legend_format: "image/png" },
	{ ...wms2, layerEntries: [{ id: "roads" }], legendMimeType: "image/png" },
	roads,
);

/** A WMS of two layers has no node of version 1. */
export const release20Many = version2(
	"new-many",
	"ogcWms",
	{ service_url: wmsAddress, scrape_only: ["b", "a"] },
	{ ...wms2, layerEntries: [{ id: "b" }, { id: "a" }] },
	null,
);

const server = "http://maps.example/arcgis/rest/services/X/MapServer";
/** Services that are taken whole: the layers that they had are in the node only. */
export const release20Server = version2(
	"new-server",
	"esriMapServer",
	{ service_url: server, recursive: true },
	{ layerType: "esriDynamic", url: server, layerEntries: [{ index: 4 }, { index: 0 }] },
	null,
);
export const release20Whole = version2(
	"new-whole",
	"ogcWms",
	{ service_url: wmsAddress, recursive: true },
	{ ...wms2, layerEntries: [{ id: "z" }, { id: "y" }] },
	null,
);
