import type { Lang } from "../smallkey.ts";

export const fragmentTexts = /* @__PURE__ */ textsByLang({
	"column-icon": ["Icon", "Icône"],
	"column-details": ["Details", "Détails"],
	metadata: ["Metadata", "Métadonnées"],
	"ramp-keys": ["The address of its page then has the key:", "L’adresse de sa page porte alors la clé :"],
});

/** `values`: of `{0}`, `{1}` … */
export interface Coded<Code extends string> {
	code: Code;
	values: readonly (string | number | Coded<Code>)[];
}

/** In French, a no-break space precedes a colon (Canadian usage). */
export function fillText<Code extends string>(
	texts: Readonly<Record<Code, string>>,
	{ code, values }: Coded<Code>,
	shown: (value: string | number) => string = String,
): string {
	// A stored code may be one of another version.
	return (texts[code] ?? code).replaceAll(" :", "\u00a0:").replace(/\{(\d)\}/g, (_, at) => {
		const value = values[at] ?? "";
		return typeof value === "object" ? fillText(texts, value, shown) : shown(value);
	});
}

/** A single text is only for screens, logs and pull requests, all in English. */
export type TextPair = readonly [en: string, fr: string];

export const mustBe: TextPair = ["must be {0}, not {1}", "doit être {0}, et non {1}"];

/** `{0}`: the wrong value. */
export function must(en: string, fr: string): TextPair {
	return [`must be ${en}, not {0}`, `doit être ${fr}, et non {0}`];
}

export function textsByLang<Code extends string>(
	pairs: Readonly<Record<Code, TextPair | string>>,
): Readonly<Record<Lang, Readonly<Record<Code, string>>>> {
	const all = Object.entries(pairs) as [Code, TextPair | string][];
	const inLang = (index: 0 | 1) =>
		Object.fromEntries(all.map(([code, text]) => [code, typeof text === "string" ? text : text[index]]));
	return { en: inLang(0), fr: inLang(1) } as Record<Lang, Record<Code, string>>;
}
