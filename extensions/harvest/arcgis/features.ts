import type { Ask } from "../../../api/service/net/ask.ts";
import { Trouble } from "../../../api/service/net/trouble.ts";
import { type Cause, causeOf } from "../../../registry/causes.ts";
import { type Document, documentAddress, readDocument } from "../../../site/service/arcgis.ts";
import { isObject, listOf, numberOf, objectOf, quote, textOf } from "../../../site/service/decode.ts";
import { askLayer, troubleOf } from "./answers.ts";

/**
 * Queries for all features of a layer: by `1=1`, as most clients; and in the layer's extent, as viewers that load features
 * on demand, since firewalls refuse `1=1`.
 */
export function queryForms(layer: Document): [Record<string, string>, Record<string, string>] {
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
 * Asks a feature layer for one feature, as a viewer does; if that is refused, in another form.
 * @returns what could not be seen of a layer that is well: its service answers, but not to these queries
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

interface Refusal {
	what: Cause;
	/** Status of the answer, or the service's code; null if there is none. */
	status: number | null;
	/** Whether no client would get features, whatever it asks for: a page, or an internal error. */
	isFailure: boolean;
}

/** Codes by which a service wants a token, or another one. */
const tokenCodes: ReadonlySet<unknown> = new Set([401, 498, 499]);

/** Judges a layer that answers no query with features. @throws {Trouble} */
function judgeRefusal({ what, status, isFailure }: Refusal, { capabilities }: Document): Cause {
	if (isFailure) throw new Trouble("down", what, { status });
	const isOffered = typeof capabilities !== "string" || /\bquery\b/i.test(capabilities);
	if (isOffered || tokenCodes.has(status)) return causeOf("unseen-feature", what);
	throw new Trouble("wrong", causeOf("no-queries", quote(capabilities)));
}

/**
 * Asks for features.
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
	if (error?.isSite) throw troubleOf(error);
	if (error) return { what: error.what, status: error.status, isFailure: !isRefusalCode(error.status) };
	if (Array.isArray(document?.features)) return document.features.length;
	return { what: causeOf("not-features"), status: null, isFailure: document === null };
}

function isRefusalCode(code: number | null): boolean {
	return code !== null && code >= 400 && code < 500;
}
