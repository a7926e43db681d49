import { currentDescription, type Description } from "../registry/description.ts";
import { harvestedLangs, namedLayers, type Registration, serviceTypeOf } from "../registry/registration.ts";
import type { Lang } from "../registry/smallkey.ts";
import { otherLayerText } from "./alike.ts";
import { describeArcgisService } from "./arcgis/describe-service.ts";
import { describeLayer } from "./arcgis/feature-layer.ts";
import { type Clients, createClients, type HarvestOptions, within } from "./clients.ts";
import { type Described, type Harvested, orTrouble, Trouble } from "./finding.ts";
import { describeLayers } from "./wms/describe-layers.ts";

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
	if (type !== "ogcWms" && type !== "ogcWmts") return describeArcgisService(address, clients);
	const names = namedLayers(registration, lang);
	return describeLayers(type === "ogcWms" ? "WMS" : "WMTS", address, names, clients.read);
}

/** Creates the harvest for several layers, which share capabilities. */
export function createHarvestLayer(options: HarvestOptions): HarvestLayer {
	const clients = createClients(options);

	return async (registration, signal, known = null) => {
		const harvested: Harvested = { found: {}, partial: new Set(), findings: [] };
		const answers = new Map<string, Described | Trouble>();
		const own = within(clients, signal);
		const describeOwn = async (lang: Lang): Promise<Described> => {
			const described = await describe(registration, lang, own);
			const before = currentDescription(registration, known, lang);
			const other = await otherLayerText(before, described.description, own);
			if (other !== null) throw new Trouble("registration", other);
			return described;
		};
		for (const lang of harvestedLangs(registration)) {
			const { service_url: address } = registration[lang];
			const asked = [serviceTypeOf(registration, lang), address, ...namedLayers(registration, lang)].join(
				"\n",
			);
			const answer = answers.get(asked) ?? (await orTrouble(describeOwn(lang)));
			answers.set(asked, answer);
			addAnswer(harvested, lang, address, answer);
		}
		return harvested;
	};
}

function addAnswer(harvested: Harvested, lang: Lang, address: string, answer: Described | Trouble): void {
	const trouble = answer instanceof Trouble ? answer : answer.missing;
	if (trouble) {
		const text = `${address} ${trouble.message}`;
		harvested.findings.push({ kind: trouble.kind, lang, pointer: `/${lang}/service_url`, text });
	}
	if (answer instanceof Trouble) return;
	harvested.found[lang] = answer.description;
	if (trouble) harvested.partial.add(lang);
}
