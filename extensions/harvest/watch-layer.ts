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
 * Looks at a layer as a viewer does. Never rejects.
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
	const well = langs.filter(isWell).map((lang) => serviceOf(registration, lang));
	const looks = await eachService(well, (service) =>
		orTrouble(lookAtService(service, currentDescription(registration, before, service.lang), clients)),
	);
	for (const [service, notes] of looks) {
		if (notes instanceof Trouble) findings.push(findingOf(service, notes));
		else findings.push(...notes.map((what) => findingOf(service, { state: "well", what })));
	}
	const blocked = { state: "blocked", what: causeOf("not-secure") } as const;
	for (const service of well)
		if (site !== null && isBlockedOn(service.address, site)) findings.push(findingOf(service, blocked));
	return findings;
}

/** @returns what could not be seen of a layer that is well @throws {Trouble} */
async function lookAtService(
	service: Service,
	before: LangDescription | null,
	clients: Clients,
): Promise<Cause[]> {
	const { type, address, names, listed } = service;
	// A whole service has no layer that could be another one.
	const now = before && !("entries" in before) ? await describeNow(service, clients) : null;
	if (now) await checkSameLayer(before, now, clients);
	const [id, second] = type === "esriFeatureServer" ? listed : [];
	if (type === "esriFeature" || (id !== undefined && second === undefined)) {
		const layer = id === undefined ? address : layerAddress(address, id);
		const unseen = await lookAtFeatures(layer, clients.ask);
		return unseen ? [unseen] : [];
	}
	const [name] = type === "ogcWms" ? names : [];
	return (name !== undefined && (await lookAtNamed(address, name, "listed", clients))?.notes) || [];
}

/** Null if the service does not describe the layer. */
async function describeNow(service: Service, clients: Clients): Promise<LangDescription | null> {
	const { type, address } = service;
	if (type !== "esriFeature") return (await orNull(describe(service, clients)))?.description ?? null;
	const layer = await orNull(askLayer(address, clients.ask));
	return layer && sketchLayer(address, layer);
}

/** Null if the capabilities cannot be read, or list the layer against expectation. */
async function lookAtNamed(address: string, name: string, expected: "listed" | "unlisted", clients: Clients) {
	const capabilities = await orNull(clients.read("WMS", address, [name]));
	const { layer = null } = (capabilities && findLayer(capabilities, name)) ?? {};
	if (!capabilities || (layer === null) !== (expected === "unlisted")) return null;
	const { ask, mapWkid } = clients;
	return lookAtWms({ address, name, capabilities, layer, mapWkid }, ask);
}

/** A WMS may draw a layer that it does not list. */
async function confirmMissing(service: Service, finding: Finding, clients: Clients) {
	const { pointer, what } = finding;
	if (what.code !== "no-layer" || service.type !== "ogcWms") return finding;
	const [, , ...member] = pointer.split("/");
	const name = service.names[Number(member[1] ?? 0)] ?? "";
	const look = await orNull(lookAtNamed(service.address, name, "unlisted", clients));
	if (!look?.isDrawn) return finding;
	const isNotListed = causeOf("not-listed", ...what.values);
	return findingOf(service, { state: "well", what: isNotListed, member: member.join("/") });
}
