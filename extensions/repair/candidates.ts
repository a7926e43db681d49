import type { Ask } from "../../api/service/net/ask.ts";
import type { LangDescription } from "../../registry/description.ts";
import { isVersion2, type Registration, serviceTypeOf } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { agreementOf, hasItsName } from "../harvest/agreement.ts";
import { type Alike, alikeAt, findAlike } from "../harvest/alike.ts";
import { orNull, placeOf } from "../harvest/finding.ts";
import { describe } from "../harvest/layer.ts";
import { isOfOtherLanguage } from "../harvest/names.ts";
import { arcgisPlaceOf, knowsAll, numberIn } from "../harvest/siblings.ts";
import { createReadCapabilities } from "../harvest/wms/read-capabilities.ts";
import { linkedServices, otherServices, permanentTarget, presenceOf } from "./places.ts";

export interface Candidate extends Alike {
	by: "https" | "redirect" | "service" | "folder" | "similar";
}

/** What a search without a proposal has tried. */
export interface Tried {
	isListed: boolean;
	/** Attempt → number of addresses. */
	attempts: Map<Candidate["by"], number>;
	best: [agreeing: number, all: number];
}

export interface SearchOptions {
	ask: Ask;
	fetch: typeof fetch;
	/** Spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

const maxAddresses = 5;

const maxShown = 5;

/**
 * Requests no other host, unless a permanent redirect leads there. The searches share answers, never reject, and return the
 * best candidates: one, or several that agree equally.
 */
export function createFindCandidates({ ask, fetch, mapWkid }: SearchOptions) {
	const clients = { ask, mapWkid, read: createReadCapabilities(ask) };
	const targets = new Map<string, Promise<string[]>>();

	/** The layer at another address, by the same number or name. */
	async function sameAt(
		registration: Registration,
		lang: Lang,
		before: LangDescription,
		address: string,
		tried?: Tried,
	) {
		const moved = withEntry(registration, lang, { service_url: address });
		const described = await orNull(describe(moved, lang, clients));
		if (described && tried) noteRows(tried, agreementOf(before, described.description).rows);
		return alikeAt(before, address, described);
	}

	/** If the layer is not at the address, the other layers of its service are compared. */
	async function findAt(
		registration: Registration,
		lang: Lang,
		before: LangDescription,
		address: string,
		tried: Tried,
	) {
		const same = await sameAt(registration, lang, before, address, tried);
		if (same.some((candidate) => candidate.agreement.sure === "same")) return same;
		const presence = await presenceOf(before, address, clients);
		if (presence === "here" || presence === "unknown") return same;
		const alike = await findAlike(before, address, clients);
		for (const { agreement } of alike) noteRows(tried, agreement.rows);
		return [...same, ...(knowsAll(before.siblings) ? alike : alike.map(perhaps))];
	}

	/** The cheapest first. */
	async function* attemptsFor(before: LangDescription, address: string, isArcgis: boolean, tried: Tried) {
		const number = isArcgis ? numberIn(address) : "";
		// A redirect may lead to the service without the number of the layer.
		const targetOf = async (from: string) =>
			(await permanentTarget(from, isArcgis, fetch)).map((target) =>
				number && !numberIn(target) ? `${target.replace(/\/$/, "")}/${number}` : target,
			);
		const presence = await presenceOf(before, address, clients);
		tried.isListed ||= presence === "here";
		if (presence === "here") return;
		yield ["redirect", await targetOf(address)] as const;
		const secure = address.replace(/^http:/, "https:");
		if (secure !== address) {
			const [target = secure] = await targetOf(secure);
			yield ["https", [target]] as const;
		}
		if (presence !== "unknown") yield ["service", [address]] as const;
		if (presence !== "gone" && presence !== "withdrawn") return;
		const { same, similar } = await otherServices(before, address, ask);
		// A service that has lost a layer did not move itself.
		if (presence === "gone") yield ["folder", same] as const;
		yield ["similar", similar] as const;
		if (presence === "gone" && !isArcgis) yield ["folder", await linkedServices(address, fetch)] as const;
	}

	return {
		async find(
			registration: Registration,
			lang: Lang,
			before: LangDescription,
			tried: Tried,
		): Promise<Candidate[]> {
			const { service_url: address } = registration[lang];
			const requested = new Set<string>();
			// A service of both languages must be right for both.
			const shared = langs.filter((other) => placeOf(registration, other) === placeOf(registration, lang));
			const all: Candidate[] = [];
			for await (const [by, addresses] of attemptsFor(before, address, isArcgis(registration, lang), tried)) {
				if (addresses.length > 0) tried.attempts.set(by, (tried.attempts.get(by) ?? 0) + addresses.length);
				const left = addresses.filter((place) => !requested.has(place));
				const matches: Candidate[] = [];
				for (const place of left.slice(0, maxAddresses).flatMap(withSecure)) {
					if (requested.has(place)) continue;
					requested.add(place);
					const alike = await findAt(registration, lang, before, place, tried);
					const right = alike.filter(({ description }) =>
						shared.every(
							(sharedLang) => !isOfOtherLanguage(sharedLang, namesOf(before), namesOf(description)),
						),
					);
					const wasThere = by === "folder" && isInKnownFolder(before, place);
					matches.push(...(wasThere ? right.map(perhaps) : right).map((candidate) => ({ ...candidate, by })));
				}
				if (by === "similar") all.push(...matches.map(perhaps));
				else if (matches.some(({ agreement }) => agreement.sure === "same")) return best(matches);
				else all.push(...matches);
			}
			return best(all);
		},

		/** The target of a permanent redirect of a layer that still works, if everything agrees there. */
		async findTarget(registration: Registration, lang: Lang, before: LangDescription): Promise<Candidate[]> {
			const { service_url: address } = registration[lang];
			const isFeature = "renderer" in before;
			const [, service = address, number = ""] = (isFeature && /^(.*?)(\/\d+\/?)$/.exec(address)) || [];
			const target = targets.get(service) ?? permanentTarget(service, isFeature, fetch, "HEAD");
			targets.set(service, target);
			const [moved] = await target;
			if (moved === undefined) return [];
			const matches = await sameAt(registration, lang, before, `${moved}${number}`);
			return matches.filter(isSame).map((match) => ({ ...match, by: "redirect" }));
		},

		/** The namesake, with features, of a layer that became empty: one that was not beside it before. */
		async findFull(before: LangDescription): Promise<Candidate[]> {
			if (!knowsAll(before.siblings)) return [];
			const matches = await findAlike(before, before.service_url, clients);
			const namesakes = matches.filter(({ agreement }) => hasItsName(agreement));
			return best(namesakes.map((match) => perhaps({ ...match, by: "service" as const })));
		},
	};
}

function withSecure(address: string): string[] {
	return [...new Set([address.replace(/^http:/, "https:"), address])];
}

function namesOf(description: LangDescription): string {
	const names =
		"renderer" in description ? [description.name] : "layers" in description ? description.layers : [];
	return [new URL(description.service_url).pathname, ...names].join(" ");
}

/** A service in a folder that its server had before may be another one of the same name. */
function isInKnownFolder({ service_url, folders }: LangDescription, address: string): boolean {
	const [before, after] = [arcgisPlaceOf(service_url), arcgisPlaceOf(address)];
	const pathOf = (catalogue: string) => catalogue.replace(/^https?:/, "");
	if (!before || !after || pathOf(before.catalogue) !== pathOf(after.catalogue)) return false;
	return after.folder === "" || !knowsAll(folders) || folders.includes(after.folder);
}

function noteRows(tried: Tried, rows: Alike["agreement"]["rows"]): void {
	const agreeing = rows.filter((row) => row.agrees).length;
	if (agreeing > tried.best[0] || tried.best[1] === 0) tried.best = [agreeing, rows.length];
}

function isArcgis(registration: Registration, lang: Lang): boolean {
	return !["ogcWms", "ogcWmts"].includes(serviceTypeOf(registration, lang));
}

function isSame({ agreement }: Alike): boolean {
	return agreement.sure === "same";
}

/** A candidate that is not surely the same, whatever agrees. */
function perhaps<C extends Alike>(candidate: C): C {
	return { ...candidate, agreement: { ...candidate.agreement, sure: "perhaps" } };
}

/** Empty if there are too many to choose from. https is preferred to http. */
function best(candidates: readonly Candidate[]): Candidate[] {
	const weightOf = ({ agreement: { sure, rows } }: Candidate) =>
		(sure === "same" ? 1000 : 0) + rows.filter((row) => row.agrees).length;
	const maxWeight = Math.max(...candidates.map(weightOf));
	const top = new Map<string, Candidate>();
	for (const candidate of candidates.filter((each) => weightOf(each) === maxWeight)) {
		const place = `${candidate.service_url.replace(/^https?:/, "")} ${candidate.layer ?? ""}`;
		const other = top.get(place);
		if (!other?.service_url.startsWith("https:")) top.set(place, candidate);
	}
	return top.size > maxShown ? [] : [...top.values()];
}

export function withEntry(
	registration: Registration,
	lang: Lang,
	{ service_url, layer }: { service_url: string; layer?: string | undefined },
): Registration {
	const names = layer === undefined ? {} : isVersion2(registration) ? { scrape_only: [layer] } : { layer };
	return { ...registration, [lang]: { ...registration[lang], service_url, ...names } } as Registration;
}
