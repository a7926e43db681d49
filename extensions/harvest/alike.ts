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

export interface Alike {
	service_url: string;
	layer?: string;
	description: LangDescription;
	agreement: Agreement;
}

const maxAlike = 5;

/**
 * Finds the new layers of a service that agree with an earlier description; none if more than five agree. Never rejects.
 * @param address of the WMS, or of a layer of the ArcGIS service, which is left out
 */
export async function findAlike(
	before: LangDescription,
	address: string,
	clients: Clients,
): Promise<Alike[]> {
	if ("renderer" in before) return findInArcgis(before, address, clients);
	return "layers" in before ? findInWms(before, address, clients) : [];
}

async function findInArcgis(before: FeatureDescription, address: string, clients: Clients) {
	const describeAll = async (layers: readonly Document[]) => {
		const alike: Alike[] = [];
		if (layers.length > maxAlike) return alike;
		for (const id of layers.flatMap((layer) => numberOf(layer.id) ?? [])) {
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

async function findInWms(before: NamedDescription, address: string, { read }: Clients) {
	const [name, second] = before.layers;
	const capabilities = await orNull(read("WMS", address, before.layers));
	if (!capabilities || second !== undefined) return [];
	const texts = wmsSiblings(capabilities);
	const alike: Alike[] = [];
	for (const layer of capabilities.layers.keys()) {
		// Earlier versions stored names without titles.
		const wasThere = [texts.get(layer) ?? "", layer].some((text) => before.siblings?.includes(text));
		if (layer === name || wasThere) continue;
		const described = await orNull(describeLayers("WMS", address, [layer], read));
		alike.push(...alikeAt(before, address, described).map((match) => ({ ...match, layer })));
	}
	return alike.length > maxAlike ? [] : alike;
}

export function alikeAt(
	before: LangDescription,
	service_url: string,
	described: DescriptionResult | null,
): Alike[] {
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

function nameOf(description: LangDescription) {
	return ("renderer" in description ? description.name : description.title) ?? "";
}
