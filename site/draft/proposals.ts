import { arcgisPath, operationOf } from "../../registry/addresses.ts";
import { type Lang, otherLang } from "../../registry/smallkey.ts";

type Spelling = readonly [en: string, fr: string];

/** Each is a whole word: `en` is not in `geoserver` or `maps_env`. */
const languages: readonly Spelling[] = [
	["en", "fr"],
	["eng", "fra"],
	["eng", "fre"],
	["english", "francais"],
	["english", "french"],
	["anglais", "francais"],
];

/** They do not say which language an address is. */
const subjects: readonly Spelling[] = [
	["e", "f"],
	["maps", "cartes"],
	["map", "carte"],
	["weather", "meteo"],
];

const parts = /([A-Z]+(?![a-z])|[A-Z]?[a-z]+)/;

/** In lower case, in capitals, or with a capital at the start, as the model. */
function spelledAs(word: string, model: string): string {
	if (model === model.toUpperCase()) return word.toUpperCase();
	return model[0] === model[0]?.toUpperCase() ? `${word[0]?.toUpperCase()}${word.slice(1)}` : word;
}

/** English, unless the address has words of French only. */
export function langOf(address: string): Lang {
	const words = new Set(address.split(parts).map((word) => word.toLowerCase()));
	const has = (at: 0 | 1) => languages.some((pair) => words.has(pair[at]));
	return has(1) && !has(0) ? "fr" : "en";
}

/** Spellings of a text in the other language, the likeliest first. @param from language of the text */
export function twinTexts(text: string, from: Lang): string[] {
	const [source, target] = from === "en" ? ([0, 1] as const) : ([1, 0] as const);
	const replacedBy = (pairs: readonly Spelling[]) => {
		const words = text.split(parts).map((word) => {
			const pair = pairs.find((spelling) => spelling[source] === word.toLowerCase());
			return pair ? spelledAs(pair[target], word) : word;
		});
		return words.join("");
	};
	const other = languages.filter(([, fr]) => fr !== "fra" && fr !== "francais");
	const twins = new Set([languages, other, [...languages, ...subjects]].map(replacedBy));
	return [...twins].filter((twin) => twin !== text);
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

export interface ServiceAddress {
	kind: "wms" | "feature";
	/** For ArcGIS without the number of a layer. */
	url: string;
	/** Empty for none. */
	chosen: string;
}

const requestParameters = [
	/^(?:service|request|version|layers?|styles?|format|crs|srs|bbox|width|height|transparent|bgcolor|rule)$/i,
	/^(?:exceptions|time|elevation|dim_.*|sld.*|query_layers|info_format|feature_count|[xyij]|scale)$/i,
	/^(?:legend_options|f|callback|_)$/i,
];

export function parseServiceAddress(text: string): ServiceAddress | null {
	// As in a letter, or in the source of a page or of capabilities.
	const [, trimmed = ""] =
		/^[<"']?(https?:\/\/\S+?)[>"']?$/i.exec(text.replaceAll("&amp;", "&").trim()) ?? [];
	if (!URL.canParse(trimmed)) return null;
	// Addresses of queries are copied, too: their parameters are not those of the service.
	const operation = operationOf(new URL(trimmed));
	const address = new URL(operation?.address ?? trimmed);
	const parameter = (pattern: RegExp) =>
		[...address.searchParams].find(([name]) => pattern.test(name))?.[1] ?? "";
	const isWms = /^wms$/i.test(parameter(/^service$/i));
	const [match, , chosen = parameter(/^layers?$/i)] = arcgisPath.exec(address.pathname) ?? [];
	const kind = match !== undefined && !isWms ? "feature" : "wms";
	for (const name of [...address.searchParams.keys()])
		if (requestParameters.some((pattern) => pattern.test(name))) address.searchParams.delete(name);
	if (kind === "feature") address.pathname = address.pathname.replace(/(Server)(?:\/\d+)?\/?$/i, "$1");
	address.hash = "";
	// A comma separates several layers; a registration has one.
	return { kind, url: address.href, chosen: kind === "wms" && chosen.includes(",") ? "" : chosen };
}
