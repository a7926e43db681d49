import type { Lang } from "../../registry/smallkey.ts";
import type { english } from "./english.ts";

/** The code of a text that every page can show. */
export type Text = keyof typeof english;

/** Name of a snippet → its text, where the program's name is not enough. */
export const copyTexts: ReadonlyMap<string, Text> = new Map([
	["RAMP 4.0", "copy-ramp-4"],
	["RAMP 5", "copy-ramp-5"],
	["FGPV", "copy-fgpv"],
	["GeoView", "copy-geoview"],
	["Terria", "copy-terria"],
	["Leaflet", "copy-leaflet"],
	["<iframe>", "copy-iframe"],
	["RAMP4", "copy-ramp4"],
	["fragment", "copy-fragment"],
]);

type Value = string | number;

/** The code `changes`, where there are texts for `changes` and for `changes-one`. */
type Countable<Code extends string> = Code extends `${infer Several}-one` ? Several : never;

/**
 * Makes the functions for texts in one language.
 * @param texts code → text; `{0}`, `{1}` and so on stand for values. A no-break space is added before a French colon
 */
export function translator<Code extends string>(lang: Lang, texts: Readonly<Record<Code, string>>) {
	const locale = `${lang}-CA`;
	const shown = (value: Value = "") =>
		typeof value === "number" ? value.toLocaleString(locale, { maximumFractionDigits: 4 }) : value;
	/** Returns a text with its values. Numbers get separators between the thousands. */
	const t = (code: Code, ...values: readonly Value[]) =>
		texts[code].replace(/ :/g, "\u00a0:").replace(/\{(\d)\}/g, (_, at) => shown(values[at]));
	/** The text for one or for several; `{0}` is the number. In French, zero is as one. */
	const plural = (number: number, code: Countable<Code>, ...values: readonly Value[]) =>
		t(((lang === "fr" ? number < 2 : number === 1) ? `${code}-one` : code) as Code, number, ...values);
	/** The text of a name; the name itself if it has none. */
	const named = (code: string, name: string) => (Object.hasOwn(texts, code) ? t(code as Code) : name);
	return {
		t,
		plural,
		/** A day in words: `March 4, 2026`, `4 mars 2026`. */
		dayText: (day: Date) => day.toLocaleDateString(locale, { dateStyle: "long", timeZone: "UTC" }),
		/** The state of a layer's health, as a text for users. */
		stateText: (state: string) => named(`state-${state}`, state),
		/** A kind of layer, as a text for users. */
		typeText: (type: string) => named(`type-${type}`, type),
		/** What a snippet is, as a text for users. */
		copyText: (name: string) => named(copyTexts.get(name) ?? "", name),
	};
}

/** The functions for the texts that every page can show. */
export type Translator = ReturnType<typeof translator<Text>>;
