import { keyTexts } from "./key-rules.ts";
import type { Lang } from "./smallkey.ts";
import { english } from "./texts/english.ts";
import { englishReports } from "./texts/english-reports.ts";
import { type Coded, filled } from "./texts/filled.ts";
import { french } from "./texts/french.ts";
import { frenchReports } from "./texts/french-reports.ts";

export type TextCode = keyof typeof english | keyof typeof englishReports | keyof (typeof keyTexts)["en"];

export const texts: Readonly<Record<Lang, Readonly<Record<TextCode, string>>>> = {
	en: { ...english, ...englishReports, ...keyTexts.en },
	fr: { ...french, ...frenchReports, ...keyTexts.fr },
};

/** An answer, a terminal or a page chooses its language. */
export type Text = Coded<TextCode>;

/** A broken rule, or a warning. */
export interface Problem extends Text {
	/**
	 * A JSON pointer, the name of a header, or a word such as `smallkey`; `document` is the whole document.
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

export function oneOf(names: readonly string[]): string | Text {
	const [first = "", ...rest] = names;
	return rest.length === 0 ? first : textOf("or", first, oneOf(rest));
}

/** `/fr/layer: is missing`, `le document : doit être un objet` */
export function textIn(lang: Lang, { place = "", ...text }: Text & { place?: string }): string {
	const rule = filled(texts[lang], text);
	if (place === "document") return filled(texts[lang], textOf("document", rule));
	return place === "" ? rule : `${place}: ${rule}`;
}

/** Whether `Accept-Language` (RFC 9110, section 12.5.4) prefers French to English. */
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
