import type { Ask } from "../../../api/service/net/ask.ts";
import { Trouble } from "../../../api/service/net/trouble.ts";
import { causeOf } from "../../../registry/causes.ts";
import type { Extent } from "../../../registry/extent.ts";
import { projectionOf, reproject } from "../../../registry/projections.ts";
import {
	isObject,
	listOf,
	numberOf,
	objectOf,
	parseAnswer,
	textOf,
	wordOf,
} from "../../../site/service/answer.ts";
import { checkEntries, type Described, quote } from "../finding.ts";

/**
 * Asks for a document of an ArcGIS service: `<service_url><path>?f=json`.
 * @param what what is registered there, for the text of a refusal
 * @throws {Trouble} if there is no document
 */
export async function askDocument(
	address: string,
	what: "layer" | "service",
	ask: Ask,
	path = "",
	query: Record<string, string> = {},
): Promise<Record<string, unknown>> {
	const answer = await ask(serviceAddress(address, path, { ...query, f: "json" }));
	if (!answer.ok) throw answer;
	const document = parseAnswer(answer.bytes);
	if (!isObject(document)) {
		throw new Trouble("wrong", causeOf(`not-arcgis-${what}`), { isTemporary: true });
	}
	if (document.error === undefined) return document;
	throw errorTrouble(objectOf(document.error));
}

/** The layer's address with `path` appended, and with a query in addition to the layer's own query. */
export function serviceAddress(address: string, path: string, query: Record<string, string>): string {
	const url = new URL(address);
	url.pathname = url.pathname.replace(/(?<!\/)\/+$/, "") + path;
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name, text);
	url.hash = "";
	return url.href;
}

/** Codes of ArcGIS errors that remain until the registration, or the layer's sharing, is changed. */
const lastingCodes = new Set([400, 403, 404, 498, 499]);

/** ArcGIS sends its errors with status 200. Older servers have the code 500 for a layer that does not exist. */
function errorTrouble(error: Record<string, unknown>): Trouble {
	const code = numberOf(error.code);
	const message = textOf(error.message);
	const isLasting =
		(code !== null && lastingCodes.has(code)) ||
		/not found|does not exist|invalid (?:url|layer)/i.test(message);
	const word = wordOf(error.code);
	const what = word
		? causeOf("arcgis-error", word, quote(message))
		: causeOf("arcgis-uncoded", quote(message));
	return new Trouble(isLasting ? "wrong" : "down", what, { status: code });
}

/**
 * Asks a MapServer or FeatureServer for its layers: those of the top level in the service's order, and for each group the
 * layers in it.
 * @throws {Trouble}
 */
export async function describeArcgisService(address: string, ask: Ask): Promise<Described> {
	const document = await askDocument(address, "service", ask);
	if (textOf(document.type) !== "" || !Array.isArray(document.layers)) {
		throw new Trouble("wrong", causeOf("no-service"));
	}
	// A layer in no group has -1. Older servers omit the member in services without groups.
	const onTop = document.layers
		.filter(isObject)
		.filter((layer) => (numberOf(layer.parentLayerId) ?? -1) === -1);
	const entries = [...new Set(onTop.flatMap(idsOf))];
	checkEntries(entries);
	return { description: { service_url: address, entries }, missing: null };
}

/** A layer's own id, or the ids of a group's layers: a service lists these as ids, a layer's document as objects. */
function idsOf({ id, subLayerIds, subLayers }: Record<string, unknown>): number[] {
	const objects = listOf(subLayers).filter(isObject);
	const inside = [...listOf(subLayerIds), ...objects.map((layer) => layer.id)].filter(isId);
	return inside.length > 0 ? inside : [id].filter(isId);
}

function isId(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Projects a service's extent to the map's spatial reference, and rounds its numbers outwards.
 * @param given an ArcGIS extent, not checked
 * @param mapWkid well-known id of the map's spatial reference
 * @returns null if the numbers, or one of the two spatial references, are unusable
 */
export function projectExtent(given: unknown, mapWkid: number): Extent | null {
	const extent = readExtent(given);
	return extent && reproject(extent, mapWkid);
}

/**
 * Parses an ArcGIS extent, which may be any value.
 * @returns null if the numbers, or the spatial reference, are unusable
 */
export function readExtent(given: unknown): Extent | null {
	const extent = objectOf(given);
	const sides = ["xmin", "ymin", "xmax", "ymax"].map((name) => numberOf(extent[name]) ?? NaN);
	const [xmin, ymin, xmax, ymax] = sides as [number, number, number, number];
	// `latestWkid` is EPSG's id if `wkid` is Esri's older one.
	const { latestWkid, wkid: olderWkid } = objectOf(extent.spatialReference);
	const wkid = [latestWkid, olderWkid].map((id) => numberOf(id) ?? 0).find(projectionOf);
	return wkid && xmin <= xmax && ymin <= ymax ? { wkid, xmin, ymin, xmax, ymax } : null;
}
