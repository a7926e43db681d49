import type { Ask } from "../../../api/service/net/ask.ts";
import { Trouble } from "../../../api/service/net/trouble.ts";
import { type CauseCode, causeOf } from "../../../registry/causes.ts";
import type { FeatureDescription, Field } from "../../../registry/description.ts";
import { plainText } from "../../../registry/markup.ts";
import { boundsOfExtent, reproject } from "../../../registry/projections.ts";
import { maxAbstract } from "../../../registry/schemas/description.ts";
import { isObject, listOf, numberOf, objectOf, parseAnswer, textOf } from "../../../site/service/answer.ts";
import { type Described, orTrouble, quote } from "../finding.ts";
import { askDocument, readExtent, serviceAddress } from "./answers.ts";
import { type LegendEntry, readLegend, readRenderer } from "./renderer.ts";

/** Fields of a layer: each one is a column in the viewer's grid. */
const maxFields = 1000;

/** Classes of a renderer: each one is an image in every fragment. */
const maxClasses = 1000;

/** Characters of a description of one language: it is in every fragment of the layer. */
const maxDescriptionLength = 512 * 1024;

/** The spatial reference of a sketch's extent. It has no effect: places are compared by `bounds`, in degrees. */
const sketchWkid = 4326;

/** Asks for the document of one feature layer: `<service_url>?f=json`. @throws {Trouble} */
export async function askLayer(address: string, ask: Ask): Promise<Record<string, unknown>> {
	const document = await askDocument(address, "layer", ask);
	checkDocument(document);
	return document;
}

/**
 * Asks a feature layer's service for a description: from its document, its legend and its number of features.
 * @throws {Trouble}
 */
export async function describeLayer(
	address: string,
	{ ask, mapWkid }: { ask: Ask; mapWkid: number },
): Promise<Described> {
	const layer = await askLayer(address, ask);
	const fields = listOf(layer.fields).filter(isObject);
	if (fields.length > maxFields) throw new Trouble("down", causeOf("many-fields", maxFields));
	const troubles: Trouble[] = [];
	const legend = await askLegend(address, ask, troubles);
	const count = await askCount(address, ask, troubles);
	if (hasTooManyClasses(layer)) throw new Trouble("down", causeOf("many-classes", maxClasses));
	const parts = { fields: fields.map(readField), legend, count };
	const description = buildDescription(address, layer, parts, mapWkid);
	if (JSON.stringify(description).length > maxDescriptionLength) {
		throw new Trouble("down", causeOf("large-symbols", maxDescriptionLength / 1024));
	}
	return { description, missing: troubles[0] ?? null };
}

/**
 * Describes a layer from its document alone, without its legend and its number of features, and without a renderer of too
 * many classes.
 */
export function sketchLayer(address: string, layer: Record<string, unknown>): FeatureDescription {
	const fields = listOf(layer.fields).filter(isObject).slice(0, maxFields).map(readField);
	const known = hasTooManyClasses(layer) ? { ...layer, drawingInfo: {} } : layer;
	return buildDescription(address, known, { fields, legend: [], count: null }, sketchWkid);
}

/** Checked before the classes are read: an answer may have a million of them, and each one gets an image. */
function hasTooManyClasses({ drawingInfo }: Record<string, unknown>): boolean {
	const { type, classBreakInfos, uniqueValueInfos } = objectOf(objectOf(drawingInfo).renderer);
	return listOf(type === "classBreaks" ? classBreakInfos : uniqueValueInfos).length > maxClasses;
}

/** The documents of all layers of the service that a layer is in; empty if the service does not have them at once. */
export async function askAllLayers(address: string, ask: Ask): Promise<Record<string, unknown>[]> {
	const { layers } = await askExtra(address, "/../layers", ask, []);
	return listOf(layers).filter(isObject);
}

/** @throws {Trouble} if a document is not a feature layer's */
function checkDocument(document: Record<string, unknown>): void {
	const { type, layers, services, fields, drawingInfo } = document;
	if (textOf(type) === "Feature Layer") return;
	const wrong = (code: CauseCode, ...values: string[]) => new Trouble("wrong", causeOf(code, ...values));
	if (textOf(type) === "Group Layer") throw wrong("group");
	if (textOf(type) !== "") throw wrong("other-type", quote(textOf(type)));
	if (Array.isArray(layers) || Array.isArray(services)) throw wrong("whole-service");
	// A layer may have no type.
	if (!Array.isArray(fields) && !isObject(drawingInfo)) throw wrong("not-arcgis-layer");
}

/** Accepts the address of a layer of a MapServer, and captures the layer's number. */
const mapLayer = /\/MapServer\/(\d+)\/*$/i;

/** Asks for the legend. A feature service has none; images of its classes are drawn from their symbols. */
async function askLegend(address: string, ask: Ask, troubles: Trouble[]): Promise<LegendEntry[]> {
	const url = new URL(address);
	const layerId = mapLayer.exec(url.pathname)?.[1];
	if (layerId === undefined) return [];
	url.pathname = url.pathname.replace(/(?<!\/)\/+\d+\/*$/, "");
	return readLegend(await askExtra(url.href, "/legend", ask, troubles), Number(layerId));
}

async function askCount(address: string, ask: Ask, troubles: Trouble[]): Promise<number | null> {
	const query = { where: "1=1", returnCountOnly: "true" };
	const count = numberOf((await askExtra(address, "/query", ask, troubles, query)).count);
	return count !== null && count >= 0 ? count : null;
}

/**
 * Asks for a further document; empty if there is none.
 * @param troubles gets a temporary failure. A permanent one is ignored, so that the rest of the description is stored.
 */
async function askExtra(
	address: string,
	path: string,
	ask: Ask,
	troubles: Trouble[],
	query?: Record<string, string>,
): Promise<Record<string, unknown>> {
	const found = await orTrouble(askDocument(address, "service", ask, path, query));
	if (!(found instanceof Trouble)) return found;
	if (found.isTemporary) troubles.push(new Trouble("down", found.what));
	return {};
}

/** Builds a description, whose members always have this order. */
function buildDescription(
	address: string,
	layer: Record<string, unknown>,
	{ fields, legend, count }: { fields: Field[]; legend: LegendEntry[]; count: number | null },
	mapWkid: number,
): FeatureDescription {
	const geometryType = textOf(layer.geometryType);
	const extent = readExtent(layer.extent);
	const bounds = extent && boundsOfExtent(extent);
	const abstract = typeof layer.description === "string" ? plainText(layer.description, maxAbstract) : "";
	return {
		service_url: address,
		name: textOf(layer.name),
		display_field: textOf(layer.displayField),
		geometry_type: geometryType,
		min_scale: Math.max(numberOf(layer.minScale) ?? 0, 0),
		max_scale: Math.max(numberOf(layer.maxScale) ?? 0, 0),
		extent: extent && reproject(extent, mapWkid),
		fields,
		renderer: readRenderer(objectOf(layer.drawingInfo).renderer, { fields, geometryType, legend }),
		count,
		...(abstract ? { abstract } : {}),
		...(bounds ? { bounds: [...bounds] } : {}),
	};
}

function readField(field: Record<string, unknown>): Field {
	const name = textOf(field.name);
	return { name, alias: textOf(field.alias) || name, type: textOf(field.type) };
}

/**
 * Asks a feature layer for one feature, as a viewer does. If the service refuses the query, that is not a fault of the
 * layer.
 * @throws {Trouble} if the service fails, or has no features
 */
export async function lookAtFeatures(address: string, ask: Ask): Promise<void> {
	const query = { where: "1=1", outFields: "*", returnGeometry: "true", resultRecordCount: "1", f: "json" };
	const answer = await ask(serviceAddress(address, "/query", query));
	if (!answer.ok) {
		// An older server ignores `resultRecordCount` and sends all features, so a large answer is no fault.
		if (answer.tooLarge || (answer.status !== null && answer.status < 500)) return;
		throw answer;
	}
	const { features, error } = objectOf(parseAnswer(answer.bytes));
	const code = numberOf(objectOf(error).code);
	if (code !== null && code >= 500) throw new Trouble("down", causeOf("arcgis-query", code));
	if (Array.isArray(features) && features.length === 0) throw new Trouble("empty", causeOf("no-features"));
}
