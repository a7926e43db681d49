import { Trouble } from "../../api/service/net/trouble.ts";
import { arcgisPath } from "../../registry/addresses.ts";
import type { LangDescription } from "../../registry/description.ts";
import { causeOf } from "../../registry/health.ts";
import { maxSibling, maxSiblings, maxTitle } from "../../registry/schemas/description.ts";
import { plainText } from "../../registry/untrusted-text.ts";
import { addressBelow } from "../../site/service/arcgis.ts";
import type { Capabilities } from "../../site/service/capabilities.ts";
import { isObject, listOf, objectOf, parseAnswer, textOf, wordOf } from "../../site/service/decode.ts";
import { agreementOf } from "./agreement.ts";
import { askDocument, askLayer } from "./arcgis/answers.ts";
import { sketchLayer } from "./arcgis/feature-layer.ts";
import { orNull, orTrouble } from "./finding.ts";
import type { Clients } from "./wms/read-capabilities.ts";

/** Accept the address of a service of an ArcGIS server, and of the WMS of such a service. */
const arcgisService =
	/^(.*\/rest\/services)\/(?:(.+)\/)?([^/]+)\/(MapServer|FeatureServer|ImageServer)(\/\d+)?\/?$/i;
const arcgisWms = /^(.*)\/services\/(?:(.+)\/)?([^/]+)\/(MapServer|ImageServer)\/WMSServer\/?(?:\?.*)?$/i;

/** Null for any other address. `catalogue` is the address of the server's list. */
export function arcgisPlaceOf(address: string) {
	const service = arcgisService.exec(address);
	const [, root, ...parts] = service ?? arcgisWms.exec(address) ?? [];
	if (root === undefined) return null;
	const [folder = "", name = "", type = ""] = parts.map((part = "") => decoded(part));
	const [, , , layer = ""] = parts;
	return {
		...{ folder, name, type },
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

/** Services as `Folder/Name/MapServer`; a `Trouble` if there is no list. */
export async function askList(catalogue: string, folder: string, ask: Clients["ask"]) {
	const answer = await ask(`${[catalogue, encodeURI(folder)].filter(Boolean).join("/")}?f=json`);
	if (!answer.ok) return answer;
	const { services, folders, error } = objectOf(parseAnswer(answer.bytes));
	if (!Array.isArray(services)) {
		const code = Number(objectOf(error).code) || null;
		return new Trouble("wrong", causeOf("no-list"), { status: code, isTemporary: code === null });
	}
	const paths = services.filter(isObject).map(({ name, type }) => `${textOf(name)}/${textOf(type)}`);
	return { paths, folders: listOf(folders).map(textOf).filter(Boolean) };
}

export async function askLayers(address: string, ask: Clients["ask"]) {
	const document = await orTrouble(askDocument(addressBelow(address, "/.."), "service", ask));
	if (document instanceof Trouble) return document;
	if (Array.isArray(document.layers)) return document.layers.filter(isObject);
	return new Trouble("wrong", causeOf("no-list"), { isTemporary: true });
}

/** Name or number, and title, which two layers may swap. */
export function siblingText(name: string, title = ""): string {
	return `${name} ${title}`.trim().slice(0, maxSibling);
}

/** By name. Of a large document's other layers, only the names are description. */
export function wmsSiblings({ layers, others }: Capabilities): Map<string, string> {
	const texts = [...layers].map(
		([name, { title }]) => [name, siblingText(name, plainText(title.any, maxTitle))] as const,
	);
	return new Map([...texts, ...[...others].map((name) => [name, siblingText(name)] as const)]);
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
	const { service_url: address } = description;
	const siblings = "entries" in description ? null : await siblingsOf(description, clients);
	if (!siblings) return description;
	const place = arcgisPlaceOf(address);
	const list = place && (await askList(place.catalogue, place.folder, clients.ask));
	const services =
		list && !(list instanceof Trouble) ? list.paths.map((path) => path.split("/").slice(-2)) : null;
	const top = place?.folder ? await askList(place.catalogue, "", clients.ask) : list;
	const text = siblingOf(description);
	return {
		...description,
		siblings: nearest(siblings, text),
		...(services && {
			services: nearest(
				services.map((parts) => parts.join("/")),
				place?.name ?? "",
			),
		}),
		...(top && !(top instanceof Trouble) && { folders: nearest(top.folders, place?.folder ?? "") }),
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

async function siblingsOf(
	description: Exclude<LangDescription, { entries: unknown }>,
	{ ask, read }: Clients,
) {
	const registered = siblingOf(description);
	if (!("renderer" in description)) {
		const capabilities = await orNull(read("WMS", description.service_url, description.layers));
		const texts = capabilities && wmsSiblings(capabilities);
		texts?.delete(description.layers[0] ?? "");
		return texts && [...texts.values()];
	}
	const layers = await askLayers(description.service_url, ask);
	if (layers instanceof Trouble) return null;
	const others = layers.map(({ id, name }) => ({ id: wordOf(id), name: textOf(name) }));
	const siblings: string[] = [];
	let namesakes = 0;
	for (const { id, name } of others) {
		const text = siblingText(id, name);
		if (text === registered) continue;
		// Only the number tells namesakes apart: after a swap of numbers, one that is not alike is a candidate.
		const isAsked = name === description.name && namesakes < maxNamesakes;
		if (isAsked) namesakes += 1;
		const address = addressBelow(description.service_url, `/../${id}`);
		const document = isAsked ? await orNull(askLayer(address, ask)) : null;
		if (!document || agreementOf(description, sketchLayer(address, document)).sure !== null)
			siblings.push(text);
	}
	return siblings;
}
