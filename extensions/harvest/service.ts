import {
	isVersion2,
	type LangPart1,
	type LangPart2,
	namedLayers,
	type Registration,
	type ServiceType,
	serviceTypeOf,
	takesAllLayers,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { causeOf } from "../../site/data/health.ts";
import type { OgcService } from "../../site/service/capabilities.ts";
import { Trouble } from "./ask.ts";

const ogcServices: Partial<Record<ServiceType, OgcService>> = { ogcWms: "WMS", ogcWmts: "WMTS" };

export type Service = ReturnType<typeof serviceOf>;

/** What is registered in a language. */
export function serviceOf(registration: Registration, lang: Lang) {
	const entry: LangPart1 | LangPart2 = registration[lang];
	const type = serviceTypeOf(registration, lang);
	return {
		lang,
		type,
		ogc: ogcServices[type] ?? null,
		entry,
		address: entry.service_url,
		/** Layers of an OGC service. */
		names: namedLayers(registration, lang),
		/** Version 2.0: names, or numbers on an ArcGIS server. */
		listed: "scrape_only" in entry ? (entry.scrape_only ?? []) : [],
		isWhole: isVersion2(registration) && takesAllLayers(registration[lang]),
	};
}

export function hostsOf(registration: Registration): string[] {
	return [...new Set(langs.map((lang) => new URL(registration[lang].service_url).host))];
}

/** Address and names, for comparisons. */
export function placeOf(registration: Registration, lang: Lang): string {
	return [registration[lang].service_url, ...namedLayers(registration, lang)].join(" ");
}

/** Runs one task after the other; the same service and layers share a result. */
export async function eachService<T>(
	services: readonly Service[],
	task: (service: Service) => Promise<T>,
	keyOf: (service: Service) => string = ({ type }) => type,
): Promise<[Service, T][]> {
	const results = new Map<string, T>();
	const pairs: [Service, T][] = [];
	for (const service of services) {
		const key = [keyOf(service), service.address, ...service.names].join(" ");
		const result = results.get(key) ?? (await task(service));
		results.set(key, result);
		pairs.push([service, result]);
	}
	return pairs;
}

/** Every fragment has all entries. */
const maxEntries = 1000;

/** Refuses a whole service without layers, or with too many. @throws {Trouble} */
export function checkEntries(entries: readonly unknown[]): void {
	if (entries.length === 0) throw new Trouble("wrong", causeOf("no-layers"));
	if (entries.length > maxEntries) throw new Trouble("wrong", causeOf("many-layers", maxEntries));
}
