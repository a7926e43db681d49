import type { FeatureDescription, LangDescription, NamedDescription } from "../../registry/description.ts";
import { causeOf } from "../../site/data/health.ts";
import { addressBelow, type Document } from "../../site/service/arcgis.ts";
import { numberOf, quote, textOf, wordOf } from "../../site/service/decode.ts";
import { type Agreement, agreementOf, hasItsName } from "./agreement.ts";
import { askDocument, askLayers, objectsIn } from "./arcgis/answers.ts";
import { describeLayer, sketchLayer } from "./arcgis/feature-layer.ts";
import { orNull, Trouble } from "./ask.ts";
import type { Clients } from "./clients.ts";
import type { DescriptionResult } from "./description.ts";
import { numberIn, siblingText, wmsSiblings } from "./siblings.ts";
import { describeLayers } from "./wms/describe-layers.ts";

/** A layer that may be the described one, at another place. */
export interface Match {
	service_url: string;
	layer?: string;
	description: LangDescription;
	agreement: Agreement;
}

const maxMatches = 5;

/**
 * Finds the new layers of a service that agree with an earlier description; none if more than five do. Never rejects.
 * @param address of the WMS, or of a layer of the ArcGIS service, which is not compared
 */
export async function findMatches(
	before: LangDescription,
	address: string,
	clients: Clients,
): Promise<Match[]> {
	if ("renderer" in before) return findInArcgis(before, address, clients);
	return "layers" in before ? findInWms(before, address, clients) : [];
}

async function findInArcgis(before: FeatureDescription, address: string, clients: Clients) {
	const layers = await orNull(askLayers(address, clients.ask));
	if (!layers) return [];
	const isNew = ({ id, name }: Document) =>
		wordOf(id) !== numberIn(address) && !before.siblings?.includes(siblingText(wordOf(id), textOf(name)));
	const isNamesake = ({ name }: Document) => textOf(name).toLowerCase() === before.name.toLowerCase();
	const namesakes = layers.filter(isNew).filter(isNamesake);
	const matches = await matchLayers(before, namesakes, address, clients);
	if (matches.length > 0 || namesakes.length > maxMatches) return matches;
	// A renamed layer can be identified only by its document.
	const all = await orNull(askDocument(address, clients.ask, "/../layers"));
	const isMatch = (layer: Document) => agreementOf(before, sketchLayer(address, layer)).sure !== null;
	return matchLayers(before, objectsIn(all?.layers).filter(isNew).filter(isMatch), address, clients);
}

async function matchLayers(
	before: FeatureDescription,
	layers: readonly Document[],
	address: string,
	clients: Clients,
) {
	const matches: Match[] = [];
	if (layers.length > maxMatches) return matches;
	for (const number of layers.flatMap(({ id }) => numberOf(id) ?? [])) {
		const service_url = addressBelow(address, `/../${number}`);
		matches.push(...matchAt(before, service_url, await orNull(describeLayer(service_url, clients))));
	}
	return matches;
}

async function findInWms(before: NamedDescription, address: string, { read }: Clients) {
	const [name, second] = before.layers;
	const capabilities = await orNull(read("WMS", address, before.layers));
	if (!capabilities || second !== undefined) return [];
	const texts = wmsSiblings(capabilities);
	const matches: Match[] = [];
	for (const layer of capabilities.layers.keys()) {
		// Earlier versions stored names without titles.
		const wasThere = [texts.get(layer) ?? "", layer].some((text) => before.siblings?.includes(text));
		if (layer === name || wasThere) continue;
		const result = await orNull(describeLayers("WMS", address, [layer], read));
		matches.push(...matchAt(before, address, result).map((match) => ({ ...match, layer })));
	}
	return matches.length > maxMatches ? [] : matches;
}

export function matchAt(
	before: LangDescription,
	service_url: string,
	result: DescriptionResult | null,
): Match[] {
	if (!result) return [];
	const { description } = result;
	const agreement = agreementOf(before, description);
	return agreement.sure ? [{ service_url, description, agreement }] : [];
}

/**
 * Does nothing for a layer that was never harvested.
 * @throws {Trouble} if another layer now has the number or name, and the earlier layer has a new one
 */
export async function checkSameLayer(
	before: LangDescription | null,
	now: LangDescription,
	clients: Clients,
): Promise<void> {
	if (!before || before.from || hasItsName(agreementOf(before, now))) return;
	const matches = await findMatches(before, now.service_url, clients);
	const same = matches.find(({ agreement }) => agreement.sure === "same");
	if (!same) return;
	const values = [nameOf(now), nameOf(before), same.layer ?? same.service_url].map(quote);
	throw new Trouble("wrong", causeOf("other-layer", ...values));
}

function nameOf(description: LangDescription) {
	return ("renderer" in description ? description.name : description.title) ?? "";
}
