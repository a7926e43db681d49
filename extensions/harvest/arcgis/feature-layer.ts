import type { FeatureDescription, Field } from "../../../registry/description.ts";
import { type Cause, causeOf } from "../../../registry/health.ts";
import { maxAbstract } from "../../../registry/schemas/description.ts";
import { plainText } from "../../../registry/untrusted-text.ts";
import { type Document, documentAddress, readDocument } from "../../../site/service/arcgis.ts";
import { numberOf, objectOf, quote, textOf } from "../../../site/service/decode.ts";
import { boundsOf, onMap } from "../../../site/service/projections.ts";
import { type Ask, Trouble } from "../ask.ts";
import { type Described, orTrouble } from "../finding.ts";
import { askDocument, askLayer, objectsIn } from "./answers.ts";
import { lacksReference, readArea } from "./area.ts";
import { countClasses, readRenderer } from "./renderer.ts";
import { readLegend } from "./symbol.ts";

type Query = Record<string, string>;

/** As most clients ask for all features. */
const everything: Query = { where: "1=1" };

/** Firewalls refuse `1=1`. */
function otherQuery(layer: Document): Query {
	const { xmin, ymin, xmax, ymax } = objectOf(layer.extent);
	const sides = [xmin, ymin, xmax, ymax];
	if (sides.some((side) => numberOf(side) === null)) {
		const idField = objectsIn(layer.fields).find(({ type }) => type === "esriFieldTypeOID");
		return { where: `${textOf(idField?.name) || "OBJECTID"}>-1` };
	}
	return {
		geometry: sides.join(","),
		geometryType: "esriGeometryEnvelope",
		spatialRel: "esriSpatialRelIntersects",
	};
}

/** By which a service wants a token. */
const tokenCodes: ReadonlySet<unknown> = new Set([401, 498, 499]);

/**
 * Asks for one feature, as a viewer does; if that is refused, in another form.
 * @returns what could not be seen of a layer whose service answers, but not to these queries
 * @throws {Trouble} if the service fails, has no features, or offers no queries
 */
export async function lookAtFeatures(address: string, ask: Ask): Promise<Cause | null> {
	const asViewer = { ...everything, outFields: "*", returnGeometry: "true", resultRecordCount: "1" };
	const first = await askFeatures(address, asViewer, ask);
	if (first === 0) throw new Trouble("empty", causeOf("no-features"));
	if (typeof first === "number") return null;
	const layer = await askLayer(address, ask);
	const second = await askFeatures(address, { ...otherQuery(layer), returnGeometry: "false" }, ask);
	// The extent may be too small, so that no feature in it proves nothing.
	if (second === 0) return causeOf("unseen-feature", first.what);
	if (typeof second === "number") return null;
	if (second.state === "down") throw second;
	const { capabilities } = layer;
	const isOffered = typeof capabilities !== "string" || /\bquery\b/i.test(capabilities);
	if (isOffered || tokenCodes.has(second.status)) return causeOf("unseen-feature", second.what);
	throw new Trouble("wrong", causeOf("no-queries", quote(capabilities)));
}

/**
 * @returns how many came, at least; or why none came: `down` for a page and for an internal error, `wrong` for a refusal
 * @throws {Trouble} if the service does not answer, or its whole site has an error
 */
async function askFeatures(address: string, query: Query, ask: Ask): Promise<number | Trouble> {
	const answer = await ask(documentAddress(address, "/query", query));
	if (!answer.ok) {
		// An older server ignores `resultRecordCount` and sends all features, so a large answer is no fault.
		if (answer.tooLarge) return 1;
		if (answer.isTemporary) throw answer;
		return new Trouble("wrong", answer.what, { status: answer.status });
	}
	const { document, error } = readDocument(answer.bytes);
	if (error?.isSite) throw new Trouble(error.state, error.what, error);
	if (error) {
		const { what, status } = error;
		const isFailure = status === null || status < 400 || status >= 500;
		return new Trouble(isFailure ? "down" : "wrong", what, { status });
	}
	if (Array.isArray(document?.features)) return document.features.length;
	return new Trouble(document ? "wrong" : "down", causeOf("not-features"));
}

/** Fields are columns in the viewer's grid; classes are images in every fragment. */
const maxFieldsOrClasses = 1000;

/** Characters, in every fragment of the layer. */
const maxDescriptionLength = 512 * 1024;

const tooLarge = causeOf("large-layer", maxFieldsOrClasses, maxDescriptionLength / 1024);

/** An answer may have a million classes. */
function hasTooManyClasses({ drawingInfo }: Document): boolean {
	return countClasses(objectOf(objectOf(drawingInfo).renderer)) > maxFieldsOrClasses;
}

export function fieldsOf(layer: Document): Field[] {
	return objectsIn(layer.fields).map((field) => {
		const name = textOf(field.name);
		return { name, alias: textOf(field.alias) || name, type: textOf(field.type) };
	});
}

export async function describeLayer(
	address: string,
	{ ask, mapWkid }: { ask: Ask; mapWkid: number },
): Promise<Described> {
	const layer = await askLayer(address, ask);
	if (fieldsOf(layer).length > maxFieldsOrClasses || hasTooManyClasses(layer))
		throw new Trouble("down", tooLarge);
	const askBeside = (path: string) => orTrouble(askDocument(address, ask, path));
	const answers = {
		legend: numberInMap(address) === null ? {} : await askBeside("/../legend"),
		count: await askCount(address, layer, ask),
		service: lacksReference(layer) ? await askBeside("/..") : {},
	};
	const description = buildDescription(address, layer, mapWkid, answers);
	if (JSON.stringify(description).length > maxDescriptionLength) throw new Trouble("down", tooLarge);
	// A permanent failure is ignored, so that the rest is stored.
	const troubles = Object.values(answers).filter((answer) => answer instanceof Trouble);
	const missing = troubles.find(({ isTemporary }) => isTemporary);
	return { description, missing: missing ? new Trouble("down", missing.what) : null };
}

/** Null in a FeatureServer. */
function numberInMap(address: string): number | null {
	const [, number] = /\/MapServer\/(\d+)\/*$/i.exec(new URL(address).pathname) ?? [];
	return number === undefined ? null : Number(number);
}

async function askCount(address: string, layer: Document, ask: Ask): Promise<Document | Trouble> {
	const count = (query: Query) =>
		orTrouble(askDocument(address, ask, "/query", { ...query, returnCountOnly: "true" }));
	const answer = await count(everything);
	// Another form of the query is of no use if the service is down.
	const isDown = answer instanceof Trouble && answer.state === "down" && answer.isTemporary;
	return answer instanceof Trouble && !isDown ? count(otherQuery(layer)) : answer;
}

/** Describes a layer from its document alone. */
export function sketchLayer(address: string, layer: Document): FeatureDescription {
	const fields = objectsIn(layer.fields).slice(0, maxFieldsOrClasses);
	const drawingInfo = hasTooManyClasses(layer) ? {} : layer.drawingInfo;
	// The reference has no effect: sketches are compared by `bounds`, in degrees.
	return buildDescription(address, { ...layer, fields, drawingInfo }, 4326, {});
}

/** @param answers other documents of the service, as far as they are known */
function buildDescription(
	address: string,
	layer: Document,
	mapWkid: number,
	answers: Partial<Record<"legend" | "count" | "service", Document | Trouble>>,
): FeatureDescription {
	const fields = fieldsOf(layer);
	const geometryType = textOf(layer.geometryType);
	const legend = readLegend(answers.legend, numberInMap(address));
	const area = readArea(layer, objectOf(answers.service).spatialReference);
	const bounds = area && boundsOf(area);
	const abstract = typeof layer.description === "string" ? plainText(layer.description, maxAbstract) : "";
	const count = numberOf(objectOf(answers.count).count) ?? -1;
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
		count: count < 0 ? null : count,
		...(abstract && { abstract }),
		...(bounds && { bounds: [...bounds] }),
	};
}
