import { isObject, listOf, numberOf, textOf } from "../answer.ts";
import type { Clients } from "../clients.ts";
import { checkEntries, type Described, Trouble } from "../finding.ts";
import { askDocument } from "./answers.ts";

/** The `parentLayerId` of a layer that is in no group. Older servers omit the member in services without groups. */
const noParent = -1;

/**
 * Asks a MapServer or FeatureServer for its layers: those of the top level in the service's order, and for each group the
 * layers in it.
 * @throws {Trouble}
 */
export async function describeArcgisService(address: string, { ask }: Clients): Promise<Described> {
	const document = await askDocument(address, "service", ask);
	if (textOf(document.type) !== "" || !Array.isArray(document.layers)) {
		const text = "is no whole service: the address must end with MapServer or FeatureServer";
		throw new Trouble("wrong", text);
	}
	const entries = [...new Set(document.layers.filter(isObject).filter(isOnTop).flatMap(idsOf))];
	checkEntries(entries);
	return { description: { service_url: address, entries }, missing: null };
}

function isOnTop({ parentLayerId }: Record<string, unknown>): boolean {
	return (numberOf(parentLayerId) ?? noParent) === noParent;
}

/** A layer's own id, or the ids of a group's layers: a service lists these as ids, a layer's document as objects. */
function idsOf({ id, subLayerIds, subLayers }: Record<string, unknown>): number[] {
	const objects = listOf(subLayers).filter(isObject);
	const inside = [...listOf(subLayerIds), ...objects.map((layer) => layer.id)].filter(isId);
	return inside.length > 0 ? inside : [id].filter(isId);
}

function isId(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}
