import { isBlockedOn } from "../../registry/addresses.ts";
import { currentDescription, type Description, type LangDescription } from "../../registry/description.ts";
import type { Registration } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { layerAddress } from "../../registry/targets/facts.ts";
import { type Cause, causeOf } from "../../site/data/health.ts";
import { findLayer } from "../../site/service/capabilities.ts";
import { askLayer } from "./arcgis/answers.ts";
import { sketchLayer } from "./arcgis/feature-layer.ts";
import { lookAtFeatures } from "./arcgis/features.ts";
import { orNull, orTrouble, Trouble } from "./ask.ts";
import { checkLayer } from "./check-layer.ts";
import type { Clients } from "./clients.ts";
import { type Finding, findingOf, isSick } from "./finding.ts";
import { describe } from "./harvest-layer.ts";
import { checkSameLayer } from "./matches.ts";
import { eachService, type Service, serviceOf } from "./service.ts";
import { lookAtWms } from "./wms/look.ts";

/**
 * Looks at a layer in both languages as a viewer does. Never rejects.
 * @param before its stored description
 * @param site address of the catalogue, whose pages have to draw the layer; empty: unknown; null: it does not matter
 */
export async function watchLayer(
	registration: Registration,
	before: Description | null,
	clients: Clients,
	site: string | null,
): Promise<Finding[]> {
	const checked = await checkLayer(registration, clients);
	const findings = await Promise.all(
		checked.map((finding) => confirmMissing(serviceOf(registration, finding.lang), finding, clients)),
	);
	const isWell = (lang: Lang) => findings.every((finding) => finding.lang !== lang || !isSick(finding));
	const services = langs.filter(isWell).map((lang) => serviceOf(registration, lang));
	const looks = await eachService(services, (service) =>
		orTrouble(lookAtService(service, currentDescription(registration, before, service.lang), clients)),
	);
	const blocked = services.filter(({ address }) => site !== null && isBlockedOn(address, site));
	return [
		...findings,
		...looks.flatMap(([service, look]) => findingsOf(service, look)),
		...blocked.map((service) => findingOf(service, { state: "blocked", what: causeOf("not-secure") })),
	];
}

function findingsOf(service: Service, look: Cause[] | Trouble): Finding[] {
	if (look instanceof Trouble) return [findingOf(service, look)];
	return look.map((what) => findingOf(service, { state: "well", what }));
}

/** @returns what could not be seen of a layer that is well @throws {Trouble} */
async function lookAtService(service: Service, before: LangDescription | null, clients: Clients) {
	// A whole service has no layer that could be another one.
	const now = before && !("entries" in before) ? await describeNow(service, clients) : null;
	if (now) await checkSameLayer(before, now, clients);
	const { type, address, names } = service;
	const features = featuresAddress(service);
	if (features !== null) {
		const unseen = await lookAtFeatures(features, clients.ask);
		return unseen ? [unseen] : [];
	}
	const [name] = names;
	if (type !== "ogcWms" || name === undefined) return [];
	return (await lookAtName(address, name, "listed", clients))?.notes ?? [];
}

/** Null unless viewers draw the features of exactly one layer. */
function featuresAddress({ type, address, listed }: Service): string | null {
	if (type === "esriFeature") return address;
	const [id, ...others] = type === "esriFeatureServer" ? listed : [];
	return id === undefined || others.length > 0 ? null : layerAddress(address, id);
}

/** Null if the service does not describe the layer. */
async function describeNow(service: Service, clients: Clients): Promise<LangDescription | null> {
	const { type, address } = service;
	if (type !== "esriFeature") return (await orNull(describe(service, clients)))?.description ?? null;
	const layer = await orNull(askLayer(address, clients.ask));
	return layer && sketchLayer(address, layer);
}

/** Null if the capabilities cannot be read, or list the layer against expectation. */
async function lookAtName(address: string, name: string, expected: "listed" | "unlisted", clients: Clients) {
	const { ask, read, mapWkid } = clients;
	const capabilities = await orNull(read("WMS", address, [name]));
	if (!capabilities) return null;
	const layer = findLayer(capabilities, name)?.layer ?? null;
	if (expected !== (layer ? "listed" : "unlisted")) return null;
	return lookAtWms({ address, name, capabilities, layer, mapWkid }, ask);
}

/** Replaces the finding that a layer is missing if its WMS draws it nevertheless. */
async function confirmMissing(service: Service, finding: Finding, clients: Clients): Promise<Finding> {
	const { lang, pointer, what } = finding;
	if (what.code !== "no-layer" || service.type !== "ogcWms") return finding;
	const member = pointer.slice(`/${lang}/`.length);
	// `layer`, or `scrape_only/3`.
	const [, index = 0] = member.split("/");
	const name = service.names[Number(index)] ?? "";
	const look = await orNull(lookAtName(service.address, name, "unlisted", clients));
	if (!look?.isDrawn) return finding;
	return findingOf(service, { state: "well", what: causeOf("not-listed", ...what.values), member });
}
