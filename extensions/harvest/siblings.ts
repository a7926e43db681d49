import { arcgisPath } from "../../registry/addresses.ts";
import type { FeatureDescription, LangDescription, NamedDescription } from "../../registry/description.ts";
import { maxSibling, maxSiblings, maxTitle } from "../../registry/schemas/description.ts";
import { plainText } from "../../registry/untrusted.ts";
import { addressBelow } from "../../site/service/arcgis.ts";
import type { Capabilities } from "../../site/service/capabilities.ts";
import { textOf, wordOf } from "../../site/service/decode.ts";
import { agreementOf } from "./agreement.ts";
import { askLayer, askLayers, askList } from "./arcgis/answers.ts";
import { sketchLayer } from "./arcgis/feature-layer.ts";
import { orNull } from "./ask.ts";
import type { Clients } from "./clients.ts";

/** Name or number, and title: two layers may swap their names. */
export function siblingText(name: string, title = ""): string {
	return `${name} ${title}`.trim().slice(0, maxSibling);
}

/** Name → text. A large document's other layers have no titles here. */
export function wmsSiblings({ layers, others }: Capabilities): Map<string, string> {
	const texts = new Map([...others].map((name) => [name, siblingText(name)]));
	for (const [name, { title }] of layers) texts.set(name, siblingText(name, plainText(title.any, maxTitle)));
	return texts;
}

function siblingOf(description: LangDescription) {
	if ("entries" in description) return "";
	if ("layers" in description) return siblingText(description.layers[0] ?? "", description.title);
	return siblingText(numberIn(description.service_url), description.name);
}

export function knowsAll(siblings: readonly string[] | undefined): siblings is string[] {
	return siblings !== undefined && siblings.length < maxSiblings;
}

/**
 * Adds the other layers of the service, and in ArcGIS the services beside it: a layer does not move to what was there
 * before. Without a list, nothing is added.
 */
export async function withSiblings(description: LangDescription, clients: Clients): Promise<LangDescription> {
	const siblings = "entries" in description ? null : await siblingsOf(description, clients);
	if (!siblings) return description;
	const place = arcgisPlaceOf(description.service_url);
	const listIn = async (folder: string) => place && orNull(askList(place.catalogue, folder, clients.ask));
	const list = await listIn(place?.folder ?? "");
	const top = place?.folder ? await listIn("") : list;
	const services = list?.services.map(({ name, type }) => `${name}/${type}`);
	return {
		...description,
		siblings: selectNearest(siblings, siblingOf(description)),
		...(services && { services: selectNearest(services, place?.name ?? "") }),
		...(top && { folders: selectNearest(top.folders, place?.folder ?? "") }),
	};
}

/** The texts around the middle one, sorted: another order in the service changes nothing. */
function selectNearest(texts: readonly string[], middleText: string) {
	const sorted = [...new Set(texts.map((text) => text.slice(0, maxSibling)).filter(Boolean))].sort();
	const middle = sorted.filter((text) => text < middleText).length;
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
		// Namesakes may swap their numbers: one that is not alike stays a candidate.
		const isAsked = name === description.name && namesakes <= maxNamesakes;
		const address = addressBelow(description.service_url, `/../${id}`);
		const document = isAsked ? await orNull(askLayer(address, ask)) : null;
		if (!document || agreementOf(description, sketchLayer(address, document)).sure !== null)
			siblings.push(text);
	}
	return siblings;
}

/** Accept addresses of an ArcGIS service, and of its WMS. */
const arcgisService =
	/^(.*\/rest\/services)\/(?:(.+)\/)?([^/]+)\/(MapServer|FeatureServer|ImageServer)(\/\d+)?\/?$/i;
const arcgisWms = /^(.*)\/services\/(?:(.+)\/)?([^/]+)\/(MapServer|ImageServer)\/WMSServer\/?(?:\?.*)?$/i;

/** Null for other addresses. `catalogue`: the address of the server's list. */
export function arcgisPlaceOf(address: string) {
	const service = arcgisService.exec(address);
	const [, root, ...parts] = service ?? arcgisWms.exec(address) ?? [];
	if (root === undefined) return null;
	const [folder = "", name = "", type = "", layer = ""] = parts.map((part = "") => decode(part));
	return {
		folder,
		name,
		type,
		catalogue: service ? root : `${root}/rest/services`,
		/** Another service on the server, with the same number of the layer. */
		addressOf: (path: string, catalogue: string) =>
			service
				? `${catalogue}/${encodeURI(path)}${layer}`
				: `${catalogue.replace("/rest/", "/")}/${encodeURI(path)}/WMSServer`,
	};
}

function decode(text: string) {
	try {
		return decodeURI(text);
	} catch {
		return text;
	}
}

export function numberIn(address: string): string {
	return arcgisPath.exec(new URL(address).pathname)?.[2] ?? "";
}
