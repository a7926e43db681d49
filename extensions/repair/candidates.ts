import type { LangDescription } from "../../registry/description.ts";
import { isVersion2, type Registration } from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { hasItsName } from "../harvest/agreement.ts";
import { orNull } from "../harvest/ask.ts";
import type { Clients } from "../harvest/clients.ts";
import { describe } from "../harvest/harvest-layer.ts";
import { findMatches, type Match, matchAt } from "../harvest/matches.ts";
import { isOfOtherLanguage } from "../harvest/names.ts";
import { placeOf, serviceOf } from "../harvest/service.ts";
import { arcgisPlaceOf, knowsAll, numberIn } from "../harvest/siblings.ts";
import { linkedServices, otherServices, permanentTarget, presenceOf } from "./places.ts";

export interface Candidate extends Match {
	/** The server redirects there permanently. */
	isTarget: boolean;
}

interface Subject {
	registration: Registration;
	lang: Lang;
	before: LangDescription;
}

export interface SearchClients extends Clients {
	/** Does not follow redirects itself. The same limits apply. */
	fetch: typeof fetch;
}

const maxAddresses = 5;

/** Requests another host only after a permanent redirect. Never rejects. Null if no place agrees best. */
export class CandidateSearch {
	readonly #targets = new Map<string, ReturnType<typeof permanentTarget>>();

	constructor(readonly clients: SearchClients) {}

	async find(subject: Subject): Promise<Candidate | null> {
		const requested = new Set<string>();
		const all: Candidate[] = [];
		for await (const { source, addresses } of possibleAddresses(subject, this.clients)) {
			const matches: Candidate[] = [];
			const unseen = addresses.filter((address) => !requested.has(address)).slice(0, maxAddresses);
			for (const address of unseen.flatMap((address) => [withHttps(address), address])) {
				if (requested.has(address)) continue;
				requested.add(address);
				matches.push(...(await findCandidatesAt(subject, address, source, this.clients)));
			}
			if (matches.some(isSame)) return pickBest(matches);
			all.push(...matches);
		}
		return pickBest(all);
	}

	/** The redirect's target of a layer that still works, if everything agrees there. */
	async findTarget(subject: Subject): Promise<Candidate | null> {
		const { fetch } = this.clients;
		const { service_url: address } = subject.registration[subject.lang];
		const isFeature = "renderer" in subject.before;
		const [, service = address, number = ""] = (isFeature && /^(.*?)(\/\d+\/?)$/.exec(address)) || [];
		const target = this.#targets.get(service) ?? permanentTarget(service, isFeature, fetch, "HEAD");
		this.#targets.set(service, target);
		const moved = await target;
		if (moved === null) return null;
		const [match] = await sameAt(subject, `${moved}${number}`, this.clients);
		return match && isSame(match) ? { ...match, isTarget: true } : null;
	}

	/** The namesake with features of a layer that became empty. */
	async findFull(before: LangDescription): Promise<Candidate | null> {
		if (!knowsAll(before.siblings)) return null;
		const matches = await findMatches(before, before.service_url, this.clients);
		const namesakes = matches.filter(({ agreement }) => hasItsName(agreement));
		return pickBest(namesakes.map((match) => ({ ...asUnsure(match), isTarget: false })));
	}
}

type Source = "redirect" | "https" | "service" | "folder" | "similar";

/** The cheapest first. */
async function* possibleAddresses(
	{ registration, lang, before }: Subject,
	clients: SearchClients,
): AsyncGenerator<{ source: Source; addresses: string[] }> {
	const { address, ogc } = serviceOf(registration, lang);
	const number = ogc ? "" : numberIn(address);
	// A redirect may lead to the service without the number of the layer.
	const targetOf = async (from: string) => {
		const target = await permanentTarget(from, !ogc, clients.fetch, "GET");
		return target && number && !numberIn(target) ? `${target.replace(/\/$/, "")}/${number}` : target;
	};
	const presence = await presenceOf(before, address, clients);
	if (presence === "here") return;
	const target = await targetOf(address);
	if (target !== null) yield { source: "redirect", addresses: [target] };
	const secure = withHttps(address);
	if (secure !== address) yield { source: "https", addresses: [(await targetOf(secure)) ?? secure] };
	if (presence !== "unknown") yield { source: "service", addresses: [address] };
	if (presence !== "gone" && presence !== "withdrawn") return;
	const { same, similar } = await otherServices(before, address, clients.ask);
	// A service that has lost a layer did not move itself.
	if (presence === "gone") yield { source: "folder", addresses: same };
	yield { source: "similar", addresses: similar };
	if (presence === "gone" && ogc)
		yield { source: "folder", addresses: await linkedServices(address, clients.fetch) };
}

async function findCandidatesAt(subject: Subject, address: string, source: Source, clients: Clients) {
	const { registration, lang, before } = subject;
	// A service of both languages must be right for both.
	const shared = langs.filter((other) => placeOf(registration, other) === placeOf(registration, lang));
	const isRight = ({ description }: Match) =>
		!shared.some((sharedLang) => isOfOtherLanguage(sharedLang, namesOf(before), namesOf(description)));
	const matches = (await findAt(subject, address, clients)).filter(isRight);
	const isUnsure = source === "similar" || (source === "folder" && isInKnownFolder(before, address));
	const isTarget = source === "redirect";
	return matches.map((match): Candidate => ({ ...(isUnsure ? asUnsure(match) : match), isTarget }));
}

async function findAt(subject: Subject, address: string, clients: Clients): Promise<Match[]> {
	const { before } = subject;
	const same = await sameAt(subject, address, clients);
	if (same.some(isSame)) return same;
	const presence = await presenceOf(before, address, clients);
	if (presence === "here" || presence === "unknown") return same;
	const matches = await findMatches(before, address, clients);
	return [...same, ...(knowsAll(before.siblings) ? matches : matches.map(asUnsure))];
}

/** The layer of the same number or name. */
async function sameAt({ registration, lang, before }: Subject, address: string, clients: Clients) {
	const moved = serviceOf(withEntry(registration, lang, { service_url: address }), lang);
	return matchAt(before, address, await orNull(describe(moved, clients)));
}

function namesOf(description: LangDescription) {
	const names =
		"renderer" in description ? [description.name] : "layers" in description ? description.layers : [];
	return [new URL(description.service_url).pathname, ...names].join(" ");
}

/** A service in a folder that was there before may be another one of the same name. */
function isInKnownFolder({ service_url, folders }: LangDescription, address: string) {
	const [before, after] = [arcgisPlaceOf(service_url), arcgisPlaceOf(address)];
	if (!before || !after || withHttps(before.catalogue) !== withHttps(after.catalogue)) return false;
	return after.folder === "" || !knowsAll(folders) || folders.includes(after.folder);
}

function withHttps(address: string) {
	return address.replace(/^http:/, "https:");
}

function isSame({ agreement }: Match) {
	return agreement.sure === "same";
}

function asUnsure(match: Match): Match {
	return { ...match, agreement: { ...match.agreement, sure: "perhaps" } };
}

/** https is preferred to http. */
function pickBest(candidates: readonly Candidate[]): Candidate | null {
	const weightOf = ({ agreement: { sure, rows } }: Candidate) =>
		(sure === "same" ? 1000 : 0) + rows.filter((row) => row.agrees).length;
	const maxWeight = Math.max(...candidates.map(weightOf));
	const top = new Map<string, Candidate>();
	for (const candidate of candidates.filter((candidate) => weightOf(candidate) === maxWeight)) {
		const place = `${withHttps(candidate.service_url)} ${candidate.layer ?? ""}`;
		if (!top.get(place)?.service_url.startsWith("https:")) top.set(place, candidate);
	}
	const [match = null, second] = top.values();
	return second ? null : match;
}

export function withEntry(
	registration: Registration,
	lang: Lang,
	{ service_url, layer }: { service_url: string; layer?: string | undefined },
): Registration {
	const names = isVersion2(registration) ? { scrape_only: [layer] } : { layer };
	const entry = { ...registration[lang], service_url, ...(layer !== undefined && names) };
	return { ...registration, [lang]: entry } as Registration;
}
