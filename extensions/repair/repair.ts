import { currentDescription, type Description } from "../../registry/description.ts";
import type { SickState } from "../../registry/health.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { canonicalText, parseRegistration, type Registration } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { eachService, isSick, placeOf, type Service, serviceOf } from "../harvest/finding.ts";
import { watchLayer } from "../harvest/layer.ts";
import { type Candidate, createCandidateSearch, type SearchClients, withEntry } from "./candidates.ts";

interface LangRepair {
	lang: Lang;
	candidates: Candidate[];
}

export interface Repair {
	layer: CheckedLayer;
	langs: LangRepair[];
	/** `choose`: several candidates agree equally. */
	sure: "same" | "perhaps" | "choose";
	/** After the repair; unchanged for `choose`. */
	registration: Registration;
	description: Description;
}

/** Proposes only what a viewer can draw, and never rejects. */
export function createRepairSearch(clients: SearchClients, registered: Iterable<CheckedLayer>) {
	const search = createCandidateSearch(clients);
	/** Registered place → smallkey: there a candidate must surely be the same layer. */
	const owners = new Map<string, string>();
	for (const { smallkey, registration } of registered)
		for (const lang of langs) owners.set(placeOf(registration, lang), smallkey);

	async function findLang(
		{ smallkey, registration, description }: CheckedLayer,
		{ lang, type, names }: Service,
		state: SickState | null,
	): Promise<Candidate[]> {
		const before = currentDescription(registration, description, lang);
		// An entry without a number or a name is a whole service, which cannot be compared.
		if (!before || (type !== "esriFeature" && names.length !== 1)) return [];
		const subject = { registration, lang, before };
		if (state === null) return search.findTarget(subject);
		if (state === "empty" && !("renderer" in before)) return [];
		const candidates = await (state === "empty" ? search.findFull(before) : search.find(subject));
		const isTaken = candidates.some((candidate) => {
			const place = placeOf(withEntry(registration, lang, candidate), lang);
			const owner = owners.get(place) ?? smallkey;
			const isOfOther = candidate.agreement.sure === "perhaps" && owner !== smallkey;
			// The layer of the other language is another one.
			return isOfOther || langs.some((other) => place === placeOf(registration, other));
		});
		return isTaken ? [] : candidates;
	}

	async function isWell({ registration, langs }: Repair): Promise<boolean> {
		const bytes = new TextEncoder().encode(canonicalText(registration));
		if (!parseRegistration(bytes, "written").registration) return false;
		const findings = await watchLayer(registration, null, clients, null);
		return findings.filter(isSick).every((finding) => langs.every(({ lang }) => lang !== finding.lang));
	}

	/** @param wasSick else only permanent redirects are followed, and the layer is not looked at */
	return async (layer: CheckedLayer, wasSick = true): Promise<{ isSick: boolean; repair: Repair | null }> => {
		const { registration, description } = layer;
		const findings = wasSick ? await watchLayer(registration, description, clients, null) : [];
		const states = new Map(
			findings
				.filter(isSick)
				.reverse()
				.map(({ lang, state }) => [lang, state]),
		);
		const sickLangs = langs.filter((lang) => states.size === 0 || states.has(lang));
		const services = sickLangs.map((lang) => serviceOf(registration, lang));
		const results = await eachService(services, (service) =>
			findLang(layer, service, states.get(service.lang) ?? null),
		);
		const repairs = results.flatMap(([{ lang }, candidates]) =>
			candidates.length > 0 ? [{ lang, candidates }] : [],
		);
		const repair = repairOf(layer, ofOneLang(registration, repairs));
		const isRight = repair && (repair.sure === "choose" || (await isWell(repair)));
		return { isSick: states.size > 0, repair: isRight ? repair : null };
	};
}

/** Languages with different layers cannot move to the same one: it belongs to the language that keeps its number or name. */
function ofOneLang(registration: Registration, repairs: LangRepair[]): LangRepair[] {
	if (placeOf(registration, "en") === placeOf(registration, "fr")) return repairs;
	const nameOf = (place: string) => place.split(/[/ ]/).at(-1);
	const placesOf = ({ lang, candidates }: LangRepair) =>
		candidates.map((candidate) => placeOf(withEntry(registration, lang, candidate), lang));
	const keepsName = (repair: LangRepair) =>
		placesOf(repair).every((place) => nameOf(place) === nameOf(placeOf(registration, repair.lang)));
	return repairs.filter((repair) => {
		const other = repairs.find(({ lang }) => lang !== repair.lang);
		const isShared = other && placesOf(other).some((place) => placesOf(repair).includes(place));
		return !isShared || (keepsName(repair) && !keepsName(other));
	});
}

function repairOf(layer: CheckedLayer, repairs: LangRepair[]): Repair | null {
	if (repairs.length === 0) return null;
	const { registration, description } = layer;
	const repair: Repair = {
		layer,
		langs: repairs,
		registration,
		description: description ?? {},
		sure: "same",
	};
	if (repairs.some(({ candidates }) => candidates.length > 1)) return { ...repair, sure: "choose" };
	for (const { lang, candidates } of repairs) {
		const [candidate] = candidates as [Candidate];
		repair.registration = withEntry(repair.registration, lang, candidate);
		repair.description = { ...repair.description, [lang]: candidate.description };
		if (candidate.agreement.sure === "perhaps") repair.sure = "perhaps";
	}
	return repair;
}
