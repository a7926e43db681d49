import type { Lang } from "../smallkey.ts";

const english = {
	"column-icon": "Icon",
	"column-details": "Details",
	metadata: "Metadata",
	"ramp-keys": "The address of its page then has the key:",
} as const;

const french: Readonly<Record<keyof typeof english, string>> = {
	"column-icon": "Icône",
	"column-details": "Détails",
	metadata: "Métadonnées",
	"ramp-keys": "L’adresse de sa page porte alors la clé :",
};

/** The few texts in fragments and snippets, by language. A page that renders drafts needs both. */
export const fragmentTexts: Readonly<Record<Lang, Readonly<Record<keyof typeof english, string>>>> = {
	en: english,
	fr: french,
};

/** A text by its code, with its values in the order of `{0}`, `{1}` and so on. It gets a language where it leaves. */
export interface Coded<Code extends string> {
	code: Code;
	values: readonly (string | number | Coded<Code>)[];
}

/**
 * The text of a code in one language, with its values. In French, a no-break space precedes a colon (Canadian usage).
 * @param texts code → text
 */
export function filled<Code extends string>(
	texts: Readonly<Record<Code, string>>,
	{ code, values }: Coded<Code>,
	shown: (value: string | number) => string = String,
): string {
	return texts[code].replaceAll(" :", "\u00a0:").replace(/\{(\d)\}/g, (_, at) => {
		const value = values[at] ?? "";
		return typeof value === "object" ? filled(texts, value, shown) : shown(value);
	});
}

export type Countable<Code extends string> = Code extends `${infer Several}-one` ? Several : never;

/** The code of the text for a number: `changes`, or for one `changes-one`. In French, zero is as one. */
export function codeFor<Code extends string>(lang: Lang, number: number, code: Countable<Code>): Code {
	return ((lang === "fr" ? number < 2 : number === 1) ? `${code}-one` : code) as Code;
}
