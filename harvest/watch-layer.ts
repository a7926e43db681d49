import { currentDescription, type Description, type LangDescription } from "../registry/description.ts";
import { sickStates } from "../registry/health.ts";
import { namedLayers, type Registration, serviceTypeOf } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { checkSameLayer } from "./alike.ts";
import { numberOf, objectOf, parseAnswer } from "./answer.ts";
import { serviceAddress } from "./arcgis/answers.ts";
import { askLayer, sketchLayer } from "./arcgis/feature-layer.ts";
import { createCheckLayer } from "./check-layer.ts";
import { eachService, findingOf, orNull, orTrouble, Trouble, type Watched } from "./finding.ts";
import type { Ask } from "./net/ask.ts";
import { lookAtWms } from "./wms/look.ts";
import { type Clients, createReadCapabilities, describeLayers, within } from "./wms/read-capabilities.ts";

/**
 * Checks a layer as a viewer sees it: asks for its service's capabilities or its own document, then for one picture or one
 * feature. Never rejects.
 */
export type WatchLayer = (
	registration: Registration,
	signal?: AbortSignal,
	known?: Description | null,
) => Promise<Watched>;

/** Creates the check for a run, which shares capabilities between layers. @param ask from `createAsk` */
export function createWatchLayer(ask: Ask, read = createReadCapabilities(ask)): WatchLayer {
	const check = createCheckLayer(ask, read);

	return async (registration, signal, known = null) => {
		const { findings } = await check(registration);
		const clients = within({ ask, read, mapWkid: 4326 }, signal);
		const well = langs.filter((lang) => findings.every((finding) => finding.lang !== lang));
		const looks = await eachService(registration, well, (lang) =>
			orTrouble(look(registration, lang, currentDescription(registration, known, lang), clients)),
		);
		for (const [lang, found] of looks)
			if (found instanceof Trouble) findings.push(findingOf(registration, lang, found));
		const state = sickStates.find((one) => findings.some((finding) => finding.state === one)) ?? null;
		return { state, findings };
	};
}

/** Looks at a layer in one language as a viewer does, after the check has found nothing wrong. @throws {Trouble} */
async function look(
	registration: Registration,
	lang: Lang,
	before: LangDescription | null,
	clients: Clients,
): Promise<void> {
	const { service_url: address } = registration[lang];
	const { ask, read } = clients;
	if (before) {
		const now = await orNull(describeAgain(before, address, clients));
		if (now) await checkSameLayer(before, now, clients);
	}
	const type = serviceTypeOf(registration, lang);
	if (type === "esriFeature") return lookAtFeatures(address, ask);
	const [name] = type === "ogcWms" ? namedLayers(registration, lang) : [];
	if (name === undefined) return;
	const capabilities = await orNull(read("WMS", address, name));
	const layer = capabilities?.layers.get(name);
	if (layer) await lookAtWms(address, name, layer, ask);
}

/** Describes the layer at a known layer's address as far as is needed to compare both; null for a whole service. */
async function describeAgain(
	before: LangDescription,
	address: string,
	{ ask, read }: Clients,
): Promise<LangDescription | null> {
	if ("renderer" in before) return sketchLayer(address, await askLayer(address, ask));
	if ("entries" in before) return null;
	return (await describeLayers("WMS", address, before.layers, read)).description;
}

/**
 * Asks a feature layer for one feature, as a viewer does. If the service refuses the query, that is not a fault of the
 * layer.
 * @throws {Trouble} if the service fails, or has no features
 */
async function lookAtFeatures(address: string, ask: Ask): Promise<void> {
	const query = { where: "1=1", outFields: "*", returnGeometry: "true", resultRecordCount: "1", f: "json" };
	const answer = await ask(serviceAddress(address, "/query", query));
	if (!answer.ok) {
		// An older server ignores `resultRecordCount` and sends all features, so a large answer is no fault.
		if (answer.tooLarge || (answer.status !== null && answer.status < 500)) return;
		throw answer;
	}
	const { features, error } = objectOf(parseAnswer(answer.bytes));
	const code = numberOf(objectOf(error).code);
	if (code !== null && code >= 500)
		throw new Trouble("down", `answers with ArcGIS error ${code} when it is asked for a feature`);
	if (Array.isArray(features) && features.length === 0) throw new Trouble("empty", "has no features");
}
