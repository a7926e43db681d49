import { currentDescription, type Description } from "../../registry/description.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import {
	canonicalText,
	namedLayers,
	parseRegistration,
	type Registration,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import type { SickState } from "../../site/data/health.ts";
import { isSick } from "../harvest/finding.ts";
import { eachService, placeOf, type Service, serviceOf } from "../harvest/service.ts";
import { numberIn } from "../harvest/siblings.ts";
import { watchLayer } from "../harvest/watch-layer.ts";
import { type Candidate, CandidateSearch, type SearchClients, withEntry } from "./candidates.ts";

interface LangRepair {
	lang: Lang;
	candidate: Candidate;
}

export interface Repair {
	layer: CheckedLayer;
	byLang: LangRepair[];
	sure: "same" | "perhaps";
	/** As repaired. */
	registration: Registration;
	description: Description;
}

/** Proposes only what a viewer can draw, and never rejects. */
export function createRepairSearch(clients: SearchClients, registered: Iterable<CheckedLayer>) {
	const search = new CandidateSearch(clients);
	const smallkeysByPlace = new Map<string, string>();
	for (const { smallkey, registration } of registered)
		for (const lang of langs) smallkeysByPlace.set(placeOf(registration, lang), smallkey);

	/** @param wasSick else only permanent redirects are followed, and the layer is not checked */
	return async (
		layer: CheckedLayer,
		wasSick: boolean,
	): Promise<{ isSick: boolean; repair: Repair | null }> => {
		const { smallkey, registration, description } = layer;
		const findings = wasSick ? await watchLayer(registration, description, clients, null) : [];
		const sick = findings.filter(isSick).reverse();
		const states = new Map(sick.map(({ lang, state }) => [lang, state]));
		const sickLangs = langs.filter((lang) => states.size === 0 || states.has(lang));
		const services = sickLangs.map((lang) => serviceOf(registration, lang));
		const results = await eachService(services, async (service) => {
			const state = states.get(service.lang) ?? null;
			const candidate = await findCandidate(search, layer, service, state);
			if (!candidate || state === null) return candidate;
			const place = placeOf(withEntry(registration, service.lang, candidate), service.lang);
			// The place of another layer needs a sure match.
			const owner = smallkeysByPlace.get(place) ?? smallkey;
			const isOfOther = candidate.agreement.sure === "perhaps" && owner !== smallkey;
			// The layer of the other language is another one.
			return isOfOther || langs.some((lang) => place === placeOf(registration, lang)) ? null : candidate;
		});
		const repairs = results.flatMap(([{ lang }, candidate]) => (candidate ? [{ lang, candidate }] : []));
		const repair = repairOf(layer, separateLangs(registration, repairs));
		return { isSick: states.size > 0, repair: repair && (await canBeDrawn(repair, clients)) ? repair : null };
	};
}

/** @param state null of a layer that works */
async function findCandidate(
	search: CandidateSearch,
	{ registration, description }: CheckedLayer,
	{ lang, type, names }: Service,
	state: SickState | null,
): Promise<Candidate | null> {
	const before = currentDescription(registration, description, lang);
	// An entry without a number or a name is a whole service, which cannot be compared.
	if (!before || (type !== "esriFeature" && names.length !== 1)) return null;
	if (state === "empty") return "renderer" in before ? search.findFull(before) : null;
	const subject = { registration, lang, before };
	return state === null ? search.findTarget(subject) : search.find(subject);
}

async function canBeDrawn({ registration, byLang }: Repair, clients: SearchClients) {
	const bytes = new TextEncoder().encode(canonicalText(registration));
	if (!parseRegistration(bytes, "written").registration) return false;
	const findings = await watchLayer(registration, null, clients, null);
	const sick = findings.filter(isSick).map(({ lang }) => lang);
	return !byLang.some(({ lang }) => sick.includes(lang));
}

/** Languages with different layers cannot move to the same one: it belongs to the language that keeps its number or name. */
function separateLangs(registration: Registration, repairs: LangRepair[]): LangRepair[] {
	if (placeOf(registration, "en") === placeOf(registration, "fr")) return repairs;
	const moves = repairs.map((repair) => {
		const { lang, candidate } = repair;
		const moved = withEntry(registration, lang, candidate);
		const keepsName = nameIn(moved, lang) === nameIn(registration, lang);
		return { repair, target: placeOf(moved, lang), keepsName };
	});
	const kept = moves.filter((move) => {
		const other = moves.find((another) => another !== move && another.target === move.target);
		return !other || (move.keepsName && !other.keepsName);
	});
	return kept.map(({ repair }) => repair);
}

function nameIn(registration: Registration, lang: Lang) {
	return namedLayers(registration, lang)[0] ?? numberIn(registration[lang].service_url);
}

function repairOf(layer: CheckedLayer, repairs: LangRepair[]): Repair | null {
	if (repairs.length === 0) return null;
	let { registration, description } = layer;
	for (const { lang, candidate } of repairs) {
		registration = withEntry(registration, lang, candidate);
		description = { ...description, [lang]: candidate.description };
	}
	const isSure = repairs.every(({ candidate }) => candidate.agreement.sure === "same");
	const sure = isSure ? "same" : "perhaps";
	return { layer, byLang: repairs, registration, description: description ?? {}, sure };
}
