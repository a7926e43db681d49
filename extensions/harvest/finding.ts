export { quote } from "../../site/service/decode.ts";

import { Trouble } from "../../api/service/net/trouble.ts";
import { isBlockedOn } from "../../registry/addresses.ts";
import { type Cause, causeOf, causeText } from "../../registry/causes.ts";
import {
	currentDescription,
	type Description,
	type LangDescription,
	parseDescription,
} from "../../registry/description.ts";
import { type CheckResult, checkResult, type SickState, sickStates } from "../../registry/health.ts";
import {
	harvestedLangs,
	namedLayers,
	type Registration,
	serviceTypeOf,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";

export interface Finding {
	/**
	 * `wrong`: no such layer, a group layer, not a map service; the publisher has to act. `down`: the service is down, slow or
	 * answers unexpectedly; this blocks nothing. `empty`: the service draws nothing. `well`: nothing is wrong; the finding
	 * says what could not be seen.
	 */
	state: SickState | "well";
	lang: Lang;
	/** JSON pointer into the registration: `/en/service_url`. */
	pointer: string;
	what: Cause;
	/** `what` in English, with the address: one line of plain text. It may quote the service, and must be escaped in markup. */
	text: string;
}

export function findingOf(
	registration: Registration,
	lang: Lang,
	{ state, what }: Pick<Finding, "state" | "what">,
	member = "service_url",
): Finding {
	const text = `${registration[lang].service_url} ${causeText("en", what)}`;
	return { state, lang, pointer: `/${lang}/${member}`, what, text };
}

export function isSick(finding: Finding): finding is Finding & { state: SickState } {
	return finding.state !== "well";
}

/** One line about a layer for its publisher, in each language: `<JSON pointer>: <address> <cause>`. */
export type FindingLine = Readonly<Record<Lang, string>>;

export function findingLine(registration: Registration, { lang, pointer, what, text }: Finding): FindingLine {
	const french = `${registration[lang].service_url} ${causeText("fr", what)}`;
	return { en: `${pointer}: ${text}`, fr: `${pointer}: ${french}` };
}

/** A task's value, or its `Trouble` as a value. @throws any other error */
export function orTrouble<T>(task: Promise<T>): Promise<T | Trouble> {
	return task.catch((error) => {
		if (error instanceof Trouble) return error;
		throw error;
	});
}

/** A task's value; null instead of a `Trouble`. @throws any other error */
export async function orNull<T>(task: Promise<T>): Promise<T | null> {
	const value = await orTrouble(task);
	return value instanceof Trouble ? null : value;
}

export interface Described {
	description: LangDescription;
	/** What could not be read, so that an earlier, complete description is better; null if everything was read. */
	missing: Trouble | null;
}

/** Layers of a service that is registered as a whole: each one is an entry in every fragment. */
const maxEntries = 1000;

/** @throws {Trouble} if a service has no layers, or too many to be registered as a whole */
export function checkEntries(entries: readonly unknown[]): void {
	if (entries.length === 0) throw new Trouble("wrong", causeOf("no-layers"));
	if (entries.length <= maxEntries) return;
	throw new Trouble("wrong", causeOf("many-layers", maxEntries));
}

/** The registered address and layer names of one language, as a text that can be compared. */
export function placeOf(registration: Registration, lang: Lang): string {
	return [registration[lang].service_url, ...namedLayers(registration, lang)].join(" ");
}

/** Runs a task for each language, one after the other; only once for languages with the same service and layers. */
export async function eachService<T>(
	registration: Registration,
	langs: readonly Lang[],
	task: (lang: Lang) => Promise<T>,
): Promise<[Lang, T][]> {
	const results = new Map<string, Promise<T>>();
	const found: [Lang, T][] = [];
	for (const lang of langs) {
		const service = `${serviceTypeOf(registration, lang)} ${placeOf(registration, lang)}`;
		const result = results.get(service) ?? task(lang);
		results.set(service, result);
		found.push([lang, await result]);
	}
	return found;
}

export interface Watched {
	/** The worse state of both languages; null if nothing is wrong. */
	state: SickState | null;
	/** What is wrong or was not seen in which language; the texts are plain and may quote a service. */
	findings: Finding[];
}

export function watchedOf(findings: Finding[]): Watched {
	const state = sickStates.find((one) => findings.some((finding) => finding.state === one)) ?? null;
	return { state, findings };
}

/** The state to store, with its first finding as the cause; null if nothing is wrong. */
export function seenOf({ state, findings }: Watched): CheckResult | null {
	const found = findings.find((finding) => finding.state === state);
	return state && (found ? checkResult(state, found.what) : { state });
}

/** The languages in which browsers do not show a layer on a site, since it is registered with http. @param site null: it does not matter */
export function blockedOn(site: string | null, registration: Registration): Finding[] {
	const trouble = { state: "blocked", what: causeOf("not-secure") } as const;
	return langs
		.filter((lang) => site !== null && isBlockedOn(site, registration[lang].service_url))
		.map((lang) => findingOf(registration, lang, trouble));
}

export interface Harvested {
	found: Description;
	/** The languages of `found` whose description is incomplete: an earlier description is better. */
	partial: Set<Lang>;
	findings: Finding[];
}

/**
 * The description to store after a harvest. A language whose service did not answer keeps its stored description, if that
 * is of the registered service.
 * @param stored text of the stored description, or null
 * @returns null if neither language has a description
 */
export function mergeDescription(
	registration: Registration,
	harvested: Harvested,
	stored: string | null,
): Description | null {
	const previous = stored === null ? null : parseDescription(stored);
	const merged: Description = {};
	for (const lang of harvestedLangs(registration)) {
		const before = currentDescription(registration, previous, lang);
		const found = currentDescription(registration, harvested.found, lang);
		const best = harvested.partial.has(lang) ? (before ?? found) : (found ?? before);
		if (best) merged[lang] = withBeside(before, inOrderOf(before, best));
	}
	return Object.keys(merged).length > 0 ? merged : null;
}

/** Keeps what stood beside a layer, if the service does not list it this time, or the layer has lost its features. */
function withBeside(before: LangDescription | null, now: LangDescription): LangDescription {
	const isEmpty = "count" in now && now.count === 0;
	const known = isEmpty ? { ...now, ...besideOf(before) } : { ...besideOf(before), ...now };
	const { siblings: _, services: __, folders: ___, ...rest } = known;
	// At the end, so that the members have one order.
	return { ...rest, ...besideOf(known) } as LangDescription;
}

function besideOf(description: Partial<LangDescription> | null) {
	const { siblings, services, folders } = description ?? {};
	return { ...(siblings && { siblings }), ...(services && { services }), ...(folders && { folders }) };
}

/**
 * Sorts the layers of a service in the stored order, followed by the new ones: some services change the order with each
 * request, which must not change the file.
 */
function inOrderOf(before: LangDescription | null, now: LangDescription): LangDescription {
	if (!before || !("entries" in before) || !("entries" in now)) return now;
	const present = new Set(now.entries);
	const entries = new Set([...before.entries.filter((entry) => present.has(entry)), ...now.entries]);
	return { ...now, entries: [...entries] };
}
