import type { Field, LangDescription } from "../../registry/description.ts";
import { isObject, listOf, numberOf, objectOf, parseAnswer, textOf, wordOf } from "../answer.ts";
import { type Fault, quote } from "../finding.ts";
import type { Ask, NoAnswer } from "../net/ask.ts";
import { projectExtent } from "./extent.ts";
import { type LegendEntry, readLegend } from "./legend.ts";
import { maxClasses, readRenderer } from "./renderer.ts";

/** Why a feature layer cannot be described. */
export interface Trouble {
	kind: Fault;
	/** One line, about the service. */
	text: string;
}

/** A feature layer's description, or why there is none. */
export type Described =
	| {
			description: LangDescription;
			/** What could not be asked for now, so that an earlier, fuller description is better; null: all is there. */
			missing: Trouble | null;
	  }
	| { description: null; trouble: Trouble };

/** The document of one feature layer, or why there is none. */
export type LayerDocument = { layer: Record<string, unknown> } | { layer: null; trouble: Trouble };

/** Most fields of a layer that are taken over: each one is a column in the viewer's grid. */
const maxFields = 1000;

/** Largest description of one language, in characters: it is in every fragment of the layer. */
const maxDescriptionLength = 512 * 1024;

/** Asks for the document of one feature layer: `<service_url>?f=json`. Never throws. */
export async function askLayer(address: string, ask: Ask, signal?: AbortSignal): Promise<LayerDocument> {
	const answer = await ask(serviceAddress(address, "", { f: "json" }), signal);
	if (!answer.ok) return { layer: null, trouble: noAnswer(answer) };
	const document = parseAnswer(answer.bytes);
	const trouble = documentTrouble(document);
	return trouble ? { layer: null, trouble } : { layer: objectOf(document) };
}

/**
 * Asks a feature layer's service what the layer is: its document, its legend and its number of features. Never throws.
 * @param mapWkid well-known id of the map's spatial reference, for the extent
 */
export async function describeLayer(
	address: string,
	ask: Ask,
	mapWkid: number,
	signal?: AbortSignal,
): Promise<Described> {
	const { layer, ...rest } = await askLayer(address, ask, signal);
	if (!layer) return { description: null, ...(rest as { trouble: Trouble }) };
	const fields = listOf(layer.fields).filter(isObject);
	if (fields.length > maxFields) return tooMuch(`more than ${maxFields} fields`);
	const legend = await askLegend(address, ask, signal);
	const count = await askCount(address, ask, signal);
	const description = buildDescription(
		address,
		layer,
		fields.map(readField),
		legend.found,
		count.found,
		mapWkid,
	);
	if (!description) return tooMuch(`more than ${maxClasses} classes`);
	if (JSON.stringify(description).length > maxDescriptionLength) {
		return tooMuch(`symbols and fields of more than ${maxDescriptionLength / 1024} KiB`);
	}
	return { description, missing: legend.missing ?? count.missing };
}

function tooMuch(what: string): Described {
	return { description: null, trouble: { kind: "server", text: `names ${what}, too many to be served` } };
}

function noAnswer({ kind, text }: NoAnswer): Trouble {
	return { kind, text };
}

/** An address below the layer's (`path`), with a query; the layer's own query stays. */
function serviceAddress(address: string, path: string, query: Record<string, string>): string {
	const url = new URL(address);
	url.pathname = url.pathname.replace(/\/+$/, "") + path;
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name, text);
	url.hash = "";
	return url.href;
}

function documentTrouble(document: unknown): Trouble | null {
	const wrong = (text: string): Trouble => ({ kind: "registration", text });
	if (!isObject(document)) return wrong("does not answer as an ArcGIS layer does, with a JSON object");
	if (document.error !== undefined) return errorTrouble(objectOf(document.error));
	const type = textOf(document.type);
	if (type === "Group Layer") return wrong("is a group layer: register one of the layers in it");
	if (type === "" && (Array.isArray(document.layers) || Array.isArray(document.services))) {
		return wrong("is a whole service: the address must end with the number of one layer");
	}
	if (type !== "" && type !== "Feature Layer") return wrong(`is no feature layer, but: ${quote(type)}`);
	const isLayer = type !== "" || Array.isArray(document.fields) || isObject(document.drawingInfo);
	return isLayer ? null : wrong("does not answer as an ArcGIS layer does");
}

/** Codes of ArcGIS errors that stay until the registration, or the layer's sharing, is changed. */
const lastingCodes = new Set([400, 403, 404, 498, 499]);

/** ArcGIS sends its errors with status 200, and older servers say 500 of a layer that is not there. */
function errorTrouble(error: Record<string, unknown>): Trouble {
	const code = numberOf(error.code);
	const message = textOf(error.message);
	const isLasting =
		(code !== null && lastingCodes.has(code)) ||
		/not found|does not exist|invalid (?:url|layer)/i.test(message);
	const text = `answers with ArcGIS error ${wordOf(error.code) || "without a code"}: ${quote(message)}`;
	return { kind: isLasting ? "registration" : "server", text };
}

/** What was asked for beside the layer's document; `missing` where it may be there another time. */
interface Extra<T> {
	found: T;
	missing: Trouble | null;
}

/** The layer's number at the end of the address of a map service's layer. */
const mapLayer = /\/MapServer\/(\d+)\/*$/i;

/** A feature service has no legend; its classes are drawn from their symbols. */
async function askLegend(address: string, ask: Ask, signal?: AbortSignal): Promise<Extra<LegendEntry[]>> {
	const url = new URL(address);
	const layerId = mapLayer.exec(url.pathname)?.[1];
	if (layerId === undefined) return { found: [], missing: null };
	url.pathname = url.pathname.replace(/\/+\d+\/*$/, "");
	const { document, missing } = await askExtra(
		serviceAddress(url.href, "/legend", { f: "json" }),
		ask,
		signal,
	);
	return { found: readLegend(document, Number(layerId)), missing };
}

async function askCount(address: string, ask: Ask, signal?: AbortSignal): Promise<Extra<number | null>> {
	const query = { where: "1=1", returnCountOnly: "true", f: "json" };
	const { document, missing } = await askExtra(serviceAddress(address, "/query", query), ask, signal);
	const count = numberOf(document.count);
	return { found: count !== null && count >= 0 ? count : null, missing };
}

/** An extra's document, an empty one where there is none; `missing` where there may be one another time. */
async function askExtra(
	address: string,
	ask: Ask,
	signal?: AbortSignal,
): Promise<{ document: Record<string, unknown>; missing: Trouble | null }> {
	const answer = await ask(address, signal);
	if (!answer.ok) return { document: {}, missing: isPassing(answer) ? noAnswer(answer) : null };
	const document = parseAnswer(answer.bytes);
	if (!isObject(document)) {
		const text = "does not answer as an ArcGIS service does, with a JSON object";
		return { document: {}, missing: { kind: "server", text } };
	}
	if (document.error === undefined) return { document, missing: null };
	const error = objectOf(document.error);
	const trouble = errorTrouble(error);
	const isLasting = trouble.kind === "registration" || isRefusal(numberOf(error.code));
	return { document: {}, missing: isLasting ? null : trouble };
}

/** Whether an extra may be there another time; one that never comes must not freeze the rest of the description. */
function isPassing({ kind, tooLarge, status }: NoAnswer): boolean {
	return kind === "server" && !tooLarge && !isRefusal(status);
}

/** Statuses of a refusal that may pass: the service was slow, or busy (RFC 9110 15.5.9, RFC 6585 section 4). */
const passingRefusals = new Set([408, 429]);

/** Whether a status says that the service does not offer this at all. */
function isRefusal(status: number | null): boolean {
	if (status === null || passingRefusals.has(status)) return false;
	return (status >= 400 && status < 500) || status === 501;
}

/** A description in the one order of its members; null where the renderer has too many classes. */
function buildDescription(
	address: string,
	layer: Record<string, unknown>,
	fields: Field[],
	legend: LegendEntry[],
	count: number | null,
	mapWkid: number,
): LangDescription | null {
	const geometryType = textOf(layer.geometryType);
	const drawingInfo = objectOf(layer.drawingInfo);
	const renderer = readRenderer(drawingInfo.renderer, { fields, geometryType, legend });
	if (!renderer) return null;
	return {
		service_url: address,
		name: textOf(layer.name),
		display_field: textOf(layer.displayField),
		geometry_type: geometryType,
		min_scale: Math.max(numberOf(layer.minScale) ?? 0, 0),
		max_scale: Math.max(numberOf(layer.maxScale) ?? 0, 0),
		extent: projectExtent(layer.extent, mapWkid),
		fields,
		renderer,
		count,
	};
}

function readField(field: Record<string, unknown>): Field {
	const name = textOf(field.name);
	return { name, alias: textOf(field.alias) || name, type: textOf(field.type) };
}
