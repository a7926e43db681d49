import { type Lang, parseSmallkey } from "./smallkey.ts";
import { causes } from "./texts/causes.ts";
import { type Coded, filled } from "./texts/filled.ts";
import { tryJson } from "./untrusted-text.ts";

export { causes };

export type CauseTexts = (typeof causes)[Lang];

export type CauseCode = keyof CauseTexts;

export type Cause = Coded<CauseCode>;

export function causeOf(code: CauseCode, ...values: Cause["values"]): Cause {
	return { code, values };
}

export function causeText(lang: Lang, cause: Cause): string {
	return filled(causes[lang], cause);
}

export const healthPath = "layers/health.json";

/**
 * `wrong`: its service contradicts the registration. `down`: its service does not answer usably. `empty`: it
 * draws nothing. `blocked`: it draws, but browsers block it on this site. `moved`: it draws, but redirects
 * permanently, and a repair waits.
 */
export const sickStates = ["wrong", "down", "empty", "blocked", "moved"] as const;
export type SickState = (typeof sickStates)[number];

export interface Sickness {
	state: SickState;
	/** The ISO 8601 week in which this state started: `2026-W09`. */
	since: string;
	/** In English: one line of plain text, which may quote a service. */
	cause?: string;
	/** An earlier version stored neither `code` nor `values`. */
	code?: CauseCode;
	values?: readonly string[];
	repair?: true;
}

export type CheckResult = Omit<Sickness, "since" | "repair">;

export type Health = ReadonlyMap<string, Sickness>;

/** Those that have been sick longest are kept. */
const maxSick = 5000;

const maxValues = 3;

export function parseHealth(text: string | null): Health {
	const { sick } = (tryJson(text ?? "") ?? {}) as { sick?: unknown };
	const entries = Object.entries(sick ?? {}).flatMap(([smallkey, value]) => {
		const sickness = parseSmallkey(smallkey) && clean(value ?? {});
		return sickness ? [[smallkey, sickness] as const] : [];
	});
	return new Map(entries);
}

/** Of a cause and of each of its values, in characters. */
const maxCauseLength = 160;

export function checkResult(state: SickState, cause: Cause): CheckResult {
	// A finding about the host applies to the layer.
	const [inner] = cause.values;
	if (typeof inner === "object") return checkResult(state, inner);
	const [text = "", ...values] = cut([causeText("en", cause), ...cause.values.map(String)]);
	return { state, cause: text, code: cause.code, ...(values.length > 0 && { values }) };
}

export function causeIn(
	lang: Lang,
	texts: CauseTexts,
	{ cause = "", code, values = [] }: Partial<Sickness>,
): { text: string; lang: Lang } {
	return code ? { text: filled(texts, { code, values }), lang } : { text: cause, lang: "en" };
}

function cut(texts: readonly unknown[]): string[] {
	return texts.filter((text) => typeof text === "string").map((text) => text.slice(0, maxCauseLength));
}

function clean({ state, since, cause, code, values, repair }: Partial<Sickness>): Sickness | null {
	if (!state || !sickStates.includes(state) || !/^\d{4}-W\d{2}$/.test(String(since))) return null;
	const [text] = cut([cause]);
	// Another version may have other codes.
	const isKnown = typeof code === "string" && Object.hasOwn(causes.en, code);
	const texts = isKnown && Array.isArray(values) ? cut(values).slice(0, maxValues) : [];
	return {
		...{ state, since: String(since), ...(text !== undefined && { cause: text }) },
		...{ ...(isKnown && { code }), ...(texts.length > 0 && { values: texts }) },
		...(repair === true && { repair }),
	};
}

/**
 * Null where no layer is sick, and the file is to be removed. One sorted line a layer, without times, so that
 * git merges findings about different layers.
 */
export function healthText(health: Health): string | null {
	if (health.size === 0) return null;
	const bySince = Array.from(health, ([smallkey, { since }]) => [since, smallkey].join()).sort();
	const longest = bySince.slice(0, maxSick).map((name) => name.split(",")[1] as string);
	const lines = longest.sort().map((smallkey) => {
		return `    ${JSON.stringify(smallkey)}: ${JSON.stringify(clean(health.get(smallkey) ?? {}))}`;
	});
	return `{\n  "sick": {\n${lines.join(",\n")}\n  }\n}\n`;
}

/** A layer in the same state keeps its week, an unchecked one its entry. `checks`: null is healthy. */
export function updateHealth(
	before: Health,
	checks: ReadonlyMap<string, CheckResult | null>,
	week: string,
	isRegistered: (smallkey: string) => boolean,
): Health {
	const kept = [...before].filter(([smallkey]) => !checks.has(smallkey) && isRegistered(smallkey));
	const after = new Map<string, Sickness>(kept);
	for (const [smallkey, result] of checks) {
		const previous = before.get(smallkey);
		// A check follows redirects silently; only `markRepairs` ends this state.
		if (result === null && previous?.state === "moved") after.set(smallkey, previous);
		if (result === null || !isRegistered(smallkey)) continue;
		const since = previous?.state === result.state ? previous.since : week;
		after.set(smallkey, { ...result, since, ...(previous?.repair && { repair: true }) });
	}
	return after;
}

/**
 * Marks exactly the layers whose repair waits. A healthy one is `moved`: only a permanent redirect gives it a
 * repair.
 */
export function markRepairs(health: Health, proposed: ReadonlySet<string>, week: string): Health {
	const marked = new Map<string, Sickness>();
	for (const [smallkey, { repair: _, ...sickness }] of health)
		if (sickness.state !== "moved" && !proposed.has(smallkey)) marked.set(smallkey, sickness);
	for (const smallkey of proposed) {
		const sickness = health.get(smallkey) ?? { ...checkResult("moved", causeOf("moved")), since: week };
		marked.set(smallkey, { ...sickness, repair: true });
	}
	return marked;
}

export function weekOf(time: Date): string {
	const day = new Date(time);
	// A week belongs to the year of its Thursday.
	day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
	const year = day.getUTCFullYear();
	const week = Math.floor((day.getTime() - Date.UTC(year, 0, 1)) / 604_800_000) + 1;
	return `${year}-W${String(week).padStart(2, "0")}`;
}

/** In milliseconds since 1970; January 4 is always in week 1 (ISO 8601). */
export function mondayOf(week: string): number {
	const [year = 1970, number = 1] = week.split("-W").map(Number);
	const fourth = new Date(Date.UTC(year, 0, 4));
	return fourth.setUTCDate(5 - (fourth.getUTCDay() || 7) + (number - 1) * 7);
}
