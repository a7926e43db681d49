import { serviceNameIn, withoutForm } from "../../registry/addresses.ts";
import { type Cause, causeOf } from "../../registry/health.ts";
import type { ServiceType } from "../../registry/registration.ts";
import { groupBy } from "../../registry/untrusted-text.ts";
import { isObject, listOf, numberOf, objectOf, parseAnswer, quote, textOf, wordOf } from "./decode.ts";

export type Document = Record<string, unknown>;

export function addressBelow(address: string, path: string): string {
	const url = new URL(withoutForm(address));
	for (const more of [path, ""]) url.pathname = url.pathname.replace(/(?<!\/)\/+$/, "") + more;
	return url.href;
}

export function documentAddress(address: string, path = "", query: Record<string, string> = {}): string {
	const url = new URL(addressBelow(address, path));
	for (const [name, text] of Object.entries({ ...query, f: "json" })) url.searchParams.set(name, text);
	return url.href;
}

const lastingCodes = new Set([400, 403, 404, 498, 499]);

/**
 * Errors of ArcGIS come with status 200. Both are null if the answer is not a JSON object.
 * @param limit most objects and lists
 */
export function readDocument(bytes: Uint8Array, limit?: number) {
	const value = parseAnswer(bytes, limit);
	const error = isObject(value) ? errorIn(value) : null;
	return { document: isObject(value) && !error ? value : null, error };
}

/** `wrong` remains until the registration, or the layer's sharing, is changed. `isSite`: of the whole site. */
function errorIn(document: Document) {
	const { error, status } = document;
	// The site's own error: {"status":"error","messages":["Could not access any server
	// machines."],"code":500}.
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

/** The message, else the first of the details that is not empty. */
function wordsOf({ message, details, messages }: Document): string {
	const texts = [message, details, messages].flat();
	return texts.map((text) => textOf(text).trim()).find((text) => text !== "") ?? "";
}

function isImageServer({ pixelType, serviceDataType, bandCount }: Document): boolean {
	return textOf(pixelType) !== "" || textOf(serviceDataType) !== "" || numberOf(bandCount) !== null;
}

function isVectorTiles({ defaultStyles, resourceInfo }: Document): boolean {
	return defaultStyles !== undefined || objectOf(resourceInfo).styleVersion !== undefined;
}

/** Null for the document of a feature layer. */
export function layerProblem(document: Document): Cause | null {
	const { type, layers, services, fields, drawingInfo, features } = document;
	if (Array.isArray(features)) return causeOf("features");
	if (textOf(type) === "Feature Layer") return null;
	if (isImageServer(document)) return causeOf("other-kind", "ImageServer");
	if (isVectorTiles(document)) return causeOf("other-kind", "VectorTileServer");
	if (textOf(type) === "Group Layer") return causeOf("group");
	if (textOf(type) !== "") return causeOf("other-kind", quote(textOf(type)));
	if (Array.isArray(layers) || Array.isArray(services)) return causeOf("whole-service");
	// A layer may have no type.
	return Array.isArray(fields) || isObject(drawingInfo) ? null : causeOf("unlike", "ArcGIS");
}

export function serviceProblem(document: Document, type: ServiceType): Cause | null {
	if (isVectorTiles(document)) return causeOf("other-kind", "VectorTileServer");
	if (type === "esriTile") return isObject(document.tileInfo) ? null : causeOf("no-tiles");
	if (type === "esriImage") return isImageServer(document) ? null : causeOf("unlike", "ImageServer");
	if (isImageServer(document)) return causeOf("other-kind", "ImageServer");
	// Only some servers say the type of a service.
	if (!/^(?:(?:Map|Feature)Server)?$/.test(textOf(document.type)) || !Array.isArray(document.layers))
		return causeOf("no-service");
	return leavesOf(document).length > 0 ? null : causeOf("no-layers");
}

function isId(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

function innerIds({ subLayerIds, subLayers }: Document): number[] {
	const objects = listOf(subLayers).filter(isObject);
	return [...listOf(subLayerIds), ...objects.map((layer) => layer.id)].filter(isId);
}

export function isGroup(layer: Document): boolean {
	return textOf(layer.type) === "Group Layer" || innerIds(layer).length > 0;
}

/** In the service's order, with the layers of each group in its place, as viewers expand it. */
export function leavesOf(document: Document): number[] {
	const layers = listOf(document.layers).filter(isObject);
	const byId = new Map(layers.map((layer) => [layer.id, layer]));
	const byParent = groupBy(layers, (layer) => layer.parentLayerId);
	const reached = new Set<number>();
	const leaves: number[] = [];
	// A stack: the last is read next.
	const pending = layers.filter(({ parentLayerId }) => !byId.has(parentLayerId)).reverse();
	while (pending.length > 0) {
		const layer = pending.pop() as Document;
		const { id } = layer;
		if (!isId(id) || reached.has(id)) continue;
		reached.add(id);
		const inner = innerIds(layer).map((innerId) => byId.get(innerId) ?? { id: innerId });
		const children = inner.length > 0 ? inner : (byParent.get(id) ?? []);
		for (const child of children.toReversed()) pending.push(child);
		if (children.length === 0 && !isGroup(layer)) leaves.push(id);
	}
	return leaves;
}

const defaultMapNames = new Set(["", "layers", "map"]);

export function serviceTitle({ documentInfo, mapName }: Document, address: string): string {
	const title = textOf(objectOf(documentInfo).Title).trim();
	if (title !== "") return title;
	const name = textOf(mapName).trim();
	return defaultMapNames.has(name.toLowerCase()) ? serviceNameIn(address) : name;
}

export function featureLayersOf(document: Document): Document[] | null {
	if (!Array.isArray(document.layers)) return null;
	const layers = document.layers.filter(isObject);
	return layers.filter((layer) => ["", "Feature Layer"].includes(textOf(layer.type)) && !isGroup(layer));
}

export function lacksReference({ extent }: Document): boolean {
	if (numberOf(objectOf(extent).xmin) === null) return false;
	const { latestWkid, wkid, wkt, wkt2 } = objectOf(objectOf(extent).spatialReference);
	return ![latestWkid, wkid].some(numberOf) && ![wkt, wkt2].some(textOf);
}
