import { keyTexts } from "./key-rules.ts";
import { english } from "./texts/english.ts";
import { french } from "./texts/french.ts";

export type TextCode = keyof typeof english | keyof typeof keyTexts;

/** Code → English, French. */
export const texts = Object.fromEntries([
	...Object.entries(keyTexts),
	...Object.entries(english).map(([code, text]) => [code, [text, french[code as keyof typeof english]]]),
]) as Readonly<Record<TextCode, readonly [en: string, fr: string]>>;

export interface BrokenRule {
	/** Identifies the rule, independent of the language of its text: `address-credentials`, `maxLength`. */
	code: TextCode;
	/** In English: `must not hold a user name or password`. */
	text: string;
}

export function textOf(code: TextCode, ...values: readonly unknown[]): string {
	return fill(texts[code][0], values);
}

/** The English text of a code at a place: `smallkey: ab is not registered`. */
export function textAt(place: string, code: TextCode, ...values: readonly unknown[]): string {
	return `${place}: ${textOf(code, ...values)}`;
}

export function broken(code: TextCode, ...values: readonly unknown[]): BrokenRule {
	return { code, text: textOf(code, ...values) };
}

function fill(text: string, values: readonly unknown[]): string {
	let index = 0;
	return text.replace(/\{\}/g, () => String(values[index++] ?? ""));
}

/** A text with its place before the rule: `the document: `, a JSON pointer, or a word such as `smallkey: `. */
const place = /^(the document: |\/.*?: |[^\s:]+: )(.*)$/s;

let patterns: [pattern: RegExp, fr: string][] | undefined;

/** A pattern for each English text, with its French text. They are made at the first use: many processes need none. */
function patternsOf() {
	patterns ??= Object.values(texts).map(([en, fr]) => {
		const parts = en.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		return [new RegExp(`^${parts.join("(.*?)")}$`, "s"), fr.replaceAll(" :", "\u00a0:")];
	});
	return patterns;
}

/** Translates an English text of a rule, with or without its place, to French; null where the table has no such text. */
export function frenchOf(error: string): string | null {
	const whole = translate(error);
	if (whole !== null) return whole;
	const [, where = "", rule = ""] = place.exec(error) ?? [];
	const text = translate(rule);
	return text === null ? null : (where === "the document: " ? "le document\u00a0: " : where) + text;
}

function translate(text: string): string | null {
	for (const [pattern, fr] of patternsOf()) {
		const values = pattern.exec(text)?.slice(1);
		if (values) return fill(fr, values.map(translateValue));
	}
	return null;
}

/** Translates a value in a text: it may be a text of the table, or a list of names with `or`. */
function translateValue(value: string): string {
	if (/^\w+(?: or \w+)+$/.test(value)) return value.replaceAll(" or ", " ou ");
	return translate(value) ?? value;
}

/** Whether an `Accept-Language` header (RFC 9110, section 12.5.4) prefers French to English. */
export function prefersFrench(header: string | null): boolean {
	const text = (header ?? "").slice(0, 500).replaceAll(/\s/g, "").toLowerCase();
	const weights = { en: 0, fr: 0 };
	for (const part of text.split(",")) {
		const [, lang, weight = "1"] = /^(en|fr)(?:-[a-z0-9-]+)?(?:;q=([0-9.]+))?$/.exec(part) ?? [];
		if (lang === "en" || lang === "fr") weights[lang] = Math.max(weights[lang], Number(weight) || 0);
	}
	const { en, fr } = weights;
	return fr > en || (fr > 0 && fr === en && text.startsWith("fr"));
}
