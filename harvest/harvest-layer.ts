import { currentDescription, type Description } from "../registry/description.ts";
import { harvestedLangs, namedLayers, type Registration, serviceTypeOf } from "../registry/registration.ts";
import type { Lang } from "../registry/smallkey.ts";
import { checkSameLayer } from "./alike.ts";
import { describeArcgisService } from "./arcgis/answers.ts";
import { describeLayer } from "./arcgis/feature-layer.ts";
import { type Described, eachService, findingOf, type Harvested, orTrouble, Trouble } from "./finding.ts";
import { type Clients, createReadCapabilities, describeLayers, within } from "./wms/read-capabilities.ts";

/**
 * Asks the services of a layer, once if both languages name the same service: for the description of a feature layer, for
 * that of the named layers of an OGC service, or for the layers of a service that is registered as a whole. Never rejects.
 * @param known the last description: if another layer now has this one's address, that is a finding and not an answer
 */
export type HarvestLayer = (
	registration: Registration,
	signal?: AbortSignal,
	known?: Description | null,
) => Promise<Harvested>;

/** Asks the service of one language. @throws {Trouble} */
export async function describe(registration: Registration, lang: Lang, clients: Clients): Promise<Described> {
	const { service_url: address } = registration[lang];
	const type = serviceTypeOf(registration, lang);
	if (type === "esriFeature") return describeLayer(address, clients);
	if (type !== "ogcWms" && type !== "ogcWmts") return describeArcgisService(address, clients.ask);
	const names = namedLayers(registration, lang);
	return describeLayers(type === "ogcWms" ? "WMS" : "WMTS", address, names, clients.read);
}

/** Creates the harvest for several layers, which share capabilities. */
export function createHarvestLayer(options: Omit<Clients, "read"> & Partial<Clients>): HarvestLayer {
	const clients: Clients = { read: createReadCapabilities(options.ask), ...options };

	return async (registration, signal, known = null) => {
		const harvested: Harvested = { found: {}, partial: new Set(), findings: [] };
		const own = within(clients, signal);
		const describeOwn = async (lang: Lang): Promise<Described> => {
			const described = await describe(registration, lang, own);
			await checkSameLayer(currentDescription(registration, known, lang), described.description, own);
			return described;
		};
		const answers = await eachService(registration, harvestedLangs(registration), (lang) =>
			orTrouble(describeOwn(lang)),
		);
		for (const [lang, answer] of answers) {
			const trouble = answer instanceof Trouble ? answer : answer.missing;
			if (trouble) harvested.findings.push(findingOf(registration, lang, trouble));
			if (answer instanceof Trouble) continue;
			harvested.found[lang] = answer.description;
			if (trouble) harvested.partial.add(lang);
		}
		return harvested;
	};
}
