import { type Cause, causeOf } from "../../../site/data/health.ts";
import { type Document, documentAddress, readDocument } from "../../../site/service/arcgis.ts";
import { numberOf, objectOf, quote, textOf } from "../../../site/service/decode.ts";
import { type Ask, orTrouble, Trouble } from "../ask.ts";
import { askDocument, askLayer, objectsIn } from "./answers.ts";

type Query = Record<string, string>;

const allFeatures: Query = { where: "1=1" };

/** Some firewalls refuse `1=1`. */
function fallbackQuery(layer: Document): Query {
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

const tokenRequiredCodes: ReadonlySet<unknown> = new Set([401, 498, 499]);

/**
 * Asks for one feature, as a viewer does; if that is refused, in another form.
 * @returns what could not be seen of a layer whose service answers, but not to these queries
 * @throws {Trouble} if the service fails, has no features, or offers no queries
 */
export async function lookAtFeatures(address: string, ask: Ask): Promise<Cause | null> {
	const asViewer = { ...allFeatures, outFields: "*", returnGeometry: "true", resultRecordCount: "1" };
	const first = await askFeatures(address, asViewer, ask);
	if (first === 0) throw new Trouble("empty", causeOf("no-features"));
	if (typeof first === "number") return null;
	const layer = await askLayer(address, ask);
	const second = await askFeatures(address, { ...fallbackQuery(layer), returnGeometry: "false" }, ask);
	// The extent may be too small.
	if (second === 0) return causeOf("unseen-feature", first.what);
	if (typeof second === "number") return null;
	if (second.state === "down") throw second;
	const { capabilities } = layer;
	const isOffered = typeof capabilities !== "string" || /\bquery\b/i.test(capabilities);
	if (isOffered || tokenRequiredCodes.has(second.status)) return causeOf("unseen-feature", second.what);
	throw new Trouble("wrong", causeOf("no-queries", quote(capabilities)));
}

/**
 * @returns the number of features, or why there are none: `down` for a page or an internal error, `wrong` for a refusal
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
	return new Trouble(document ? "wrong" : "down", causeOf("unlike", "ArcGIS (/query)"));
}

export async function askCount(address: string, layer: Document, ask: Ask): Promise<Document | Trouble> {
	const count = (query: Query) =>
		orTrouble(askDocument(address, ask, "/query", { ...query, returnCountOnly: "true" }));
	const answer = await count(allFeatures);
	// A service that is down does not answer the other query either.
	const isDown = answer instanceof Trouble && answer.state === "down" && answer.isTemporary;
	return answer instanceof Trouble && !isDown ? count(fallbackQuery(layer)) : answer;
}
