import { currentDescription, type Description } from "../../registry/description.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import {
	canonicalText,
	namedLayers,
	parseRegistration,
	type Registration,
	serviceTypeOf,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { eachService, placeOf, type Watched } from "../finding.ts";
import { createWatchLayer } from "../layer.ts";
import { type Candidate, createFindCandidates, type SearchOptions, withEntry } from "./candidates.ts";

/** The candidates of one language: one, or several that agree equally. */
interface LangRepair {
	lang: Lang;
	candidates: Candidate[];
}

/** A possible repair of a sick layer. */
export interface Repair {
	layer: CheckedLayer;
	langs: LangRepair[];
	/** `choose`: several candidates agree equally, so a person has to choose. */
	sure: "same" | "perhaps" | "choose";
	/** The layer after the repair; unchanged if a person has to choose. */
	registration: Registration;
	description: Description;
}

/**
 * Creates a function that checks whether a layer is still sick, and looks for a repair. It proposes only what a viewer can
 * draw (`createWatchLayer`). It never rejects.
 * @param registered all layers: a place that another layer has is a candidate only if it is surely the same layer
 */
export function createFindRepair(options: SearchOptions, registered: Iterable<CheckedLayer>) {
	const watch = createWatchLayer(options.ask);
	const findCandidates = createFindCandidates(options);
	const taken = new Map<string, string>();
	for (const { smallkey, registration } of registered) {
		for (const lang of langs) taken.set(placeOf(registration, lang), smallkey);
	}

	async function findLang({ smallkey, registration, description }: CheckedLayer, lang: Lang) {
		const known = currentDescription(registration, description, lang);
		// An entry without a number or a name is a whole service, which cannot be compared.
		const isOneLayer =
			serviceTypeOf(registration, lang) === "esriFeature" || namedLayers(registration, lang).length === 1;
		if (!known || !isOneLayer) return [];
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
		const sick = langs.filter((lang) => findings.some((finding) => finding.lang === lang));
		const found = await eachService(layer.registration, sick, (lang) => findLang(layer, lang));
		return found.flatMap(([lang, candidates]) => (candidates.length > 0 ? [{ lang, candidates }] : []));
	}

	/** Whether the repaired registration is valid, and its repaired languages have no findings. */
	async function isWell({ registration, langs }: Repair): Promise<boolean> {
		const bytes = new TextEncoder().encode(canonicalText(registration));
		if (!parseRegistration(bytes, "written").registration) return false;
		const { findings } = await watch(registration);
		return findings.every((finding) => langs.every(({ lang }) => lang !== finding.lang));
	}

	return async (layer: CheckedLayer): Promise<{ isSick: boolean; repair: Repair | null }> => {
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
