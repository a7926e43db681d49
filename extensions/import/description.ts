import {
	type Drawing,
	type Field,
	isImage,
	type LangDescription,
	type Renderer,
} from "../../registry/description.ts";
import { defaultMapWkid, type Extent } from "../../registry/extent.ts";
import { genericImage } from "../../registry/pictures.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { projectExtent } from "../../site/service/boxes.ts";
import { isObject, type Json, listOf, objectOf, textOf } from "./compare/json.ts";

/** For layers of these geometries, with up to this number of features, the older service set the mode `snapshot`. */
const pointGeometries = new Set(["", "esriGeometryPoint", "esriGeometryMultipoint", "esriGeometryEnvelope"]);
const maxSnapshotFeatures = 2000;

/**
 * Converts a stored node of a feature layer to a service description. A node has no field types, so fields become strings
 * unless a column sorts as numbers; its extent is projected from the layer's spatial reference. The first harvest corrects
 * both.
 * @param entry the registration in the node's language
 */
export function describeNode(
	node: Json,
	entry: Json,
	{ mapWkid = defaultMapWkid }: FragmentSettings,
): LangDescription {
	const geometry = textOf(node.geometryType);
	const isSmall = isCountedMode(node) && entry.loading_mode === undefined;
	return {
		service_url: textOf(entry.service_url),
		from: "import",
		name: textOf(node.displayName),
		display_field: textOf(node.nameField),
		geometry_type: geometry || (isSmall ? "esriGeometryPoint" : ""),
		min_scale: scaleOf(node.minScale),
		max_scale: scaleOf(node.maxScale),
		extent: extentOf(node.layerExtent, mapWkid),
		fields: fieldsOf(node),
		renderer: rendererOf(node.symbology),
		count: isSmall ? maxSnapshotFeatures : null,
	};
}

/** Whether the older service set a node's `mode` itself, from the number of features: it did so for small point layers. */
export function isCountedMode(node: Json): boolean {
	return node.mode === "snapshot" && pointGeometries.has(textOf(node.geometryType));
}

function scaleOf(value: unknown): number {
	return typeof value === "number" && value >= 0 ? value : 0;
}

function extentOf(value: unknown, mapWkid: number): Extent | null {
	const { spatialReference, ...sides } = objectOf(value);
	// If there is no spatial reference, the viewer assumed the map's.
	const reference = isObject(spatialReference) ? spatialReference : { wkid: mapWkid };
	return projectExtent({ ...sides, spatialReference: reference }, mapWkid);
}

/** The columns of a grid in their order, then the fields that have only an alias: the geometry, which is no column. */
function fieldsOf(node: Json): Field[] {
	const aliases = objectOf(node.aliasMap);
	const columns = listOf(objectOf(node.datagrid).gridColumns).map(objectOf);
	const fields: Field[] = [];
	const names = new Set<string>();
	for (const { fieldName, sortType, type } of columns) {
		const name = textOf(fieldName);
		if (name === "" || names.has(name)) continue;
		names.add(name);
		const isNumber = ["num", "numeric"].includes(textOf(sortType ?? type));
		const alias = textOf(aliases[name]) || name;
		fields.push({ name, alias, type: isNumber ? "esriFieldTypeDouble" : "esriFieldTypeString" });
	}
	for (const [name, alias] of Object.entries(aliases)) {
		if (!names.has(name)) fields.push({ name, alias: textOf(alias) || name, type: "esriFieldTypeGeometry" });
	}
	return fields;
}

function rendererOf(value: unknown): Renderer {
	const symbology = objectOf(value);
	if (symbology.type === "simple") return { type: "simple", ...drawingOf(symbology) };
	if (symbology.type === "uniqueValue") return uniqueOf(symbology) ?? generic;
	if (symbology.type === "classBreaks") return breaksOf(symbology) ?? generic;
	return generic;
}

/** In place of symbols that no viewer accepts. */
const generic: Renderer = { type: "simple", label: "", image: genericImage };

function uniqueOf(symbology: Json): Renderer | null {
	const fields = ["field1", "field2", "field3"].map((name) => textOf(symbology[name])).filter(Boolean);
	if (fields.length === 0) return null;
	const isValue = ({ value }: Json) => typeof value === "string" || Number.isFinite(value);
	const maps = listOf(symbology.valueMaps).map(objectOf).filter(isValue);
	const classes = maps.map((one) => ({ value: one.value as string | number, ...drawingOf(one) }));
	return { type: "unique", fields, default: defaultOf(symbology), classes };
}

function breaksOf(symbology: Json): Renderer | null {
	const { field, minValue } = symbology;
	if (!textOf(field) || !Number.isFinite(minValue)) return null;
	const maps = listOf(symbology.rangeMaps).map(objectOf);
	const finite = maps.filter(({ maxValue }) => Number.isFinite(maxValue));
	const classes = finite.map((one) => ({ max: one.maxValue as number, ...drawingOf(one) }));
	const min = minValue as number;
	return { type: "breaks", field: textOf(field), min, default: defaultOf(symbology), classes };
}

function defaultOf(symbology: Json): Drawing | null {
	const { defaultImageUrl, label } = symbology;
	return defaultImageUrl === undefined || defaultImageUrl === null
		? null
		: drawingOf({ imageUrl: defaultImageUrl, label });
}

function drawingOf({ imageUrl, label }: Json): Drawing {
	return { label: textOf(label), image: isImage(imageUrl) ? imageUrl : genericImage };
}
