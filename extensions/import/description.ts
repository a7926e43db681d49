import { notOfUris } from "../../registry/addresses.ts";
import {
	type Drawing,
	type Field,
	isImage,
	type LangDescription,
	type Renderer,
} from "../../registry/description.ts";
import { defaultMapWkid, type Extent, genericImage } from "../../registry/generic.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { maxSnapshotFeatures, snapshotGeometries } from "../../registry/targets/v0.9.ts";
import { escapeMarkup } from "../../registry/untrusted-text.ts";
import { projectExtent } from "../../site/service/boxes.ts";
import { isObject, type Json, listOf, objectOf, textOf } from "./compare/differences.ts";

export type PayloadType = "wms" | "feature";

/** Of a registration of version 1.x. The older service had no legends of feature layers. */
function membersOf(type: PayloadType): string[] {
	const { lang, wms, feature } = registration1.definitions;
	const others = {
		...(type === "wms" ? wms : feature).properties,
		...(type === "feature" && { legend_format: {} }),
	};
	return Object.keys(lang.properties).filter((name) => !(name in others));
}

/** Of a registration of version 2.0; for an unknown type those that every type has. */
function membersOf2(type: string): string[] {
	const { esriFeature, esriPicture, ogc, esriService } = registration2.definitions;
	const kinds = [esriFeature, esriPicture, ogc, esriService].map(({ properties }) => properties);
	const kind = kinds.find(({ service_type }) => {
		const types: readonly string[] = "const" in service_type ? [service_type.const] : service_type.enum;
		return types.includes(type);
	});
	return Object.keys(kind ?? esriPicture.properties);
}

export function entryOfRequest(type: PayloadType, request: Json): Json {
	// Release 1.9.0 stored the offset under the name that it has in a fragment.
	const renamed: Json = { max_allowable_offset: request.maxAllowableOffset, ...request };
	return cleanEntry(membersOf(type), renamed);
}

/** @param serviceType the document's, for a request that has none */
export function entryOfRequest2(request: Json, serviceType: unknown): Json {
	const raw: Json = { ...request, service_type: request.service_type ?? serviceType };
	return cleanEntry(membersOf2(textOf(raw.service_type)), raw);
}

/** Releases before 1.8 stored no request. */
export function entryOfNode(type: PayloadType, node: Json): Json {
	const { mimeType } = objectOf(node.featureInfo);
	const metadata = { metadata_url: node.metadataUrl, catalogue_url: node.catalogueUrl };
	const raw: Json = {
		service_url: node.url,
		layer: node.layerName,
		service_name: node.displayName === node.layerName ? undefined : node.displayName,
		display_field: node.nameField,
		metadata: Object.values(metadata).some((address) => textOf(address)) ? metadata : undefined,
		legend_format: node.legendMimeType,
		feature_info_type: mimeType,
		loading_mode: node.mode,
		max_allowable_offset: node.maxAllowableOffset,
	};
	return cleanEntry(membersOf(type), raw);
}

function cleanEntry(members: readonly string[], raw: Json): Json {
	const entries = members.map((name) => [name, cleanMember(name, raw[name])]);
	return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function cleanMember(name: string, value: unknown): unknown {
	if (value === undefined || value === null || value === "") return undefined;
	if (name === "metadata") return cleanMetadata(value);
	if (name === "service_url") return cleanAddress(value);
	if (name === "service_name" || name === "display_field")
		return typeof value === "string" ? escapeMarkup(value) : value;
	if (name !== "max_allowable_offset") return value;
	return Number.isInteger(value) && (value as number) >= 0 ? value : undefined;
}

function cleanMetadata(value: unknown): unknown {
	if (!isObject(value)) return value;
	const { uuid, metadata_url, catalogue_url } = value;
	const addresses = {
		...(textOf(metadata_url) && { metadata_url: cleanAddress(metadata_url) }),
		...(textOf(catalogue_url) && { catalogue_url: cleanAddress(catalogue_url) }),
	};
	if (Object.keys(addresses).length > 0) return addresses;
	return textOf(uuid) ? { uuid } : undefined;
}

function cleanAddress(value: unknown): unknown {
	if (typeof value !== "string") return value;
	return value.trim().toWellFormed().replace(notOfUris, encodeURIComponent);
}

/**
 * Describes a feature layer as its stored node does. A node has no field types, so fields become strings unless a column
 * sorts as numbers; the first harvest corrects that.
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

/** Whether the older service set a node's `mode` itself, from the number of features, as v0.9 does. */
export function isCountedMode({ mode, geometryType }: Json): boolean {
	const geometry = textOf(geometryType);
	return mode === "snapshot" && (geometry === "" || snapshotGeometries.has(geometry));
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

function rendererOf(value: unknown): Renderer {
	const symbology = objectOf(value);
	if (symbology.type === "simple") return { type: "simple", ...drawingOf(symbology) };
	if (symbology.type === "uniqueValue") return uniqueOf(symbology);
	if (symbology.type === "classBreaks") return breaksOf(symbology);
	return generic;
}

const generic: Renderer = { type: "simple", label: "", image: genericImage };

function uniqueOf(symbology: Json): Renderer {
	const fields = ["field1", "field2", "field3"].map((name) => textOf(symbology[name])).filter(Boolean);
	if (fields.length === 0) return generic;
	const isValue = ({ value }: Json) => typeof value === "string" || Number.isFinite(value);
	const maps = listOf(symbology.valueMaps).map(objectOf).filter(isValue);
	const classes = maps.map((map) => ({ value: map.value as string | number, ...drawingOf(map) }));
	return { type: "unique", fields, default: defaultOf(symbology), classes };
}

function breaksOf(symbology: Json): Renderer {
	const { field, minValue } = symbology;
	if (!textOf(field) || !Number.isFinite(minValue)) return generic;
	const maps = listOf(symbology.rangeMaps).map(objectOf);
	const finite = maps.filter(({ maxValue }) => Number.isFinite(maxValue));
	const classes = finite.map((map) => ({ max: map.maxValue as number, ...drawingOf(map) }));
	const min = minValue as number;
	return { type: "breaks", field: textOf(field), min, default: defaultOf(symbology), classes };
}

function defaultOf(symbology: Json): Drawing | null {
	const { defaultImageUrl: imageUrl, label } = symbology;
	return imageUrl === undefined || imageUrl === null ? null : drawingOf({ imageUrl, label });
}

function drawingOf({ imageUrl, label }: Json): Drawing {
	return { label: textOf(label), image: isImage(imageUrl) ? imageUrl : genericImage };
}
