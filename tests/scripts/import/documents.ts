// Documents as the releases of the older service wrote them into its database.

const image = "data:image/png;base64,iVBORw0KGgo=";
export const address = "http://maps.example/arcgis/rest/services/X/MapServer/1";

/** A column of a grid: releases before 1.6 spelled two of its members otherwise. */
function column(isOld: boolean, more: object): object {
	const sorting = isOld ? { isSortable: false, sortType: "string" } : { orderable: false, type: "string" };
	return { fieldName: "", ...sorting, alignment: 0, ...more };
}

function grid(isOld: boolean, names: string[]): object {
	const sortable = isOld ? { isSortable: true } : { orderable: true };
	const fields = names.map((name) => ({
		id: name,
		fieldName: name,
		width: "400px",
		...sortable,
		alignment: 1,
		title: name,
		columnTemplate: "unformatted_grid_value",
	}));
	const fixed = [
		{ id: "iconCol", width: "50px", title: "Icon", columnTemplate: "graphic_icon" },
		{ id: "detailsCol", width: "60px", title: "Details", columnTemplate: "details_button" },
	];
	return { gridColumns: [...fixed, ...fields].map((one) => column(isOld, one)) };
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
	const layer = lang === "en" ? "roads" : "routes";
	const id = `rcs.${key}.${lang}`;
	return {
		id,
		url: "http://maps.example/wms",
		layerName: layer,
		displayName: layer,
		format: "image/png",
		...more,
	};
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

/** Both languages of a feature layer's node. */
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
const served110 = {
	metadataUrl: "http://csw.example/xml?id=abc",
	catalogueUrl: "http://csw.example/page?id=abc",
	maxAllowableOffset: 5,
	geometryType: "esriGeometryPoint",
};

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
			en: { ...requested, service_name: "Wells" },
			fr: { ...requested, service_name: "Puits", loading_mode: "ondemand" },
		},
		en: featureNode("old-110", "en", { ...served110, mode: "snapshot" }),
		fr: featureNode("old-110", "fr", { ...served110, mode: "ondemand" }),
	},
};

const requested19 = { service_url: address, maxAllowableOffset: 20 };
/** Release 1.9 wrote the offset into the request under the wrong name. */
export const release19 = {
	_id: "old-19",
	type: "feature",
	data: {
		key: "old-19",
		request: { version: "1.0.0", payload_type: "feature", en: requested19, fr: requested19 },
		...featureNodes("old-19", { maxAllowableOffset: 20 }),
	},
};
