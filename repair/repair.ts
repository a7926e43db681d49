import { createWatchLayer, type Watched } from "../harvest/watch-layer.ts";
import { canonicalText } from "../registry/canonical.ts";
import { currentDescription, type Description } from "../registry/description.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import {
	namedLayers,
	parseRegistration,
	type Registration,
	serviceTypeOf,
} from "../registry/registration.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import {
	type Candidate,
	createFindCandidates,
	placeOf,
	type SearchOptions,
	withEntry,
} from "./candidates.ts";

/** What was found for one language: one candidate, or several that agree alike. */
export interface LangRepair {
	lang: Lang;
	candidates: Candidate[];
}

/** What could be done about a sick layer. */
export interface Repair {
	layer: CheckedLayer;
	langs: LangRepair[];
	/** `choose`: several candidates agree alike, so that none is taken. */
	sure: "same" | "perhaps" | "choose";
	/** The layer after the repair; as it is where someone has to choose. */
	registration: Registration;
	description: Description;
}

/** A look at a layer that is said to be sick: whether it still is, and what could be done. */
export interface Looked {
	isSick: boolean;
	repair: Repair | null;
}

/**
 * Looks at a layer that is said to be sick, and for what could be registered in its place. What is proposed was looked at
 * as a viewer would. Never rejects.
 */
export type FindRepair = (layer: CheckedLayer) => Promise<Looked>;

/** Makes the search of one run. @param registered all layers: what another one has is not taken where it may be that one's */
export function createFindRepair(options: SearchOptions, registered: Iterable<CheckedLayer>): FindRepair {
	const watch = createWatchLayer(options.ask);
	const findCandidates = createFindCandidates(options);
	const taken = new Map<string, string>();
	for (const { smallkey, registration } of registered) {
		for (const lang of langs) taken.set(placeOf(registration, lang), smallkey);
	}

	async function findLang(
		{ smallkey, registration, description }: CheckedLayer,
		lang: Lang,
	): Promise<Candidate[]> {
		const known = currentDescription(registration, description, lang);
		// Without a number or a name it is a whole service.
		const isOne =
			serviceTypeOf(registration, lang) === "esriFeature" || namedLayers(registration, lang).length === 1;
		if (!known || !isOne) return [];
		const found = await findCandidates(registration, lang, known);
		const isTaken = found.some((candidate) => {
			const place = placeOf(withEntry(registration, lang, candidate), lang);
			const owner = taken.get(place) ?? smallkey;
			const isOfOther = candidate.agreement.sure === "perhaps" && owner !== smallkey;
			return isOfOther || place === placeOf(registration, lang);
		});
		return isTaken ? [] : found;
	}

	async function findLangs(layer: CheckedLayer, { findings }: Watched): Promise<LangRepair[]> {
		const found = new Map<string, Candidate[]>();
		const repairs: LangRepair[] = [];
		for (const lang of langs.filter((one) => findings.some((finding) => finding.lang === one))) {
			const place = placeOf(layer.registration, lang);
			const candidates = found.get(place) ?? (await findLang(layer, lang));
			found.set(place, candidates);
			if (candidates.length > 0) repairs.push({ lang, candidates });
		}
		return repairs;
	}

	/** Whether the repaired languages are well. */
	async function isWell({ registration, langs }: Repair): Promise<boolean> {
		const bytes = new TextEncoder().encode(canonicalText(registration));
		if (!parseRegistration(bytes, "written").registration) return false;
		const { findings } = await watch(registration);
		return findings.every((finding) => langs.every(({ lang }) => lang !== finding.lang));
	}

	return async (layer) => {
		const watched = await watch(layer.registration, undefined, layer.description);
		const isSick = watched.state !== null;
		if (watched.state !== "wrong" && watched.state !== "down") return { isSick, repair: null };
		const repair = repairOf(layer, await findLangs(layer, watched));
		return { isSick, repair: repair && (repair.sure === "choose" || (await isWell(repair))) ? repair : null };
	};
}

function repairOf(layer: CheckedLayer, repairs: LangRepair[]): Repair | null {
	if (repairs.length === 0) return null;
	const { registration, description } = layer;
	const unchanged = { layer, langs: repairs, registration, description: description ?? {} };
	if (repairs.some(({ candidates }) => candidates.length > 1)) return { ...unchanged, sure: "choose" };
	const repair: Repair = { ...unchanged, sure: "same" };
	for (const { lang, candidates } of repairs) {
		const [candidate] = candidates as [Candidate];
		repair.registration = withEntry(repair.registration, lang, candidate);
		repair.description = { ...repair.description, [lang]: candidate.description };
		if (candidate.agreement.sure === "perhaps") repair.sure = "perhaps";
	}
	return repair;
}
