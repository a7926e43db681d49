import { type Description, type LangDescription, parseDescription } from "../registry/description.ts";
import { harvestedLangs, type Registration, serviceTypeOf } from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { type Described, describeLayer } from "./arcgis/feature-layer.ts";
import type { Finding } from "./finding.ts";
import type { Ask } from "./net/ask.ts";

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

/** Asks the services behind a feature layer, once where both languages name one address. Never throws. */
export async function harvestLayer(
	registration: Registration,
	settings: HarvestOptions,
	signal?: AbortSignal,
): Promise<Harvested> {
	const harvested: Harvested = { found: {}, partial: new Set(), findings: [] };
	const answers = new Map<string, Described>();
	for (const lang of langs.filter((one) => serviceTypeOf(registration, one) === "esriFeature")) {
		const address = registration[lang].service_url;
		const answer =
			answers.get(address) ?? (await describeLayer(address, settings.ask, settings.mapWkid, signal));
		answers.set(address, answer);
		addAnswer(harvested, lang, address, answer);
	}
	return harvested;
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
 * found in it before, as long as that is the registered service.
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
	for (const lang of langs) {
		const address = registration[lang].service_url;
		const before = current(previous?.[lang], address);
		const found = current(harvested.found[lang], address);
		const best = harvested.partial.has(lang) ? (before ?? found) : (found ?? before);
		if (best) merged[lang] = best;
	}
	return Object.keys(merged).length > 0 ? merged : null;
}

function current(description: LangDescription | undefined, address: string): LangDescription | null {
	return description?.service_url === address ? description : null;
}

/** Whether both languages of a layer are described, each from the registered service. */
export function isDescribed(registration: Registration, stored: string | null): boolean {
	const description = stored === null ? null : parseDescription(stored);
	return harvestedLangs(registration).every(
		(lang) => current(description?.[lang], registration[lang].service_url) !== null,
	);
}
