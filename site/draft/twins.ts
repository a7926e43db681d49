import { type Lang, otherLang } from "../../registry/smallkey.ts";

type WordPair = Readonly<Record<Lang, string>>;

/** Each is a whole word: `en` is not in `geoserver` or `maps_env`. */
const languageWords: readonly WordPair[] = [
	{ en: "en", fr: "fr" },
	{ en: "eng", fr: "fra" },
	{ en: "eng", fr: "fre" },
	{ en: "english", fr: "francais" },
	{ en: "english", fr: "french" },
	{ en: "anglais", fr: "francais" },
];

/** These do not show the language of an address. */
const otherWords: readonly WordPair[] = [
	{ en: "e", fr: "f" },
	{ en: "maps", fr: "cartes" },
	{ en: "map", fr: "carte" },
	{ en: "weather", fr: "meteo" },
];

const parts = /([A-Z]+(?![a-z])|[A-Z]?[a-z]+)/;

/** With the capitals of the model. */
function spelledAs(word: string, model: string): string {
	if (model === model.toUpperCase()) return word.toUpperCase();
	return model[0] === model[0]?.toUpperCase() ? `${word[0]?.toUpperCase()}${word.slice(1)}` : word;
}

/** English, unless the address has words of French only. */
export function langOf(address: string): Lang {
	const words = new Set(address.split(parts).map((word) => word.toLowerCase()));
	const has = (lang: Lang) => languageWords.some((pair) => words.has(pair[lang]));
	return has("fr") && !has("en") ? "fr" : "en";
}

/** The likeliest first. @param from language of the text */
export function twinTexts(text: string, from: Lang): string[] {
	const less = languageWords.filter(({ fr }) => fr !== "fra" && fr !== "francais");
	const twins = [languageWords, less, [...languageWords, ...otherWords]].map((pairs) =>
		translate(text, from, pairs),
	);
	return [...new Set(twins)].filter((twin) => twin !== text);
}

function translate(text: string, from: Lang, pairs: readonly WordPair[]): string {
	const words = text.split(parts).map((word) => {
		const pair = pairs.find((candidate) => candidate[from] === word.toLowerCase());
		return pair ? spelledAs(pair[otherLang[from]], word) : word;
	});
	return words.join("");
}

/** The likeliest first. */
export function twinAddresses(address: string, from: Lang): string[] {
	const twins = twinTexts(address, from);
	if (twins.length > 0) return twins;
	// Many services choose a language by this parameter.
	const url = new URL(address);
	url.searchParams.set("lang", otherLang[from]);
	return [url.href];
}
