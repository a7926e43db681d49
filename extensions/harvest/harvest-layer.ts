import { currentDescription, type Description } from "../../registry/description.ts";
import type { Registration } from "../../registry/registration.ts";
import { describeArcgisService } from "./arcgis/answers.ts";
import { describeLayer } from "./arcgis/feature-layer.ts";
import { orTrouble, Trouble } from "./ask.ts";
import type { Clients } from "./clients.ts";
import type { DescriptionResult, Harvest } from "./description.ts";
import { findingOf } from "./finding.ts";
import { harvestedLangs } from "./langs.ts";
import { checkSameLayer } from "./matches.ts";
import { eachService, type Service, serviceOf } from "./service.ts";
import { withSiblings } from "./siblings.ts";
import { describeLayers } from "./wms/describe-layers.ts";

/** @throws {Trouble} */
export async function describe(service: Service, clients: Clients): Promise<DescriptionResult> {
	const { lang, type, ogc, address, names } = service;
	if (type === "esriFeature") return describeLayer(address, clients);
	if (ogc) return describeLayers(ogc, address, names, clients.read, lang);
	return describeArcgisService(service, clients.ask);
}

/** Never rejects. @param before the last description; another layer at its address is a finding */
export async function harvestLayer(
	registration: Registration,
	before: Description | null,
	clients: Clients,
): Promise<Harvest> {
	const harvested: Harvest = { description: {}, findings: [] };
	const harvestService = async (service: Service) => {
		const described = await describe(service, clients);
		const { description } = described;
		await checkSameLayer(currentDescription(registration, before, service.lang), description, clients);
		if (service.ogc === "WMTS") return described;
		return { ...described, description: await withSiblings(description, clients) };
	};
	const answers = await eachService(
		harvestedLangs(registration).map((lang) => serviceOf(registration, lang)),
		(service) => orTrouble(harvestService(service)),
		// An OGC document may have texts in each language.
		({ type, ogc, lang }) => (ogc ? lang : type),
	);
	for (const [service, answer] of answers) {
		const trouble = answer instanceof Trouble ? answer : answer.missing;
		if (trouble) harvested.findings.push(findingOf(service, trouble));
		if (!(answer instanceof Trouble)) harvested.description[service.lang] = answer.description;
	}
	return harvested;
}
