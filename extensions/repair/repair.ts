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
import { eachService, isSick, placeOf, type Watched } from "../harvest/finding.ts";
import { createWatchLayer } from "../harvest/layer.ts";
import {
	type Candidate,
	createFindCandidates,
	type SearchOptions,
	type Tried,
	withEntry,
} from "./candidates.ts";

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

/**
 * Proposes only what a viewer can draw (`createWatchLayer`), and never rejects.
 * @param registered all layers: the place of another layer is a candidate only if it is surely the same layer
 */
export function createFindRepair(options: SearchOptions, registered: Iterable<CheckedLayer>) {
	const watch = createWatchLayer(options.ask, null, undefined, options.mapWkid);
	const search = createFindCandidates(options);
	const taken = new Map<string, string>();
	for (const { smallkey, registration } of registered) {
		for (const lang of langs) taken.set(placeOf(registration, lang), smallkey);
	}

	async function findLang(
		layer: CheckedLayer,
		lang: Lang,
		state: SickState | null,
		tried: Tried,
	): Promise<Candidate[]> {
		const { smallkey, registration, description } = layer;
		const before = currentDescription(registration, description, lang);
		// An entry without a number or a name is a whole service, which cannot be compared.
		const isOneLayer =
			serviceTypeOf(registration, lang) === "esriFeature" || namedLayers(registration, lang).length === 1;
		if (!before || !isOneLayer) return [];
		if (state === null) return search.findTarget(registration, lang, before);
		if (state === "empty" && !("renderer" in before)) return [];
		const candidates =
			state === "empty"
				? await search.findFull(before)
				: await search.find(registration, lang, before, tried);
		const isTaken = candidates.some((candidate) => {
			const place = placeOf(withEntry(registration, lang, candidate), lang);
			const owner = taken.get(place) ?? smallkey;
			const isOfOther = candidate.agreement.sure === "perhaps" && owner !== smallkey;
			// The layer of the other language is another one.
			return isOfOther || langs.some((other) => place === placeOf(registration, other));
		});
		return isTaken ? [] : candidates;
	}

	async function findLangs(
		layer: CheckedLayer,
		{ state, findings }: Watched,
		tried: Tried,
	): Promise<LangRepair[]> {
		const sick = findings.filter(isSick);
		const stateOf = (lang: Lang) => sick.find((finding) => finding.lang === lang)?.state ?? null;
		const sickLangs = langs.filter((lang) => state === null || stateOf(lang) !== null);
		const results = await eachService(layer.registration, sickLangs, (lang) =>
			findLang(layer, lang, stateOf(lang), tried),
		);
		return ofOneLang(
			layer.registration,
			results.flatMap(([lang, candidates]) => (candidates.length > 0 ? [{ lang, candidates }] : [])),
		);
	}

	async function isWell({ registration, langs }: Repair): Promise<boolean> {
		const bytes = new TextEncoder().encode(canonicalText(registration));
		if (!parseRegistration(bytes, "written").registration) return false;
		const { findings } = await watch(registration);
		return findings.filter(isSick).every((finding) => langs.every(({ lang }) => lang !== finding.lang));
	}

	async function findIn(layer: CheckedLayer, watched: Watched, tried = nothingTried()) {
		const repair = repairOf(layer, await findLangs(layer, watched, tried));
		return repair && (repair.sure === "choose" || (await isWell(repair))) ? repair : null;
	}

	return {
		/** `why`: why nothing is proposed for a layer that is still sick. */
		async find(layer: CheckedLayer): Promise<{ isSick: boolean; repair: Repair | null; why: string | null }> {
			const watched = await watch(layer.registration, undefined, layer.description);
			const tried = nothingTried();
			const repair = await findIn(layer, watched, tried);
			const isSick = watched.state !== null;
			return { isSick, repair, why: isSick && !repair ? whyNothing(tried) : null };
		},
		findTarget: (layer: CheckedLayer) => findIn(layer, { state: null, findings: [] }),
	};
}

const nothingTried = (): Tried => ({ isListed: false, attempts: new Map(), best: [0, 0] });

/** `tried https, 3 folder; best: 2 of 5 rows agree` */
function whyNothing({ isListed, attempts, best: [agreeing, all] }: Tried): string {
	if (isListed) return "its service is still listed, so it is down and not gone";
	const words = [...attempts].map(([by, number]) => (number === 1 ? by : `${number} × ${by}`));
	const best = all === 0 ? "nothing answers as a layer does" : `best: ${agreeing} of ${all} rows agree`;
	return words.length === 0 ? "no other place to ask is known" : `tried ${words.join(", ")}; ${best}`;
}

/**
 * Languages with different layers cannot move to the same one: it belongs to the language that keeps its
 * number or name, or to neither.
 */
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
