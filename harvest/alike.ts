import { arcgisPath } from "../registry/addresses.ts";
import type { FeatureDescription, LangDescription, NamedDescription } from "../registry/description.ts";
import { type Agreement, agreementOf, hasItsName } from "./agreement.ts";
import { isObject, listOf, numberOf, textOf } from "./answer.ts";
import { askDocument, serviceAddress } from "./arcgis/answers.ts";
import { askAllLayers, describeLayer, sketchLayer } from "./arcgis/feature-layer.ts";
import { type Described, orNull, quote } from "./finding.ts";
import type { Ask } from "./net/ask.ts";
import { describeLayers } from "./wms/describe-layers.ts";
import { createReadCapabilities, type ReadCapabilities } from "./wms/read-capabilities.ts";

/** What harvesting needs. */
export interface HarvestOptions {
	/** The client for services, shared by all layers. */
	ask: Ask;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
	/** Reads capabilities; handed in where other work reads the same ones. */
	read?: ReadCapabilities;
}

/** A layer of a service that agrees with a known one, at least in part. */
export interface Alike {
	service_url: string;
	/** Its name in a WMS. */
	layer?: string;
	description: LangDescription;
	agreement: Agreement;
}

/** Most layers that are compared in full, and that may agree. */
const maxAlike = 5;

/**
 * Makes the search for the layers of a service that agree with a known one: under another number of an ArcGIS service, or
 * under another name of a WMS. It finds nothing where there are more than five, which tells nothing, and never rejects.
 * Its address is that of a layer of the ArcGIS service, or of the WMS; that layer itself is left out.
 */
export function createFindAlike({ ask, mapWkid, read = createReadCapabilities(ask) }: HarvestOptions) {
	async function inArcgis(known: FeatureDescription, address: string): Promise<Alike[]> {
		const describeAll = async (layers: readonly Record<string, unknown>[]): Promise<Alike[]> => {
			if (layers.length > maxAlike) return [];
			const found: Alike[] = [];
			for (const id of layers.flatMap((one) => numberOf(one.id) ?? [])) {
				const service_url = serviceAddress(address, `/../${id}`, {});
				const alike = alikeAt(known, service_url, await orNull(describeLayer(service_url, ask, mapWkid)));
				found.push(...alike);
			}
			return found;
		};
		const own = Number(arcgisPath.exec(new URL(address).pathname)?.[2] ?? -1);
		const document = await orNull(askDocument(serviceAddress(address, "/..", {}), "service", ask));
		if (!document) return [];
		const others = listOf(document.layers)
			.filter(isObject)
			.filter(({ id }) => id !== own);
		const named = others.filter(({ name }) => textOf(name).toLowerCase() === known.name.toLowerCase());
		const found = await describeAll(named);
		if (found.length > 0 || named.length > maxAlike) return found;
		// Of a renamed layer only its document tells that it is the same.
		const documents = await askAllLayers(address, ask);
		const isAlike = (one: Record<string, unknown>) =>
			agreementOf(known, sketchLayer(address, one)).sure !== null;
		return describeAll(documents.filter((one) => one.id !== own && isAlike(one)));
	}

	async function inWms(known: NamedDescription, address: string): Promise<Alike[]> {
		const [own] = known.layers;
		const capabilities = await orNull(read("WMS", address, null));
		const found: Alike[] = [];
		for (const layer of capabilities?.layers.keys() ?? []) {
			if (layer === own || known.layers.length > 1) continue;
			const described = await orNull(describeLayers("WMS", address, [layer], read));
			found.push(...alikeAt(known, address, described).map((alike) => ({ ...alike, layer })));
		}
		return found.length > maxAlike ? [] : found;
	}

	return async (known: LangDescription, address: string): Promise<Alike[]> => {
		if ("renderer" in known)
			return arcgisPath.test(new URL(address).pathname) ? inArcgis(known, address) : [];
		return "layers" in known ? inWms(known, address) : [];
	};
}

/** A described layer where it agrees with a known one; else nothing. */
export function alikeAt(known: LangDescription, service_url: string, described: Described | null): Alike[] {
	if (!described) return [];
	const { description } = described;
	const agreement = agreementOf(known, description);
	return agreement.sure ? [{ service_url, description, agreement }] : [];
}

/**
 * Why an address that answers is no longer the layer's: another one has taken its number or its name, and the known one
 * has another. Null where it is the layer, or a new version of it.
 */
export async function otherLayerText(
	known: LangDescription | null,
	now: LangDescription,
	find: ReturnType<typeof createFindAlike>,
): Promise<string | null> {
	if (!known || known.from || hasItsName(agreementOf(known, now))) return null;
	const same = (await find(known, now.service_url)).find(({ agreement }) => agreement.sure === "same");
	if (!same) return null;
	const place = same.layer ?? same.service_url;
	return `answers for another layer, ${quote(nameOf(now))}: ${quote(nameOf(known))} is at ${quote(place)} now`;
}

function nameOf(description: LangDescription): string {
	return ("renderer" in description ? description.name : description.title) ?? "";
}
