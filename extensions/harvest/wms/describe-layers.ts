import { plainKeywords } from "../../../registry/description.ts";
import { maxAbstract, maxTitle } from "../../../registry/schemas/description.ts";
import type { Lang } from "../../../registry/smallkey.ts";
import { plainText } from "../../../registry/untrusted.ts";
import { causeOf } from "../../../site/data/health.ts";
import { unionOf } from "../../../site/service/boxes.ts";
import {
	boxOf,
	type Capabilities,
	type CapabilitiesLayer,
	findLayer,
	type OgcService,
	type Scales,
	textFor,
	withParents,
} from "../../../site/service/capabilities.ts";
import { quote } from "../../../site/service/decode.ts";
import { type Bounds, degreesOf } from "../../../site/service/projections.ts";
import { Trouble } from "../ask.ts";
import type { DescriptionResult } from "../description.ts";
import { checkEntries } from "../service.ts";
import type { ReadCapabilities } from "./read-capabilities.ts";

/** Without names it describes the whole service. @throws {Trouble} */
export async function describeLayers(
	service: OgcService,
	address: string,
	names: readonly string[],
	read: ReadCapabilities,
	lang: Lang = "en",
): Promise<DescriptionResult> {
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
function aboutLayers(layers: readonly CapabilitiesLayer[], capabilities: Capabilities, lang: Lang) {
	const source = layers.length === 1 ? layers[0] : capabilities.root;
	const title = plainText(source ? textFor(source.title, lang) : "", maxTitle);
	const abstract = plainText(source ? textFor(source.abstract, lang) : "", maxAbstract);
	const keywords = plainKeywords(layers.flatMap((layer) => keywordsFor(layer, lang)));
	const boxes = layers.map((layer) => boxOf(layer, capabilities)).filter((box) => box !== null);
	const box = boxes.length === layers.length && boxes.reduce<Bounds | null>(unionOf, null);
	const bounds = box && degreesOf(...box);
	const { smallest = 0, largest = 0 } = (layers.length === 1 && source && scalesOf(source)) || {};
	return {
		...(title && { title }),
		...(abstract && { abstract }),
		...(keywords.length > 0 && { keywords }),
		...(bounds && { bounds: [...bounds] }),
		...(smallest > 0 && { min_scale: smallest }),
		...(largest > 0 && { max_scale: largest }),
	};
}

function keywordsFor({ keywords }: CapabilitiesLayer, lang: Lang) {
	const matching = keywords.filter(([of]) => of === "" || of === lang);
	return (matching.length > 0 ? matching : keywords).map(([, text]) => text);
}

/** The layer's, else those of its nearest parent with some (06-042, table 6). */
export function scalesOf(layer: CapabilitiesLayer): Scales | null {
	for (const { scales } of withParents(layer)) {
		if (!scales) continue;
		const { smallest, largest } = scales;
		// Some services swap the two bounds, which would hide the layer at every scale.
		return smallest > 0 && smallest < largest ? { ...scales, smallest: largest, largest: smallest } : scales;
	}
	return null;
}
