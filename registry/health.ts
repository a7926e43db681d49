import { type Cause, type CauseCode, type CauseTexts, causeOf, causes, causeText } from "./causes.ts";
import { type Lang, parseSmallkey } from "./smallkey.ts";
import { filled } from "./texts/filled.ts";
import { tryJson } from "./try-json.ts";

/** The file that lists the sick layers. It is in the repository, so that each check knows how long a layer has been sick. */
export const healthPath = "layers/health.json";

/**
 * What is wrong with a layer. `wrong`: its service contradicts the registration. `down`: its service does not answer, or
 * its answer is unusable. `empty`: the service draws nothing. `blocked`: it draws, but browsers do not show it on this site.
 * `moved`: it draws, and its service redirects permanently to the place of a repair that waits.
 */
export const sickStates = ["wrong", "down", "empty", "blocked", "moved"] as const;
export type SickState = (typeof sickStates)[number];

/** What is wrong with a layer, and since when. */
export interface Sickness {
	state: SickState;
	/** The week in which the layer was first found in this state, as ISO 8601 writes it: `2026-W09`. */
	since: string;
	/** The last finding in English, such as `answers with status 503`: one line of plain text, which may quote a service. */
	cause?: string;
	/** The last finding by its code in `causes`, with the values of its text. An earlier version stored neither. */
	code?: CauseCode;
	values?: readonly string[];
	/** Whether a repair waits for a decision on a branch `repair/…`. */
	repair?: true;
}

/** The finding of one check of a layer. */
export type Seen = Omit<Sickness, "since" | "repair">;

/** Smallkey → what is wrong with the layer. Healthy layers are not listed. */
export type Health = ReadonlyMap<string, Sickness>;

/** Most layers in the file; the layers that have been sick longest are kept. */
const maxSick = 5000;

/** Most values of a cause. */
const maxValues = 3;

const weekPattern = /^\d{4}-W\d{2}$/;

/** Reads `layers/health.json`. Invalid entries are ignored; an unreadable file gives an empty map. */
export function parseHealth(text: string | null): Health {
	const { sick } = (tryJson(text ?? "") ?? {}) as { sick?: unknown };
	const known = Object.entries(sick ?? {}).filter((entry): entry is [string, Sickness] => {
		return parseSmallkey(entry[0]) !== null && isSickness(entry[1]);
	});
	return new Map(known.map(([smallkey, sickness]) => [smallkey, clean(sickness)]));
}

/** Longest cause, and longest value of one, in characters. */
const maxCauseLength = 160;

/** What was seen of a layer, as it is stored. */
export function seenAs(state: SickState, what: Cause): Seen {
	// What is said of the host is said of the layer.
	const [inner] = what.values;
	if (typeof inner === "object") return seenAs(state, inner);
	const values = what.values.map((value) => String(value).slice(0, maxCauseLength));
	const cause = causeText("en", what).slice(0, maxCauseLength);
	return { state, cause, code: what.code, ...(values.length > 0 && { values }) };
}

/**
 * Why a layer is sick, in the reader's language; as stored, in English, if only that is known.
 * @param texts those of the language
 */
export function causeIn(
	lang: Lang,
	texts: CauseTexts,
	{ cause = "", code, values = [] }: Partial<Sickness>,
): { text: string; lang: Lang } {
	return code ? { text: filled(texts, { code, values }), lang } : { text: cause, lang: "en" };
}

function clean({ state, since, cause, code, values, repair }: Sickness): Sickness {
	const seen = typeof cause === "string" && { cause: cause.slice(0, maxCauseLength) };
	// A later version may have other codes.
	const isKnown = typeof code === "string" && Object.hasOwn(causes.en, code);
	const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
	const filled = texts.slice(0, maxValues).map((value) => value.slice(0, maxCauseLength));
	return {
		state,
		since,
		...seen,
		...(isKnown && { code }),
		...(isKnown && filled.length > 0 && { values: filled }),
		...(repair === true && { repair }),
	};
}

function isSickness(value: unknown): value is Sickness {
	const { state, since } = (value ?? {}) as Partial<Sickness>;
	return sickStates.includes(state as SickState) && typeof since === "string" && weekPattern.test(since);
}

/**
 * The text of `layers/health.json`; null where no layer is sick, and the file is to be removed. Each layer has one line,
 * sorted by smallkey, and nothing changes from week to week. Thus the same findings give the same text on two branches,
 * and git can merge findings about different layers.
 */
export function healthText(health: Health): string | null {
	if (health.size === 0) return null;
	const longest = [...health]
		.sort(([a, one], [b, other]) => compare(one.since, other.since) || compare(a, b))
		.slice(0, maxSick);
	const lines = longest
		.sort(([a], [b]) => compare(a, b))
		.map(([smallkey, sickness]) => `    ${JSON.stringify(smallkey)}: ${JSON.stringify(clean(sickness))}`);
	return `{\n  "sick": {\n${lines.join(",\n")}\n  }\n}\n`;
}

function compare(one: string, other: string): number {
	return one < other ? -1 : Number(one > other);
}

/**
 * Merges new findings into the known health. A layer that is in the same state as before keeps its week. A layer that was
 * not checked keeps its entry. Only registered layers have one.
 * @param seen the layers that were checked; null: healthy
 */
export function updateHealth(
	before: Health,
	seen: ReadonlyMap<string, Seen | null>,
	week: string,
	isRegistered: (smallkey: string) => boolean,
): Health {
	const kept = [...before].filter(([smallkey]) => !seen.has(smallkey) && isRegistered(smallkey));
	const after = new Map<string, Sickness>(kept);
	for (const [smallkey, found] of seen) {
		const known = before.get(smallkey);
		// A check follows redirects without a word; `markRepairs` ends this state.
		if (found === null && known?.state === "moved") after.set(smallkey, known);
		if (found === null || !isRegistered(smallkey)) continue;
		const since = known?.state === found.state ? known.since : week;
		after.set(smallkey, { ...found, since, ...(known?.repair && { repair: true }) });
	}
	return after;
}

/** Trailer that names a layer for which a repair was proposed, in a commit of `layers/health.json`. */
export const repairTrailer = "Repair-Proposed";

/**
 * Sets the mark `repair` on the layers whose repair waits for a decision, and removes it from all others. A layer that was
 * well is `moved`: only for a permanent redirect is a repair proposed of a layer that still works.
 */
export function markRepairs(health: Health, proposed: ReadonlySet<string>, week: string): Health {
	const marked = new Map<string, Sickness>();
	for (const [smallkey, { repair: _, ...sickness }] of health)
		if (sickness.state !== "moved" && !proposed.has(smallkey)) marked.set(smallkey, sickness);
	for (const smallkey of proposed) {
		const known = health.get(smallkey) ?? { ...seenAs("moved", causeOf("moved")), since: week };
		marked.set(smallkey, { ...known, repair: true });
	}
	return marked;
}

/** The ISO 8601 week of a time, in UTC: `2026-W09`. */
export function weekOf(time: Date): string {
	const day = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
	// A week belongs to the year of its Thursday.
	day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
	const start = Date.UTC(day.getUTCFullYear(), 0, 1);
	const week = Math.ceil(((day.getTime() - start) / 86_400_000 + 1) / 7);
	return `${day.getUTCFullYear()}-W${String(week).padStart(2, "0")}`;
}

/** The number of weeks from `since` to `week`, both included; at least 1. */
export function weeksSince(since: string, week: string): number {
	return Math.max(Math.round((mondayOf(week) - mondayOf(since)) / (7 * 86_400_000)) + 1, 1);
}

/** The Monday of a week, in milliseconds since 1970; January 4 is always in week 1 (ISO 8601). */
export function mondayOf(week: string): number {
	const [year = 1970, number = 1] = week.split("-W").map(Number);
	const fourth = new Date(Date.UTC(year, 0, 4));
	return fourth.getTime() + ((number - 1) * 7 - ((fourth.getUTCDay() || 7) - 1)) * 86_400_000;
}

/** The catalogue's file of sick layers, for its health page. */
export const healthReportPath = "index/health.json";

const reportVersion = 3;

export interface HealthReport {
	version: typeof reportVersion;
	sick: number;
	/** Number of layers that were checked, and number of layers that were not checked yet. */
	checked: number;
	unchecked: number;
	/** All sick layers, grouped by their owners, who can correct them, and by the host of their service. */
	groups: HealthGroup[];
}

/** The sick layers with the same owners and host. */
export interface HealthGroup {
	/** The owners' names, separated by commas; empty where there are none. */
	owner: string;
	/** The service's host, with its port if any; empty where the address has no host. */
	host: string;
	/** Sorted by smallkey. */
	layers: SickLayer[];
}

export interface SickLayer extends Sickness {
	smallkey: string;
	title: Record<Lang, string>;
}

/** The text of a report. The same findings give the same text in every build. */
export function healthReportText(checked: number, unchecked: number, groups: HealthGroup[]): string {
	const sick = groups.reduce((sum, { layers }) => sum + layers.length, 0);
	const report: HealthReport = { version: reportVersion, sick, checked, unchecked, groups };
	return `${JSON.stringify(report)}\n`;
}

/** Parses a report; null where the text is not a report of this version. */
export function parseHealthReport(text: string): HealthReport | null {
	const value = tryJson(text) as HealthReport | null;
	const isWhole = typeof value?.checked === "number" && Array.isArray(value.groups);
	return isWhole && value.version === reportVersion ? value : null;
}
