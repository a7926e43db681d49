import { keyTexts } from "./key-rules.ts";
import type { Lang } from "./smallkey.ts";
import { english } from "./texts/english.ts";
import { french } from "./texts/french.ts";

export type TextCode = keyof typeof english | keyof typeof keyTexts;

/** Code → English, French. */
export const texts = Object.fromEntries([
	...Object.entries(keyTexts),
	...Object.entries(english).map(([code, text]) => [code, [text, french[code as keyof typeof english]]]),
]) as Readonly<Record<TextCode, readonly [en: string, fr: string]>>;

/** A text of the table with its values. It gets a language where it leaves: in an answer, on a terminal or a page. */
export interface Text {
	/** Names the text in every language: `address-credentials`, `maxLength`. */
	code: TextCode;
	/** In the order of the `{}` in the text. */
	values: readonly (string | number | Text)[];
}

/** A rule that is broken, or a warning. */
export interface Problem extends Text {
	/**
	 * What it is about: a JSON pointer, the name of a header, or a word such as `smallkey`; `document` is the whole document.
	 * Empty where the text says it.
	 */
	place: string;
}

export function textOf(code: TextCode, ...values: Text["values"]): Text {
	return { code, values };
}

export function problemAt(place: string, code: TextCode, ...values: Text["values"]): Problem {
	return { place, code, values };
}

/** Names as a text: `wms or feature`. */
export function oneOf(names: readonly string[]): string | Text {
	const [first = "", ...others] = names;
	return others.length === 0 ? first : textOf("or", first, oneOf(others));
}

/** The text of a problem, with its place, in one language: `/fr/layer: is missing`, `le document : doit être un objet`. */
export function textIn(lang: Lang, { place = "", ...text }: Text & { place?: string }): string {
	const rule = ruleIn(lang, text);
	if (place === "document") return ruleIn(lang, textOf("document", rule));
	return place === "" ? rule : `${place}: ${rule}`;
}

function ruleIn(lang: Lang, { code, values }: Text): string {
	const [en, fr] = texts[code];
	let index = 0;
	// In Canadian usage a no-break space precedes a colon.
	return (lang === "fr" ? fr.replaceAll(" :", "\u00a0:") : en).replace(/\{\}/g, () => {
		const value = values[index++] ?? "";
		return typeof value === "object" ? ruleIn(lang, value) : String(value);
	});
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
