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
import { linkedServices, otherServices, permanentTarget, standingOf } from "./places.ts";

/** A service that could be registered for one language instead of the present one. */
export interface Candidate extends Alike {
	/** The attempt that found it. */
	by: "https" | "redirect" | "service" | "folder" | "similar";
}

/** What a search has tried, for a layer without a proposal. */
export interface Tried {
	/** Whether the list of the service or of its server still has the place. */
	isListed: boolean;
	/** Attempt → number of addresses. */
	attempts: Map<Candidate["by"], number>;
	/** Numbers of rows of the place that agrees most: those that agree, and all. */
	best: [agreeing: number, all: number];
}

/** Clients and settings of the search. */
export interface SearchOptions {
	/** The client for services, with its limits of requests. */
	ask: Ask;
	/** The guarded fetch, for requests whose redirects must not be followed. The same limits apply. */
	fetch: typeof fetch;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** Addresses of one attempt that are asked. */
const maxAddresses = 5;

/** Candidates from which a person may have to choose. */
const maxShown = 5;

/**
 * Creates the searches for the service of one language of a layer. The layers share answers. They ask no other host, unless
 * a permanent redirect leads there. They never reject, and return the best candidates: one, or several that agree equally.
 */
export function createFindCandidates({ ask, fetch, mapWkid }: SearchOptions) {
	const clients = { ask, mapWkid, read: createReadCapabilities(ask) };
	const targets = new Map<string, Promise<string[]>>();

	/** Describes the layer at another address, where it has the same number or name. */
	async function ownAt(
		registration: Registration,
		lang: Lang,
		known: LangDescription,
		address: string,
		tried?: Tried,
	) {
		const moved = withEntry(registration, lang, { service_url: address });
		const described = await orNull(describe(moved, lang, clients));
		if (described && tried) noteRows(tried, agreementOf(known, described.description).rows);
		return alikeAt(known, address, described);
	}

	/** Compares a layer with the one at an address and, if that is not there, with the other layers of its service. */
	async function findAt(
		registration: Registration,
		lang: Lang,
		known: LangDescription,
		address: string,
		tried: Tried,
	) {
		const own = await ownAt(registration, lang, known, address, tried);
		if (own.some((one) => one.agreement.sure === "same")) return own;
		const standing = await standingOf(known, address, clients);
		if (standing === "here" || standing === "unknown") return own;
		const alike = await findAlike(known, address, clients);
		for (const { agreement } of alike) noteRows(tried, agreement.rows);
		return [...own, ...(knowsAll(known.siblings) ? alike : alike.map(perhaps))];
	}

	/** The attempts, the cheapest first. */
	async function* attemptsFor(known: LangDescription, address: string, isArcgis: boolean, tried: Tried) {
		const number = isArcgis ? numberIn(address) : "";
		// A redirect may lead to the service without the number of the layer.
		const targetOf = async (from: string) =>
			(await permanentTarget(from, isArcgis, fetch)).map((target) =>
				number && !numberIn(target) ? `${target.replace(/\/$/, "")}/${number}` : target,
			);
		const standing = await standingOf(known, address, clients);
		tried.isListed ||= standing === "here";
		if (standing === "here") return;
		yield ["redirect", await targetOf(address)] as const;
		const secure = address.replace(/^http:/, "https:");
		if (secure !== address) {
			const [target = secure] = await targetOf(secure);
			yield ["https", [target]] as const;
		}
		if (standing !== "unknown") yield ["service", [address]] as const;
		if (standing !== "gone" && standing !== "withdrawn") return;
		const { same, similar } = await otherServices(known, address, ask);
		// A service that has lost a layer did not move itself.
		if (standing === "gone") yield ["folder", same] as const;
		yield ["similar", similar] as const;
		if (standing === "gone" && !isArcgis) yield ["folder", await linkedServices(address, fetch)] as const;
	}

	return {
		/** Finds the service of a sick layer. The search ends when one attempt finds the same layer. */
		async find(
			registration: Registration,
			lang: Lang,
			known: LangDescription,
			tried: Tried,
		): Promise<Candidate[]> {
			const { service_url: address } = registration[lang];
			const asked = new Set<string>();
			// What is found for both languages must be right for both.
			const shared = langs.filter((one) => placeOf(registration, one) === placeOf(registration, lang));
			const all: Candidate[] = [];
			for await (const [by, addresses] of attemptsFor(known, address, isArcgis(registration, lang), tried)) {
				if (addresses.length > 0) tried.attempts.set(by, (tried.attempts.get(by) ?? 0) + addresses.length);
				const left = addresses.filter((one) => !asked.has(one));
				const found: Candidate[] = [];
				for (const one of left.slice(0, maxAddresses).flatMap(withSecure)) {
					if (asked.has(one)) continue;
					asked.add(one);
					const alike = await findAt(registration, lang, known, one, tried);
					const own = alike.filter(({ description }) =>
						shared.every((one) => !isOfOtherLanguage(one, namesOf(known), namesOf(description))),
					);
					const wasThere = by === "folder" && isInKnownFolder(known, one);
					found.push(...(wasThere ? own.map(perhaps) : own).map((candidate) => ({ ...candidate, by })));
				}
				if (by === "similar") all.push(...found.map(perhaps));
				else if (found.some(({ agreement }) => agreement.sure === "same")) return best(found);
				else all.push(...found);
			}
			return best(all);
		},

		/** Finds the target of a permanent redirect of a layer that still works, if everything agrees there. */
		async findTarget(registration: Registration, lang: Lang, known: LangDescription): Promise<Candidate[]> {
			const { service_url: address } = registration[lang];
			const isFeature = "renderer" in known;
			const [, service = address, number = ""] = (isFeature && /^(.*?)(\/\d+\/?)$/.exec(address)) || [];
			const target = targets.get(service) ?? permanentTarget(service, isFeature, fetch, "HEAD");
			targets.set(service, target);
			const [moved] = await target;
			if (moved === undefined) return [];
			const found = await ownAt(registration, lang, known, `${moved}${number}`);
			return found.filter(isSame).map((one) => ({ ...one, by: "redirect" }));
		},

		/** Finds the full namesake of a layer that became empty: one that was not beside it before. */
		async findFull(known: LangDescription): Promise<Candidate[]> {
			if (!knowsAll(known.siblings)) return [];
			const found = await findAlike(known, known.service_url, clients);
			const named = found.filter(({ agreement }) => hasItsName(agreement));
			return best(named.map((one) => perhaps({ ...one, by: "service" as const })));
		},
	};
}

/** An address with https before the same one with http. */
function withSecure(address: string): string[] {
	return [...new Set([address.replace(/^http:/, "https:"), address])];
}

/** The names in the address of a layer, and its own. */
function namesOf(description: LangDescription): string {
	const names =
		"renderer" in description ? [description.name] : "layers" in description ? description.layers : [];
	return [new URL(description.service_url).pathname, ...names].join(" ");
}

/** Whether a service is in a folder that its server had before, so that it may be another one of the same name. */
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

/** The candidates that agree most; empty if there are too many to choose from. Of http and https, https is taken. */
function best(found: readonly Candidate[]): Candidate[] {
	const weightOf = ({ agreement: { sure, rows } }: Candidate) =>
		(sure === "same" ? 1000 : 0) + rows.filter((row) => row.agrees).length;
	const maxWeight = Math.max(...found.map(weightOf));
	const top = new Map<string, Candidate>();
	for (const one of found.filter((one) => weightOf(one) === maxWeight)) {
		const place = `${one.service_url.replace(/^https?:/, "")} ${one.layer ?? ""}`;
		const other = top.get(place);
		if (!other?.service_url.startsWith("https:")) top.set(place, one);
	}
	return top.size > maxShown ? [] : [...top.values()];
}

/** A registration with other members in one language. */
export function withEntry(
	registration: Registration,
	lang: Lang,
	{ service_url, layer }: { service_url: string; layer?: string | undefined },
): Registration {
	const named = layer === undefined ? {} : isVersion2(registration) ? { scrape_only: [layer] } : { layer };
	return { ...registration, [lang]: { ...registration[lang], service_url, ...named } } as Registration;
}
