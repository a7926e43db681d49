import type { FeatureDescription, Field } from "../../../registry/description.ts";
import { type Cause, causeOf } from "../../../registry/health.ts";
import { maxAbstract } from "../../../registry/schemas/description.ts";
import { plainText } from "../../../registry/untrusted-text.ts";
import {
	type Document,
	documentAddress,
	lacksReference,
	readDocument,
} from "../../../site/service/arcgis.ts";
import { inDegrees, readArea } from "../../../site/service/boxes.ts";
import { isObject, listOf, numberOf, objectOf, quote, textOf } from "../../../site/service/decode.ts";
import { type Area, onMap } from "../../../site/service/projections.ts";
import { type Ask, Trouble } from "../ask.ts";
import { type Described, orTrouble } from "../finding.ts";
import { askDocument, askLayer } from "./answers.ts";
import { countClasses, readRenderer } from "./renderer.ts";
import { type LegendEntry, readLegend } from "./symbol.ts";

/** Queries for all features: by `1=1`, as most clients ask; and in the layer's extent, since firewalls refuse `1=1`. */
function queryForms(layer: Document): [Record<string, string>, Record<string, string>] {
	const { xmin, ymin, xmax, ymax } = objectOf(layer.extent);
	const sides = [xmin, ymin, xmax, ymax];
	const fields = listOf(layer.fields).filter(isObject);
	const idField = textOf(fields.find(({ type }) => type === "esriFieldTypeOID")?.name) || "OBJECTID";
	const isPlaced = sides.every((side) => numberOf(side) !== null);
	const place = {
		geometry: sides.join(","),
		geometryType: "esriGeometryEnvelope",
		spatialRel: "esriSpatialRelIntersects",
	};
	return [{ where: "1=1" }, isPlaced ? place : { where: `${idField}>-1` }];
}

/**
 * Asks for one feature, as a viewer does; if that is refused, in another form.
 * @returns what could not be seen of a layer whose service answers, but not to these queries
 * @throws {Trouble} if the service fails, has no features, or offers no queries
 */
export async function lookAtFeatures(address: string, ask: Ask): Promise<Cause | null> {
	const whole = { outFields: "*", returnGeometry: "true" };
	const first = await askFeatures(address, { where: "1=1", ...whole, resultRecordCount: "1" }, ask);
	if (first === 0) throw new Trouble("empty", causeOf("no-features"));
	if (typeof first === "number") return null;
	const layer = await askLayer(address, ask);
	const [, form] = queryForms(layer);
	const second = await askFeatures(address, { ...form, returnGeometry: "false" }, ask);
	// The extent may be too small, so that no feature in it proves nothing.
	if (second === 0) return causeOf("unseen-feature", first.what);
	return typeof second === "number" ? null : judgeRefusal(second, layer);
}

/** `isFailure`: a page, or an internal error. */
type Refusal = { what: Cause; status: number | null; isFailure: boolean };

/** By which a service wants a token. */
const tokenCodes: ReadonlySet<unknown> = new Set([401, 498, 499]);

function judgeRefusal({ what, status, isFailure }: Refusal, { capabilities }: Document): Cause {
	if (isFailure) throw new Trouble("down", what, { status });
	const isOffered = typeof capabilities !== "string" || /\bquery\b/i.test(capabilities);
	if (isOffered || tokenCodes.has(status)) return causeOf("unseen-feature", what);
	throw new Trouble("wrong", causeOf("no-queries", quote(capabilities)));
}

/**
 * @returns how many came, at least; or why none came
 * @throws {Trouble} if the service does not answer, or its whole site has an error
 */
async function askFeatures(
	address: string,
	query: Record<string, string>,
	ask: Ask,
): Promise<number | Refusal> {
	const answer = await ask(documentAddress(address, "/query", query));
	if (!answer.ok) {
		// An older server ignores `resultRecordCount` and sends all features, so a large answer is no fault.
		if (answer.tooLarge) return 1;
		if (answer.isTemporary) throw answer;
		return { what: answer.what, status: answer.status, isFailure: false };
	}
	const { document, error } = readDocument(answer.bytes);
	if (error?.isSite) throw new Trouble(error.state, error.what, error);
	if (error) {
		const { what, status } = error;
		return { what, status, isFailure: status === null || status < 400 || status >= 500 };
	}
	if (Array.isArray(document?.features)) return document.features.length;
	return { what: causeOf("not-features"), status: null, isFailure: document === null };
}

/** Fields are columns in the viewer's grid; classes are images in every fragment. */
const maxFieldsOrClasses = 1000;

/** Characters, in every fragment of the layer. */
const maxDescriptionLength = 512 * 1024;

const tooLarge = causeOf("large-layer", maxFieldsOrClasses, maxDescriptionLength / 1024);

/** Has no effect: sketches are compared by `bounds`, in degrees. */
const sketchWkid = 4326;

export async function describeLayer(
	address: string,
	{ ask, mapWkid }: { ask: Ask; mapWkid: number },
): Promise<Described> {
	const layer = await askLayer(address, ask);
	const fields = listOf(layer.fields).filter(isObject);
	if (fields.length > maxFieldsOrClasses || hasTooManyClasses(layer)) throw new Trouble("down", tooLarge);
	const troubles: Trouble[] = [];
	const legend = await askLegend(address, ask, troubles);
	const count = await askCount(address, layer, ask, troubles);
	const service = lacksReference(layer) ? await askExtra(address, "/..", ask, troubles) : {};
	const area = readArea(layer, service.spatialReference);
	const parts = { fields: fields.map(readField), legend, count, area };
	const description = buildDescription(address, layer, parts, mapWkid);
	if (JSON.stringify(description).length > maxDescriptionLength) throw new Trouble("down", tooLarge);
	return { description, missing: troubles[0] ?? null };
}

/** Describes a layer from its document alone. */
export function sketchLayer(address: string, layer: Document): FeatureDescription {
	const fields = listOf(layer.fields).filter(isObject).slice(0, maxFieldsOrClasses).map(readField);
	const drawn = hasTooManyClasses(layer) ? { ...layer, drawingInfo: {} } : layer;
	const parts = { fields, legend: [], count: null, area: readArea(layer) };
	return buildDescription(address, drawn, parts, sketchWkid);
}

/** An answer may have a million classes. */
function hasTooManyClasses({ drawingInfo }: Document): boolean {
	return countClasses(objectOf(objectOf(drawingInfo).renderer)) > maxFieldsOrClasses;
}

export async function askAllLayers(address: string, ask: Ask): Promise<Document[]> {
	const { layers } = await askExtra(address, "/../layers", ask, []);
	return listOf(layers).filter(isObject);
}

const mapLayer = /\/MapServer\/(\d+)\/*$/i;

async function askLegend(address: string, ask: Ask, troubles: Trouble[]): Promise<LegendEntry[]> {
	const [, number] = mapLayer.exec(new URL(address).pathname) ?? [];
	if (number === undefined) return [];
	return readLegend(await askExtra(address, "/../legend", ask, troubles), Number(number));
}

async function askCount(address: string, layer: Document, ask: Ask, troubles: Trouble[]) {
	const [first, second] = queryForms(layer);
	const count = (query: Record<string, string>) =>
		orTrouble(askDocument(address, "service", ask, "/query", { ...query, returnCountOnly: "true" }));
	const answer = await count(first);
	// Another form of the query is of no use if the service is down.
	const isDown = answer instanceof Trouble && answer.state === "down" && answer.isTemporary;
	const last = answer instanceof Trouble && !isDown ? await count(second) : answer;
	const features = numberOf(orNothing(last, troubles).count) ?? -1;
	return features < 0 ? null : features;
}

/** @param troubles gets a temporary failure. A permanent one is ignored, so that the rest is stored. */
function orNothing(document: Document | Trouble, troubles: Trouble[]): Document {
	if (!(document instanceof Trouble)) return document;
	if (document.isTemporary) troubles.push(new Trouble("down", document.what));
	return {};
}

async function askExtra(address: string, path: string, ask: Ask, troubles: Trouble[]): Promise<Document> {
	return orNothing(await orTrouble(askDocument(address, "service", ask, path)), troubles);
}

interface LayerParts {
	fields: Field[];
	legend: LegendEntry[];
	count: number | null;
	area: Area | null;
}

function buildDescription(
	address: string,
	layer: Document,
	{ fields, legend, count, area }: LayerParts,
	mapWkid: number,
): FeatureDescription {
	const geometryType = textOf(layer.geometryType);
	const bounds = area && inDegrees(area);
	const abstract = typeof layer.description === "string" ? plainText(layer.description, maxAbstract) : "";
	return {
		service_url: address,
		name: textOf(layer.name),
		display_field: textOf(layer.displayField),
		geometry_type: geometryType,
		min_scale: Math.max(numberOf(layer.minScale) ?? 0, 0),
		max_scale: Math.max(numberOf(layer.maxScale) ?? 0, 0),
		extent: area && onMap(area, mapWkid),
		fields,
		renderer: readRenderer(objectOf(layer.drawingInfo).renderer, { fields, geometryType, legend }),
		count,
		...(abstract ? { abstract } : {}),
		...(bounds ? { bounds: [...bounds] } : {}),
	};
}

export function readField(field: Document): Field {
	const name = textOf(field.name);
	return { name, alias: textOf(field.alias) || name, type: textOf(field.type) };
}
