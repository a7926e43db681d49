import { currentDescription, type Description } from "../../registry/description.ts";
import type { SickState } from "../../registry/health.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import {
	canonicalText,
	namedLayers,
	parseRegistration,
	type Registration,
	serviceTypeOf,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { eachService, isSick, placeOf, type SickFinding, serviceOf } from "../harvest/finding.ts";
import { watchLayer } from "../harvest/layer.ts";
import { type Candidate, CandidateSearch, type SearchClients, withEntry } from "./candidates.ts";

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
export class RepairSearch {
	readonly #clients: SearchClients;
	readonly #search: CandidateSearch;
	/** Registered place → smallkey: there a candidate must surely be the same layer. */
	readonly #owners = new Map<string, string>();

	constructor(clients: SearchClients, registered: Iterable<CheckedLayer>) {
		this.#clients = clients;
		this.#search = new CandidateSearch(clients);
		for (const { smallkey, registration } of registered)
			for (const lang of langs) this.#owners.set(placeOf(registration, lang), smallkey);
	}

	/** @param wasSick else only permanent redirects are followed, and the layer is not looked at */
	async find(layer: CheckedLayer, wasSick = true): Promise<{ isSick: boolean; repair: Repair | null }> {
		const { registration, description } = layer;
		const findings = wasSick ? await watchLayer(registration, description, this.#clients, null) : [];
		const sick = findings.filter(isSick);
		return { isSick: sick.length > 0, repair: await this.#findIn(layer, sick) };
	}

	/** @param sick findings; without one, only permanent redirects are followed */
	async #findIn(layer: CheckedLayer, sick: readonly SickFinding[]): Promise<Repair | null> {
		const { registration } = layer;
		const stateOf = (lang: Lang) => sick.find((finding) => finding.lang === lang)?.state ?? null;
		const sickLangs = langs.filter((lang) => sick.length === 0 || stateOf(lang) !== null);
		const services = sickLangs.map((lang) => serviceOf(registration, lang));
		const results = await eachService(services, ({ lang }) => this.#findLang(layer, lang, stateOf(lang)));
		const repairs = results.flatMap(([{ lang }, candidates]) =>
			candidates.length > 0 ? [{ lang, candidates }] : [],
		);
		const repair = repairOf(layer, ofOneLang(registration, repairs));
		return repair && (repair.sure === "choose" || (await this.#isWell(repair))) ? repair : null;
	}

	async #findLang(
		{ smallkey, registration, description }: CheckedLayer,
		lang: Lang,
		state: SickState | null,
	): Promise<Candidate[]> {
		const before = currentDescription(registration, description, lang);
		// An entry without a number or a name is a whole service, which cannot be compared.
		const isOneLayer =
			serviceTypeOf(registration, lang) === "esriFeature" || namedLayers(registration, lang).length === 1;
		if (!before || !isOneLayer) return [];
		const subject = { registration, lang, before };
		if (state === null) return this.#search.findTarget(subject);
		if (state === "empty" && !("renderer" in before)) return [];
		const candidates = await (state === "empty" ? this.#search.findFull(before) : this.#search.find(subject));
		const isTaken = candidates.some((candidate) => {
			const place = placeOf(withEntry(registration, lang, candidate), lang);
			const owner = this.#owners.get(place) ?? smallkey;
			const isOfOther = candidate.agreement.sure === "perhaps" && owner !== smallkey;
			// The layer of the other language is another one.
			return isOfOther || langs.some((other) => place === placeOf(registration, other));
		});
		return isTaken ? [] : candidates;
	}

	async #isWell({ registration, langs }: Repair): Promise<boolean> {
		const bytes = new TextEncoder().encode(canonicalText(registration));
		if (!parseRegistration(bytes, "written").registration) return false;
		const findings = await watchLayer(registration, null, this.#clients, null);
		return findings.filter(isSick).every((finding) => langs.every(({ lang }) => lang !== finding.lang));
	}
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
