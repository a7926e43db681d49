export { quote } from "../../site/service/decode.ts";

import { currentDescription, type Description, type LangDescription } from "../../registry/description.ts";
import { type Cause, causeOf, causeText, type SickState, sickStates } from "../../registry/health.ts";
import {
	harvestedLangs,
	isVersion2,
	type LangEntry,
	type LangNode,
	namedLayers,
	type Registration,
	serviceTypeOf,
	takesAllLayers,
} from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { Trouble } from "./ask.ts";
import { type CheckResult, checkResult } from "./health.ts";

export interface Finding {
	/** `wrong`: the publisher has to act. `down`: the service is down, slow or odd. `empty`: nothing is drawn. `well`: what could not be seen. */
	state: SickState | "well";
	lang: Lang;
	/** JSON pointer into the registration: `/en/service_url`. */
	pointer: string;
	what: Cause;
	/** English, plain, one line. May quote the service, and must be escaped in markup. */
	text: string;
}

export type Service = ReturnType<typeof serviceOf>;

/** What is registered in a language. */
export function serviceOf(registration: Registration, lang: Lang) {
	const entry: LangEntry | LangNode = registration[lang];
	const type = serviceTypeOf(registration, lang);
	return {
		lang,
		type,
		ogc: type === "ogcWms" ? ("WMS" as const) : type === "ogcWmts" ? ("WMTS" as const) : null,
		entry,
		address: entry.service_url,
		/** Layers of an OGC service. */
		names: namedLayers(registration, lang),
		/** Version 2.0: names, or numbers on an ArcGIS server. */
		listed: "scrape_only" in entry ? (entry.scrape_only ?? []) : [],
		isWhole: isVersion2(registration) && takesAllLayers(registration[lang]),
	};
}

export function findingOf(
	{ lang, address }: Pick<Service, "lang" | "address">,
	{ state, what }: Pick<Finding, "state" | "what">,
	member = "service_url",
): Finding {
	return { state, lang, pointer: `/${lang}/${member}`, what, text: `${address}: ${causeText("en", what)}` };
}

export function isSick(finding: Finding): finding is Finding & { state: SickState } {
	return finding.state !== "well";
}

/** `<JSON pointer>: <address> <cause>`, for a publisher. */
export type FindingLine = Readonly<Record<Lang, string>>;

export function findingLines(registration: Registration, findings: readonly Finding[]): FindingLine[] {
	return findings.map(({ lang, pointer, what, text }) => {
		const address = registration[lang].service_url;
		return { en: `${pointer}: ${text}`, fr: `${pointer}: ${address} : ${causeText("fr", what)}` };
	});
}

export function orTrouble<T>(task: Promise<T>): Promise<T | Trouble> {
	return task.catch((error) => {
		if (error instanceof Trouble) return error;
		throw error;
	});
}

export async function orNull<T>(task: Promise<T>): Promise<T | null> {
	const value = await orTrouble(task);
	return value instanceof Trouble ? null : value;
}

export interface Described {
	description: LangDescription;
	/** An earlier, complete description is better; null if everything was read. */
	missing: Trouble | null;
}

/** Of a service that is registered as a whole: each one is an entry in every fragment. */
const maxEntries = 1000;

/** @throws {Trouble} */
export function checkEntries(entries: readonly unknown[]): void {
	if (entries.length === 0) throw new Trouble("wrong", causeOf("no-layers"));
	if (entries.length > maxEntries) throw new Trouble("wrong", causeOf("many-layers", maxEntries));
}

/** Address and layer names, as a text that can be compared. */
export function placeOf(registration: Registration, lang: Lang): string {
	return [registration[lang].service_url, ...namedLayers(registration, lang)].join(" ");
}

/** One after the other; once for languages with the same service and layers, unless the first one has no result. */
export async function eachService<T>(
	services: readonly Service[],
	task: (service: Service) => Promise<T>,
	keyOf: (service: Service) => string = ({ type }) => type,
): Promise<[Service, T][]> {
	const results = new Map<string, T>();
	const pairs: [Service, T][] = [];
	for (const service of services) {
		const key = [keyOf(service), service.address, ...service.names].join(" ");
		const result = results.get(key) ?? (await task(service));
		results.set(key, result);
		pairs.push([service, result]);
	}
	return pairs;
}

/** The worst of both languages; null if nothing is wrong. */
export function resultOf(findings: readonly Finding[]): CheckResult | null {
	const rankOf = ({ state }: { state: SickState }) => sickStates.indexOf(state);
	const [worst] = findings.filter(isSick).sort((a, b) => rankOf(a) - rankOf(b));
	return worst ? checkResult(worst.state, worst.what) : null;
}

export interface Harvested {
	description: Description;
	/** The languages whose earlier description is better. */
	partial: Set<Lang>;
	findings: Finding[];
}

/**
 * The description to store. A language whose service did not answer keeps its stored one, if that is of the same service.
 * @returns null if neither language has a description
 */
export function mergeDescription(
	registration: Registration,
	harvested: Harvested,
	previous: Description | null,
): Description | null {
	const merged: Description = {};
	for (const lang of harvestedLangs(registration)) {
		const before = currentDescription(registration, previous, lang);
		const current = currentDescription(registration, harvested.description, lang);
		const best = harvested.partial.has(lang) ? (before ?? current) : (current ?? before);
		if (best) merged[lang] = keepNeighbours(before, inOrderOf(before, best));
	}
	return Object.keys(merged).length > 0 ? merged : null;
}

/** Keeps the earlier neighbours where the service does not list them now, or the layer has lost its features. */
function keepNeighbours(before: LangDescription | null, current: LangDescription): LangDescription {
	const isEmpty = "count" in current && current.count === 0;
	const all = isEmpty ? { ...current, ...neighboursOf(before) } : { ...neighboursOf(before), ...current };
	const { siblings: _, services: __, folders: ___, ...rest } = all;
	// At the end: the members have one order.
	return { ...rest, ...neighboursOf(all) } as LangDescription;
}

function neighboursOf(description: Partial<LangDescription> | null) {
	const { siblings, services, folders } = description ?? {};
	return { ...(siblings && { siblings }), ...(services && { services }), ...(folders && { folders }) };
}

/** Some services change the order with each request, which must not change the file. */
function inOrderOf(before: LangDescription | null, now: LangDescription): LangDescription {
	if (!before || !("entries" in before) || !("entries" in now)) return now;
	const present = new Set(now.entries);
	const entries = new Set([...before.entries.filter((entry) => present.has(entry)), ...now.entries]);
	return { ...now, entries: [...entries] };
}
