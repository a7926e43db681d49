import { arcgisPath } from "../../registry/addresses.ts";
import type { FeatureDescription, LangDescription, NamedDescription } from "../../registry/description.ts";
import { causeOf } from "../../registry/health.ts";
import { maxSibling, maxSiblings, maxTitle } from "../../registry/schemas/description.ts";
import { plainText } from "../../registry/untrusted-text.ts";
import { addressBelow, type Document } from "../../site/service/arcgis.ts";
import type { Capabilities } from "../../site/service/capabilities.ts";
import { numberOf, textOf, wordOf } from "../../site/service/decode.ts";
import { type Agreement, agreementOf, hasItsName } from "./agreement.ts";
import { askDocument, askLayer, askLayers, askList, objectsIn } from "./arcgis/answers.ts";
import { describeLayer, sketchLayer } from "./arcgis/feature-layer.ts";
import { Trouble } from "./ask.ts";
import { type Described, orNull, quote } from "./finding.ts";
import { type Clients, describeLayers } from "./wms/read-capabilities.ts";

export interface Alike {
	service_url: string;
	layer?: string;
	description: LangDescription;
	agreement: Agreement;
}

const maxAlike = 5;

/**
 * Finds the layers of a service that agree with an earlier description and are new there. Empty if more than five agree.
 * Never rejects.
 * @param address of a layer of the ArcGIS service, or of the WMS; that layer itself is left out
 */
export async function findAlike(
	before: LangDescription,
	address: string,
	clients: Clients,
): Promise<Alike[]> {
	if ("renderer" in before) return findInArcgis(before, address, clients);
	return "layers" in before ? findInWms(before, address, clients) : [];
}

async function findInArcgis(before: FeatureDescription, address: string, clients: Clients): Promise<Alike[]> {
	const describeAll = async (layers: readonly Document[]): Promise<Alike[]> => {
		const alike: Alike[] = [];
		for (const id of layers.length > maxAlike ? [] : layers.flatMap((layer) => numberOf(layer.id) ?? [])) {
			const service_url = addressBelow(address, `/../${id}`);
			alike.push(...alikeAt(before, service_url, await orNull(describeLayer(service_url, clients))));
		}
		return alike;
	};
	const listed = await orNull(askLayers(address, clients.ask));
	if (!listed) return [];
	const isNew = ({ id, name }: Document) =>
		wordOf(id) !== numberIn(address) && !before.siblings?.includes(siblingText(wordOf(id), textOf(name)));
	const isNamesake = (layer: Document) => textOf(layer.name).toLowerCase() === before.name.toLowerCase();
	const namesakes = listed.filter(isNew).filter(isNamesake);
	const alike = await describeAll(namesakes);
	if (alike.length > 0 || namesakes.length > maxAlike) return alike;
	// A renamed layer can be identified only by its document.
	const isAlike = (layer: Document) => agreementOf(before, sketchLayer(address, layer)).sure !== null;
	const all = await orNull(askDocument(address, clients.ask, "/../layers"));
	return describeAll(objectsIn(all?.layers).filter(isNew).filter(isAlike));
}

async function findInWms(before: NamedDescription, address: string, { read }: Clients): Promise<Alike[]> {
	const [name, second] = before.layers;
	const capabilities = await orNull(read("WMS", address, before.layers));
	if (!capabilities || second !== undefined) return [];
	const texts = wmsSiblings(capabilities);
	const alike: Alike[] = [];
	for (const layer of capabilities.layers.keys()) {
		// A text without a title is of an earlier version.
		const wasThere = [texts.get(layer) ?? "", layer].some((text) => before.siblings?.includes(text));
		if (layer === name || wasThere) continue;
		const described = await orNull(describeLayers("WMS", address, [layer], read));
		alike.push(...alikeAt(before, address, described).map((match) => ({ ...match, layer })));
	}
	return alike.length > maxAlike ? [] : alike;
}

export function alikeAt(before: LangDescription, service_url: string, described: Described | null): Alike[] {
	if (!described) return [];
	const agreement = agreementOf(before, described.description);
	return agreement.sure ? [{ service_url, description: described.description, agreement }] : [];
}

/**
 * Layers that were never harvested are not compared.
 * @throws {Trouble} if another layer now has the number or name, and the earlier layer has another one
 */
export async function checkSameLayer(
	before: LangDescription | null,
	now: LangDescription,
	clients: Clients,
): Promise<void> {
	if (!before || before.from || hasItsName(agreementOf(before, now))) return;
	const alike = await findAlike(before, now.service_url, clients);
	const same = alike.find(({ agreement }) => agreement.sure === "same");
	if (!same) return;
	const values = [nameOf(now), nameOf(before), same.layer ?? same.service_url].map(quote);
	throw new Trouble("wrong", causeOf("other-layer", ...values));
}

function nameOf(description: LangDescription): string {
	return ("renderer" in description ? description.name : description.title) ?? "";
}

/** Accept the address of a service of an ArcGIS server, and of the WMS of such a service. */
const arcgisService =
	/^(.*\/rest\/services)\/(?:(.+)\/)?([^/]+)\/(MapServer|FeatureServer|ImageServer)(\/\d+)?\/?$/i;
const arcgisWms = /^(.*)\/services\/(?:(.+)\/)?([^/]+)\/(MapServer|ImageServer)\/WMSServer\/?(?:\?.*)?$/i;

/** Null for any other address. `catalogue` is the address of the server's list. */
export function arcgisPlaceOf(address: string) {
	const service = arcgisService.exec(address);
	const [, root, ...parts] = service ?? arcgisWms.exec(address) ?? [];
	if (root === undefined) return null;
	const [folder = "", name = "", type = "", layer = ""] = parts.map((part = "") => decoded(part));
	return {
		folder,
		name,
		type,
		catalogue: service ? root : `${root}/rest/services`,
		/** Of another service on the server, with the same number of the layer. */
		addressOf: (path: string, catalogue: string) =>
			service
				? `${catalogue}/${encodeURI(path)}${layer}`
				: `${catalogue.replace("/rest/", "/")}/${encodeURI(path)}/WMSServer`,
	};
}

function decoded(text: string): string {
	try {
		return decodeURI(text);
	} catch {
		return text;
	}
}

/** Name or number, and title, which two layers may swap. */
function siblingText(name: string, title = ""): string {
	return `${name} ${title}`.trim().slice(0, maxSibling);
}

/** By name. Of a large document's other layers, only the names are known. */
function wmsSiblings({ layers, others }: Capabilities): Map<string, string> {
	const texts = new Map([...others].map((name) => [name, siblingText(name)]));
	for (const [name, { title }] of layers) texts.set(name, siblingText(name, plainText(title.any, maxTitle)));
	return texts;
}

function siblingOf(description: LangDescription): string {
	if ("entries" in description) return "";
	if ("layers" in description) return siblingText(description.layers[0] ?? "", description.title);
	return siblingText(numberIn(description.service_url), description.name);
}

export function numberIn(address: string): string {
	return arcgisPath.exec(new URL(address).pathname)?.[2] ?? "";
}

export function knowsAll(siblings: readonly string[] | undefined): siblings is string[] {
	return siblings !== undefined && siblings.length < maxSiblings;
}

/**
 * Adds what is beside a layer: the layers of its service, and in ArcGIS the services of its folder. What was there before
 * is not where the layer went. Without a list, nothing is added.
 */
export async function withSiblings(description: LangDescription, clients: Clients): Promise<LangDescription> {
	const siblings = "entries" in description ? null : await siblingsOf(description, clients);
	if (!siblings) return description;
	const place = arcgisPlaceOf(description.service_url);
	const listIn = async (folder: string) => place && orNull(askList(place.catalogue, folder, clients.ask));
	const list = await listIn(place?.folder ?? "");
	const top = place?.folder ? await listIn("") : list;
	const services = list?.paths.map((path) => path.split("/").slice(-2).join("/"));
	return {
		...description,
		siblings: nearest(siblings, siblingOf(description)),
		...(services && { services: nearest(services, place?.name ?? "") }),
		...(top && { folders: nearest(top.folders, place?.folder ?? "") }),
	};
}

/** In the alphabet, each once: another order of a service changes nothing. */
function nearest(texts: readonly string[], middleText: string): string[] {
	const sorted = [...new Set(texts.map((text) => text.slice(0, maxSibling)).filter(Boolean))].sort();
	const at = sorted.findIndex((text) => text >= middleText);
	const middle = at < 0 ? sorted.length : at;
	const first = Math.min(Math.max(middle - maxSiblings / 2, 0), Math.max(sorted.length - maxSiblings, 0));
	return sorted.slice(first, first + maxSiblings);
}

const maxNamesakes = 5;

async function siblingsOf(description: FeatureDescription | NamedDescription, { ask, read }: Clients) {
	const registered = siblingOf(description);
	if (!("renderer" in description)) {
		const capabilities = await orNull(read("WMS", description.service_url, description.layers));
		const texts = capabilities && wmsSiblings(capabilities);
		texts?.delete(description.layers[0] ?? "");
		return texts && [...texts.values()];
	}
	const layers = await orNull(askLayers(description.service_url, ask));
	if (!layers) return null;
	const siblings: string[] = [];
	let namesakes = 0;
	for (const layer of layers) {
		const [id, name] = [wordOf(layer.id), textOf(layer.name)];
		const text = siblingText(id, name);
		if (text === registered) continue;
		if (name === description.name) namesakes += 1;
		// Only the number tells namesakes apart: after a swap of numbers, one that is not alike is a candidate.
		const isAsked = name === description.name && namesakes <= maxNamesakes;
		const address = addressBelow(description.service_url, `/../${id}`);
		const document = isAsked ? await orNull(askLayer(address, ask)) : null;
		if (!document || agreementOf(description, sketchLayer(address, document)).sure !== null)
			siblings.push(text);
	}
	return siblings;
}
