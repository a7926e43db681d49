import { createEmpty, extend } from "ol/extent.js";
import { Trouble } from "../../api/service/net/trouble.ts";
import { arcgisPath } from "../../registry/addresses.ts";
import { causeOf } from "../../registry/causes.ts";
import {
	type FeatureDescription,
	type LangDescription,
	type NamedDescription,
	plainKeywords,
} from "../../registry/description.ts";
import { degreesOf } from "../../registry/projections.ts";
import { maxAbstract, maxTitle } from "../../registry/schemas/description.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { plainText } from "../../registry/untrusted-text.ts";
import type { Bounds } from "../../site/data/entries.ts";
import { addressBelow } from "../../site/service/arcgis.ts";
import {
	boxOf,
	type Capabilities,
	type CapabilitiesLayer,
	findLayer,
	keywordsFor,
	type OgcService,
	scalesOf,
	textFor,
} from "../../site/service/capabilities.ts";
import { isObject, listOf, numberOf, textOf, wordOf } from "../../site/service/decode.ts";
import { type Agreement, agreementOf, hasItsName } from "./agreement.ts";
import { askDocument } from "./arcgis/answers.ts";
import { askAllLayers, describeLayer, sketchLayer } from "./arcgis/feature-layer.ts";
import { checkEntries, type Described, orNull, quote } from "./finding.ts";
import { siblingText, wmsSiblings } from "./siblings.ts";
import type { Clients, ReadCapabilities } from "./wms/read-capabilities.ts";

/**
 * Without names it describes the whole service.
 * @throws {Trouble}
 */
export async function describeLayers(
	service: OgcService,
	address: string,
	names: readonly string[],
	read: ReadCapabilities,
	lang: Lang = "en",
): Promise<Described> {
	const [first] = names;
	const capabilities = await read(service, address, names);
	const { layers, others, root, count } = capabilities;
	if (first === undefined) {
		const entries = [...layers.keys(), ...others.keys()];
		checkEntries(entries);
		const { min_scale, max_scale, ...about } = aboutLayers(root ? [root] : [], capabilities, lang);
		return { description: { service_url: address, entries, ...about }, missing: null };
	}
	const matching = names.flatMap((name) => findLayer(capabilities, name)?.layer ?? []);
	if (matching.length === 0) throw new Trouble("wrong", causeOf("no-layer", quote(first), count));
	const about = aboutLayers(matching, capabilities, lang);
	return { description: { service_url: address, layers: [...names], ...about }, missing: null };
}

/** Title and abstract of several layers are the root layer's. */
function aboutLayers(
	layers: readonly CapabilitiesLayer[],
	capabilities: Capabilities,
	lang: Lang,
): Omit<NamedDescription, "service_url" | "from" | "layers"> {
	const source = layers.length === 1 ? layers[0] : capabilities.root;
	const title = plainText(source ? textFor(source.title, lang) : "", maxTitle);
	const abstract = plainText(source ? textFor(source.abstract, lang) : "", maxAbstract);
	const keywords = plainKeywords(layers.flatMap((layer) => keywordsFor(layer, lang)));
	const bounds = boundsOf(layers.map((layer) => boxOf(layer, capabilities)));
	const { smallest = 0, largest = 0 } = (layers.length === 1 && source && scalesOf(source)) || {};
	return {
		...(title ? { title } : {}),
		...(abstract ? { abstract } : {}),
		...(keywords.length > 0 ? { keywords } : {}),
		...(bounds ? { bounds: [...bounds] } : {}),
		...(smallest > 0 ? { min_scale: smallest } : {}),
		...(largest > 0 ? { max_scale: largest } : {}),
	};
}

/** Null if one of the boxes is not known. */
function boundsOf(boxes: readonly (Bounds | null)[]): Bounds | null {
	const all = createEmpty();
	for (const box of boxes) {
		if (!box) return null;
		extend(all, [...box]);
	}
	return degreesOf(...(all as [number, number, number, number]));
}

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
export async function findAlike(known: LangDescription, address: string, clients: Clients): Promise<Alike[]> {
	if ("renderer" in known) return findInArcgis(known, address, clients);
	return "layers" in known ? findInWms(known, address, clients) : [];
}

async function findInArcgis(known: FeatureDescription, address: string, clients: Clients): Promise<Alike[]> {
	const { ask } = clients;
	const path = arcgisPath.exec(new URL(address).pathname);
	if (!path) return [];
	const own = Number(path[2] ?? -1);
	const describeAll = async (layers: readonly Record<string, unknown>[]): Promise<Alike[]> => {
		if (layers.length > maxAlike) return [];
		const found: Alike[] = [];
		for (const id of layers.flatMap((one) => numberOf(one.id) ?? [])) {
			const service_url = addressBelow(address, `/../${id}`);
			found.push(...alikeAt(known, service_url, await orNull(describeLayer(service_url, clients))));
		}
		return found;
	};
	const document = await orNull(askDocument(addressBelow(address, "/.."), "service", ask));
	if (!document) return [];
	const wasThere = ({ id, name }: Record<string, unknown>) =>
		id === own || known.siblings?.includes(siblingText(wordOf(id), textOf(name)));
	const isNamed = (one: Record<string, unknown>) =>
		!wasThere(one) && textOf(one.name).toLowerCase() === known.name.toLowerCase();
	const named = listOf(document.layers).filter(isObject).filter(isNamed);
	const found = await describeAll(named);
	if (found.length > 0 || named.length > maxAlike) return found;
	// A renamed layer can be identified only by its document.
	const isAlike = (one: Record<string, unknown>) =>
		!wasThere(one) && agreementOf(known, sketchLayer(address, one)).sure !== null;
	return describeAll((await askAllLayers(address, ask)).filter(isAlike));
}

async function findInWms(known: NamedDescription, address: string, { read }: Clients): Promise<Alike[]> {
	const [own] = known.layers;
	const capabilities = await orNull(read("WMS", address, known.layers));
	const found: Alike[] = [];
	const texts = capabilities ? wmsSiblings(capabilities) : new Map<string, string>();
	for (const layer of capabilities?.layers.keys() ?? []) {
		// A text without a title is of an earlier version.
		const wasThere = [texts.get(layer), layer].some((text) => known.siblings?.includes(text ?? ""));
		if (layer === own || wasThere || known.layers.length > 1) continue;
		const described = await orNull(describeLayers("WMS", address, [layer], read));
		found.push(...alikeAt(known, address, described).map((alike) => ({ ...alike, layer })));
	}
	return found.length > maxAlike ? [] : found;
}

export function alikeAt(known: LangDescription, service_url: string, described: Described | null): Alike[] {
	if (!described) return [];
	const agreement = agreementOf(known, described.description);
	return agreement.sure ? [{ service_url, description: described.description, agreement }] : [];
}

/**
 * Layers that were never harvested are not compared.
 * @throws {Trouble} if another layer now has the number or name, and the earlier layer has another one
 */
export async function checkSameLayer(
	known: LangDescription | null,
	now: LangDescription,
	clients: Clients,
): Promise<void> {
	if (!known || known.from || hasItsName(agreementOf(known, now))) return;
	const alike = await findAlike(known, now.service_url, clients);
	const same = alike.find(({ agreement }) => agreement.sure === "same");
	if (!same) return;
	const place = quote(same.layer ?? same.service_url);
	const [name, before] = [quote(nameOf(now)), quote(nameOf(known))];
	throw new Trouble("wrong", causeOf("other-layer", name, before, place));
}

function nameOf(description: LangDescription): string {
	return ("renderer" in description ? description.name : description.title) ?? "";
}
