import { type Description, type LangDescription, parseDescription } from "../registry/description.ts";
import {
	harvestedLangs,
	type Registration,
	type ServiceType,
	serviceTypeOf,
} from "../registry/registration.ts";
import type { Lang } from "../registry/smallkey.ts";
import { describeArcgisService } from "./arcgis/describe-service.ts";
import { describeLayer } from "./arcgis/feature-layer.ts";
import type { Described } from "./described.ts";
import type { Finding } from "./finding.ts";
import type { Ask } from "./net/ask.ts";
import { describeOgcService } from "./wms/describe-service.ts";

/** What harvesting needs from outside. */
export interface HarvestOptions {
	/** The one way in which services are asked, shared by all layers. */
	ask: Ask;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** What the services behind one layer answered. */
export interface Harvested {
	/** The languages whose service answered. */
	found: Description;
	/** The languages of `found` that lack what could not be asked for now: an earlier description is better. */
	partial: Set<Lang>;
	findings: Finding[];
}

/**
 * Asks the services behind a layer, once where both languages name one service: what a feature layer is, or the layers of
 * a service that is taken whole. Never throws.
 */
export async function harvestLayer(
	registration: Registration,
	options: HarvestOptions,
	signal?: AbortSignal,
): Promise<Harvested> {
	const harvested: Harvested = { found: {}, partial: new Set(), findings: [] };
	const answers = new Map<string, Described>();
	for (const lang of harvestedLangs(registration)) {
		const address = registration[lang].service_url;
		const type = serviceTypeOf(registration, lang);
		const name = `${type} ${address}`;
		const answer = answers.get(name) ?? (await describeService(type, address, options, signal));
		answers.set(name, answer);
		addAnswer(harvested, lang, address, answer);
	}
	return harvested;
}

function describeService(
	type: ServiceType,
	address: string,
	{ ask, mapWkid }: HarvestOptions,
	signal?: AbortSignal,
): Promise<Described> {
	if (type === "ogcWms") return describeOgcService("WMS", address, ask, signal);
	if (type === "ogcWmts") return describeOgcService("WMTS", address, ask, signal);
	if (type === "esriFeature") return describeLayer(address, ask, mapWkid, signal);
	return describeArcgisService(address, ask, signal);
}

function addAnswer(harvested: Harvested, lang: Lang, address: string, answer: Described): void {
	const trouble = answer.description ? answer.missing : answer.trouble;
	if (trouble) {
		const text = `${address} ${trouble.text}`;
		harvested.findings.push({ kind: trouble.kind, lang, pointer: `/${lang}/service_url`, text });
	}
	if (!answer.description) return;
	harvested.found[lang] = answer.description;
	if (trouble) harvested.partial.add(lang);
}

/**
 * What is to be stored after a harvest: what was found, and for a language whose service did not answer, what was
 * known of it before, as long as that is of the registered service.
 * @param stored text of the present description, or null
 * @returns null where nothing is known of either language
 */
export function mergeDescription(
	registration: Registration,
	harvested: Harvested,
	stored: string | null,
): Description | null {
	const previous = stored === null ? null : parseDescription(stored);
	const merged: Description = {};
	for (const lang of harvestedLangs(registration)) {
		const before = current(previous?.[lang], registration, lang);
		const found = current(harvested.found[lang], registration, lang);
		const best = harvested.partial.has(lang) ? (before ?? found) : (found ?? before);
		if (best) merged[lang] = inOrderOf(before, best);
	}
	return Object.keys(merged).length > 0 ? merged : null;
}

/** A description that counts: of the registered service, and of the kind that is registered. */
function current(
	description: LangDescription | undefined,
	registration: Registration,
	lang: Lang,
): LangDescription | null {
	if (description?.service_url !== registration[lang].service_url) return null;
	const isOfLayer = serviceTypeOf(registration, lang) === "esriFeature";
	return isOfLayer === "renderer" in description ? description : null;
}

/**
 * A service's layers in the order that was known before, with new ones behind those: a service that lists them in
 * another order today, as some do from one request to the next, changes nothing.
 */
function inOrderOf(before: LangDescription | null, now: LangDescription): LangDescription {
	if (!before || !("entries" in before) || !("entries" in now)) return now;
	const present = new Set(now.entries);
	const entries = new Set([...before.entries.filter((entry) => present.has(entry)), ...now.entries]);
	return { ...now, entries: [...entries] };
}

/**
 * Whether each language that is harvested is described, from the registered service; what was taken over from an older
 * service was not harvested.
 */
export function isDescribed(registration: Registration, description: Description | null): boolean {
	return harvestedLangs(registration).every((lang) => {
		const known = current(description?.[lang], registration, lang);
		return known !== null && known.from === undefined;
	});
}
