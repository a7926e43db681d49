import type { Lang } from "../../registry/smallkey.ts";

/** Each is a whole word: `en` is not in `geoserver` or `maps_env`. */
const spellings: readonly (readonly [en: string, fr: string])[] = [
	["en", "fr"],
	["eng", "fra"],
	["eng", "fre"],
	["english", "francais"],
	["english", "french"],
	["anglais", "francais"],
	["e", "f"],
	["maps", "cartes"],
	["map", "carte"],
	["weather", "meteo"],
];

/** They do not say which language an address is. */
const weak = new Set(["e", "f", "maps", "cartes", "map", "carte", "weather", "meteo"]);

const parts = /([A-Z]+(?![a-z])|[A-Z]?[a-z]+)/;

/** In lower case, in capitals, or with a capital at the start, as the model. */
function spelledAs(word: string, model: string): string {
	if (model === model.toUpperCase()) return word.toUpperCase();
	return model[0] === model[0]?.toUpperCase() ? `${word[0]?.toUpperCase()}${word.slice(1)}` : word;
}

export function langOf(address: string): Lang | null {
	const words = new Set(address.split(parts).map((word) => word.toLowerCase()));
	const names = (at: 0 | 1) => spellings.some((pair) => !weak.has(pair[at]) && words.has(pair[at]));
	if (names(0) === names(1)) return null;
	return names(0) ? "en" : "fr";
}

/** Spellings of a text in the other language, the likeliest first. @param from language of the text */
export function twinTexts(text: string, from: Lang): string[] {
	const [own, other] = from === "en" ? ([0, 1] as const) : ([1, 0] as const);
	const words = text.split(parts);
	const replaced = (isUsed: (pair: readonly [string, string]) => boolean) =>
		words
			.map((word) => {
				const pair = spellings.find((one) => one[own] === word.toLowerCase() && isUsed(one));
				return pair ? spelledAs(pair[other], word) : word;
			})
			.join("");
	const isStrong = (pair: readonly [string, string]) => !weak.has(pair[own]);
	const isFre = (pair: readonly [string, string]) =>
		isStrong(pair) && pair[1] !== "fra" && pair[1] !== "francais";
	const all = [replaced(isStrong), replaced(isFre), replaced(() => true)];
	return [...new Set(all)].filter((one) => one !== text);
}

/** Parameters with which services choose a language. */
const parameters = [
	["lang", "en", "fr"],
	["language", "en", "fr"],
] as const;

/** The likeliest first. @param languages codes of the service's languages, as its capabilities name them */
export function twinAddresses(address: string, from: Lang, languages: readonly string[] = []): string[] {
	const twins = twinTexts(address, from);
	const isOther = (code: string) => (from === "en" ? /^fr/i : /^en/i).test(code);
	const own = languages.find(isOther);
	if (own !== undefined) twins.push(withParameter(address, "language", own));
	for (const [name, en, fr] of parameters) {
		if (twins.length === 0) twins.push(withParameter(address, name, from === "en" ? fr : en));
	}
	return twins;
}

function withParameter(address: string, name: string, value: string): string {
	const url = new URL(address);
	url.searchParams.set(name, value);
	return url.href;
}
