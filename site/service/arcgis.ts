import { withoutParameters } from "../../registry/addresses.ts";
import { isObject } from "../../registry/untrusted.ts";
import { type Cause, causeOf } from "../data/health.ts";
import { listOf, numberOf, objectOf, parseAnswer, quote, textOf, wordOf } from "./decode.ts";

export type Document = Record<string, unknown>;

export function addressBelow(address: string, path: string): string {
	const url = new URL(withoutParameters(address, false));
	for (const more of [path, ""]) url.pathname = url.pathname.replace(/(?<!\/)\/+$/, "") + more;
	return url.href;
}

export function documentAddress(address: string, path = "", query: Record<string, string> = {}): string {
	const url = new URL(addressBelow(address, path));
	for (const [name, text] of Object.entries({ ...query, f: "json" })) url.searchParams.set(name, text);
	return url.href;
}

const lastingCodes = new Set([400, 403, 404, 498, 499]);

/** Errors of ArcGIS come with status 200. Both are null if the answer is not a JSON object. */
export function readDocument(bytes: Uint8Array, limit?: number) {
	const value = parseAnswer(bytes, limit);
	const error = isObject(value) ? errorIn(value) : null;
	return { document: isObject(value) && !error ? value : null, error };
}

/** `wrong` lasts until the registration or the layer's sharing changes. `isSite`: of the whole site. */
function errorIn(document: Document) {
	const { error, status } = document;
	// {"status":"error","messages":["Could not access any server machines."],"code":500}
	const isSite = error === undefined && textOf(status).toLowerCase() === "error";
	if (error === undefined && !isSite) return null;
	const source = isSite ? document : objectOf(error);
	const words = wordsOf(isObject(error) || isSite ? source : { message: error });
	const word = wordOf(source.code);
	const code = word.trim() === "" || !Number.isFinite(Number(word)) ? null : Number(word);
	// Older servers have the code 500 for a layer that does not exist.
	const isGone = !isSite && /not found|does not exist|invalid (?:url|layer)/i.test(words);
	const isLasting = (code !== null && lastingCodes.has(code)) || isGone;
	const state = isLasting ? ("wrong" as const) : ("down" as const);
	const what = causeOf("arcgis-error", word || "?", quote(words));
	return { state, what, words, status: code, isSite };
}

function wordsOf({ message, details, messages }: Document): string {
	const texts = [message, details, messages].flat();
	return texts.map((text) => textOf(text).trim()).find((text) => text !== "") ?? "";
}

export function isImageServer({ pixelType, serviceDataType, bandCount }: Document): boolean {
	return textOf(pixelType) !== "" || textOf(serviceDataType) !== "" || numberOf(bandCount) !== null;
}

export function isVectorTiles({ defaultStyles, resourceInfo }: Document): boolean {
	return defaultStyles !== undefined || objectOf(resourceInfo).styleVersion !== undefined;
}

/** Null for the document of a feature layer. */
export function layerProblem(document: Document): Cause | null {
	const { type, layers, services, fields, drawingInfo, features } = document;
	if (Array.isArray(features)) return causeOf("other-kind", "FeatureSet");
	if (textOf(type) === "Feature Layer") return null;
	if (isImageServer(document)) return causeOf("other-kind", "ImageServer");
	if (isVectorTiles(document)) return causeOf("other-kind", "VectorTileServer");
	if (textOf(type) !== "") return causeOf("other-kind", quote(textOf(type)));
	if (Array.isArray(layers) || Array.isArray(services)) return causeOf("whole-service");
	// A layer may have no type.
	return Array.isArray(fields) || isObject(drawingInfo) ? null : causeOf("unlike", "ArcGIS");
}

export function isId(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function innerIds({ subLayerIds, subLayers }: Document): number[] {
	const objects = listOf(subLayers).filter(isObject);
	return [...listOf(subLayerIds), ...objects.map((layer) => layer.id)].filter(isId);
}

export function isGroup(layer: Document): boolean {
	return textOf(layer.type) === "Group Layer" || innerIds(layer).length > 0;
}

export function featureLayersOf(document: Document): Document[] | null {
	if (!Array.isArray(document.layers)) return null;
	const layers = document.layers.filter(isObject);
	return layers.filter((layer) => ["", "Feature Layer"].includes(textOf(layer.type)) && !isGroup(layer));
}
