import type { Lang } from "../../registry/smallkey.ts";
import { ServiceFailed } from "../map/ask.ts";
import { readService, type Service, type ServiceLayer } from "./service.ts";
import { twinAddresses, twinTexts } from "./twin.ts";

/** Most addresses that are asked. */
const maxAsked = 4;

/** The same layer in the other language. */
export interface Twin {
	url: string;
	layer: ServiceLayer;
}

/**
 * Finds a layer in the service of the other language. A twin that has another address by a parameter alone has to have
 * another title: services ignore parameters that they do not know.
 * @param from language of the service
 * @returns null if there is none
 */
export async function findTwin(service: Service, layer: ServiceLayer, from: Lang): Promise<Twin | null> {
	for (const url of twinAddresses(service.url, from, service.languages).slice(0, maxAsked)) {
		const chosen = service.kind === "feature" ? layer.name : "";
		const other = await readService({ kind: service.kind, url, chosen }).catch((error: unknown) => {
			if (error instanceof ServiceFailed) return null;
			throw error;
		});
		const found = other && sameLayer(service, other, layer, from);
		const isParameter = new URL(url).pathname === new URL(service.url).pathname;
		if (found && !(isParameter && found.title === layer.title)) return { url, layer: found };
	}
	return twinInside(service, layer, from);
}

/** The layer of the same name or, if the names have languages, of its twin's name; else that in the same place. */
function sameLayer(service: Service, other: Service, layer: ServiceLayer, from: Lang): ServiceLayer | null {
	const names = [layer.name, ...twinTexts(layer.name, from)];
	const named = names.flatMap((name) => other.layers.find((one) => one.name === name) ?? []);
	const place = service.layers.length === other.layers.length ? service.layers.indexOf(layer) : -1;
	const found = named[0] ?? other.layers[place];
	return found?.geometry === layer.geometry ? found : null;
}

/** One service may have a layer for each language: `roads_en` and `roads_fr`. */
function twinInside({ url, layers }: Service, layer: ServiceLayer, from: Lang): Twin | null {
	const found = twinTexts(layer.name, from).flatMap((name) => layers.find((one) => one.name === name) ?? []);
	return found[0] ? { url, layer: found[0] } : null;
}
