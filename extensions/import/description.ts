import type { Drawing, Field, LangDescription, Renderer } from "../../registry/description.ts";
import { defaultMapWkid, type Extent } from "../../registry/extents.ts";
import { genericImage } from "../../registry/icons.ts";
import type { LangPart1, LangPart2 } from "../../registry/registration.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { maxSnapshotFeatures, snapshotGeometries } from "../../registry/targets/ramp.ts";
import { isObject } from "../../registry/untrusted.ts";
import { listOf, objectOf } from "../../site/service/decode.ts";
import { projectExtent } from "../harvest/arcgis/area.ts";
import { isImage } from "../harvest/description.ts";
import { type Json, textOf } from "./dump.ts";

/**
 * A stored node has no field types: fields become strings unless a column sorts as numbers, until the first harvest corrects
 * that.
 */
export function describeNode(
	node: Json,
	entry: LangPart1 | LangPart2,
	{ mapWkid = defaultMapWkid }: FragmentSettings,
): LangDescription {
	const geometry = textOf(node.geometryType);
	const isSmall = isCountedMode(node) && !("loading_mode" in entry);
	return {
		service_url: entry.service_url,
		from: "import",
		name: textOf(node.displayName),
		display_field: textOf(node.nameField),
		geometry_type: geometry || (isSmall ? "esriGeometryPoint" : ""),
		min_scale: scaleOf(node.minScale),
		max_scale: scaleOf(node.maxScale),
		extent: extentOf(node.layerExtent, mapWkid),
		fields: fieldsOf(node),
		renderer: rendererOf(objectOf(node.symbology)),
		count: isSmall ? maxSnapshotFeatures : null,
	};
}

/** Whether the older service set a node's `mode` itself, from the number of features, as v0.9 does. */
export function isCountedMode({ mode, geometryType }: Json): boolean {
	const geometry = textOf(geometryType);
	return mode === "snapshot" && (geometry === "" || snapshotGeometries.has(geometry));
}

function scaleOf(value: unknown) {
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
	const fields = new Map<string, Field>();
	const add = (name: string, type: string) => {
		if (name !== "" && !fields.has(name))
			fields.set(name, { name, alias: textOf(aliases[name]) || name, type });
	};
	for (const { fieldName, sortType, type } of listOf(objectOf(node.datagrid).gridColumns).map(objectOf)) {
		const isNumber = ["num", "numeric"].includes(textOf(sortType ?? type));
		add(textOf(fieldName), isNumber ? "esriFieldTypeDouble" : "esriFieldTypeString");
	}
	for (const name of Object.keys(aliases)) add(name, "esriFieldTypeGeometry");
	return [...fields.values()];
}

/** The generic symbol for what a symbology does not say. Values of another type, such as null, are left out. */
function rendererOf(symbology: Json): Renderer {
	const { type, field, defaultImageUrl: imageUrl, label, minValue: min, valueMaps, rangeMaps } = symbology;
	const fallback = imageUrl ? drawingOf({ imageUrl, label }) : null;
	const fields = ["field1", "field2", "field3"].map((name) => textOf(symbology[name])).filter(Boolean);
	if (type === "uniqueValue" && fields.length > 0) {
		const classes = listOf(valueMaps).flatMap((map) => {
			const { value, ...drawing } = objectOf(map);
			const isValue = typeof value === "string" || typeof value === "number";
			return isValue ? [{ value, ...drawingOf(drawing) }] : [];
		});
		return { type: "unique", fields, default: fallback, classes };
	}
	if (type === "classBreaks" && textOf(field) !== "" && typeof min === "number") {
		const classes = listOf(rangeMaps).flatMap((map) => {
			const { maxValue: max, ...drawing } = objectOf(map);
			return typeof max === "number" ? [{ max, ...drawingOf(drawing) }] : [];
		});
		return { type: "breaks", field: textOf(field), min, default: fallback, classes };
	}
	return { type: "simple", ...drawingOf(type === "simple" ? symbology : {}) };
}

function drawingOf({ imageUrl, label }: Json): Drawing {
	return { label: textOf(label), image: isImage(imageUrl) ? imageUrl : genericImage };
}
