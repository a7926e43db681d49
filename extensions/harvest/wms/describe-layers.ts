import { createEmpty, extend } from "ol/extent.js";
import { Trouble } from "../../../api/service/net/trouble.ts";
import { causeOf } from "../../../registry/causes.ts";
import { type NamedDescription, plainKeywords } from "../../../registry/description.ts";
import { degreesOf } from "../../../registry/projections.ts";
import { maxAbstract, maxTitle } from "../../../registry/schemas/description.ts";
import type { Lang } from "../../../registry/smallkey.ts";
import { plainText } from "../../../registry/untrusted-text.ts";
import type { Bounds } from "../../../site/data/entries.ts";
import {
	boxOf,
	type Capabilities,
	type CapabilitiesLayer,
	findLayer,
	keywordsFor,
	type OgcService,
	scalesOf,
	textFor,
} from "../../../site/service/capabilities.ts";
import { checkEntries, type Described, quote } from "../finding.ts";
import type { ReadCapabilities } from "./read-capabilities.ts";

/**
 * Describes the named layers of an OGC service from its capabilities. Without names it describes the whole service, with
 * all layers that have a name, in the order of the document.
 * @param lang of the texts, if the document has several
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

/** Title, abstract, keywords and bounds of one layer; for several, title and abstract are the root layer's. */
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

/** The bounds of all boxes; null if one of them is not known. */
function boundsOf(boxes: readonly (Bounds | null)[]): Bounds | null {
	const all = createEmpty();
	for (const box of boxes) {
		if (!box) return null;
		extend(all, [...box]);
	}
	return degreesOf(...(all as [number, number, number, number]));
}
