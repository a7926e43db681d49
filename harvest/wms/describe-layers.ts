import { plainKeywords } from "../../registry/described.ts";
import type { NamedDescription } from "../../registry/description.ts";
import { plainText } from "../../registry/markup.ts";
import { degreesOf } from "../../registry/projections.ts";
import { maxAbstract, maxTitle } from "../../schemas/description.ts";
import { checkEntries, type Described, quote, Trouble } from "../finding.ts";
import { type Box, boxOf, type CapabilitiesLayer, type OgcService } from "./capabilities.ts";
import type { ReadCapabilities } from "./read-capabilities.ts";

/**
 * Describes the named layers of an OGC service from its capabilities. Without names it describes the whole service, with
 * all layers that have a name, in the order of the document.
 * @throws {Trouble}
 */
export async function describeLayers(
	service: OgcService,
	address: string,
	names: readonly string[],
	read: ReadCapabilities,
): Promise<Described> {
	const [first] = names;
	const { layers, root } = await read(service, address, first ?? null);
	if (first === undefined) {
		const entries = [...layers.keys()];
		checkEntries(entries);
		const about = aboutLayers(root ? [root] : [], root);
		return { description: { service_url: address, entries, ...about }, missing: null };
	}
	const found = names.flatMap((name) => layers.get(name) ?? []);
	if (found.length === 0) {
		throw new Trouble("wrong", `has no layer ${quote(first)} among its ${layers.size}`);
	}
	const about = aboutLayers(found, root);
	return { description: { service_url: address, layers: [...names], ...about }, missing: null };
}

/** Title, abstract, keywords and bounds of one layer; for several, title and abstract are the root layer's. */
function aboutLayers(
	layers: readonly CapabilitiesLayer[],
	root: CapabilitiesLayer | null,
): Omit<NamedDescription, "service_url" | "from" | "layers"> {
	const source = layers.length === 1 ? layers[0] : root;
	const title = plainText(source?.title ?? "", maxTitle);
	const abstract = plainText(source?.abstract ?? "", maxAbstract);
	const keywords = plainKeywords(layers.flatMap((layer) => layer.keywords));
	const bounds = boundsOf(layers.map(boxOf));
	return {
		...(title ? { title } : {}),
		...(abstract ? { abstract } : {}),
		...(keywords.length > 0 ? { keywords } : {}),
		...(bounds ? { bounds: [...bounds] } : {}),
	};
}

/** The bounds of all boxes; null if one of them is not known. */
function boundsOf(boxes: readonly (Box | null)[]) {
	const known = boxes.filter((box) => box !== null);
	if (known.length < boxes.length || known.length === 0) return null;
	return degreesOf(
		Math.min(...known.map(({ west }) => west)),
		Math.min(...known.map(({ south }) => south)),
		Math.max(...known.map(({ east }) => east)),
		Math.max(...known.map(({ north }) => north)),
	);
}
