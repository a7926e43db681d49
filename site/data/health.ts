import type { LayerStatus } from "../../registry/schemas/answers.ts";
import { type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import { type Coded, fillText } from "../../registry/texts/pairs.ts";
import { tryJson } from "../../registry/untrusted.ts";
import { causes } from "../text/causes.ts";

export type CauseTexts = (typeof causes)[Lang];

export type CauseCode = keyof CauseTexts;

export type Cause = Coded<CauseCode>;

export function causeOf(code: CauseCode, ...values: Cause["values"]): Cause {
	return { code, values };
}

export function causeText(lang: Lang, cause: Cause): string {
	return fillText(causes[lang], cause);
}

/**
 * `wrong`: contradicts the registration. `down`: gives no usable answer. `empty`: draws nothing. `blocked`:
 * browsers block it on this site. `moved`: redirects permanently, and a repair waits.
 */
export const sickStates = ["wrong", "down", "empty", "blocked", "moved"] as const satisfies States[];

type States = LayerStatus["health"]["state"];

export type SickState = (typeof sickStates)[number];

export interface Sickness {
	state: SickState;
	/** The ISO 8601 week in which it started: `2026-W09`. */
	since: string;
	/** One English line, which may quote a service. */
	cause?: string;
	/** Earlier versions stored neither `code` nor `values`. */
	code?: CauseCode;
	values?: readonly string[];
	repair?: true;
}

export type Health = ReadonlyMap<string, Sickness>;

const maxValues = 3;

export function parseHealth(text: string | null): Health {
	const { sick } = (tryJson(text ?? "") ?? {}) as { sick?: unknown };
	const entries = Object.entries(sick ?? {}).flatMap(([smallkey, value]) => {
		const sickness = parseSmallkey(smallkey) && cleanSickness(value ?? {});
		return sickness ? [[smallkey, sickness] as const] : [];
	});
	return new Map(entries);
}

/** In characters: for a cause, and for each of its values. */
const maxCauseLength = 160;

export function causeIn(
	lang: Lang,
	texts: CauseTexts,
	{ cause = "", code, values = [] }: Partial<Sickness>,
): { text: string; lang: Lang } {
	return code ? { text: fillText(texts, { code, values }), lang } : { text: cause, lang: "en" };
}

export function cutTexts(texts: readonly unknown[]): string[] {
	return texts.filter((text) => typeof text === "string").map((text) => text.slice(0, maxCauseLength));
}

export function cleanSickness(stored: Partial<Sickness>): Sickness | null {
	const { state, since, cause, code, values, repair } = stored;
	if (!state || !sickStates.includes(state) || !/^\d{4}-W\d{2}$/.test(String(since))) return null;
	const [text] = cutTexts([cause]);
	// Another version may have other codes.
	const isKnown = typeof code === "string" && Object.hasOwn(causes.en, code);
	const texts = isKnown && Array.isArray(values) ? cutTexts(values).slice(0, maxValues) : [];
	const sickness: Sickness = { state, since: String(since) };
	if (text !== undefined) sickness.cause = text;
	if (isKnown) sickness.code = code;
	if (texts.length > 0) sickness.values = texts;
	if (repair === true) sickness.repair = repair;
	return sickness;
}

/** In milliseconds since 1970; January 4 is always in week 1 (ISO 8601). */
export function mondayOf(week: string): number {
	const [year = 1970, number = 1] = week.split("-W").map(Number);
	const fourth = new Date(Date.UTC(year, 0, 4));
	return fourth.setUTCDate(5 - (fourth.getUTCDay() || 7) + (number - 1) * 7);
}
