import type { french } from "./french.ts";

/** An English text of the pages that has a French one; `{0}`, `{1}` and so on are replaced by values. */
export type Text = keyof typeof french;

/** Returns a text in the reader's language, with its values. Numbers get separators between the thousands. */
export type Translate = (text: Text, ...values: readonly (string | number)[]) => string;

/** What the catalogue is, in one sentence. */
export const tagline: Text =
	"A catalogue for people who make web maps: layers that departments publish, drawn as RAMP, GeoView, Terria and other viewers draw them.";

/** State of a layer → its text. */
const stateTexts: ReadonlyMap<string, Text> = new Map([
	["down", "The service fails"],
	["empty", "The picture is empty"],
	["wrong", "The registration is wrong"],
	["blocked", "Browsers block it"],
	["moved", "Its service has moved"],
	["ok", "No problem was seen"],
	["unchecked", "Not checked yet"],
	["sick", "Any problem"],
]);

/** Type of a layer → its text, for the types that have another one than their name. */
const typeTexts: ReadonlyMap<string, Text> = new Map([
	["wms", "WMS"],
	["feature", "Features"],
]);

/** Name of a snippet → its text, where the program's name is not enough. */
export const copyTexts: ReadonlyMap<string, Text> = new Map([
	["RAMP 4.0", "RAMP 4.0: its service, in RAMP-starter.js"],
	["RAMP 5", "RAMP 5: its service, in RAMP-starter.js"],
	["FGPV", "FGPV: the map in its page"],
	["GeoView", "GeoView: configuration of the layer"],
	["Terria", "Terria: member of a catalogue"],
	["Leaflet", "Leaflet (ArcGIS services: with esri-leaflet)"],
	["<iframe>", "HTML: the map in a frame of your page"],
	["RAMP4", "RAMP4: configuration of the layer"],
	["fragment", "Address of the fragment"],
]);

/** Makes the functions for texts in one language. @param french the French texts; null for English */
export function translator(french: Readonly<Record<Text, string>> | null) {
	const locale = french ? "fr-CA" : "en-CA";
	const shown = (value: string | number = "") =>
		typeof value === "number" ? value.toLocaleString(locale, { maximumFractionDigits: 4 }) : value;
	const t: Translate = (text, ...values) =>
		(french?.[text] ?? text).replace(/\{(\d)\}/g, (_, at) => shown(values[at]));
	/** The text for one or for several; `{0}` is the number. In French, zero is as one. */
	const plural = (number: number, one: Text, several: Text, ...values: readonly (string | number)[]) =>
		t((french ? number < 2 : number === 1) ? one : several, number, ...values);
	/** The text of a name; the name itself if it has none. */
	const named = (texts: ReadonlyMap<string, Text>, name: string) => {
		const text = texts.get(name);
		return text ? t(text) : name;
	};
	return {
		t,
		plural,
		/** `1 layer`, `2 layers` */
		layers: (number: number) => plural(number, "{0} layer", "{0} layers"),
		named,
		/** A day in words: `March 4, 2026`, `4 mars 2026`. */
		dayText: (day: Date) => day.toLocaleDateString(locale, { dateStyle: "long", timeZone: "UTC" }),
		/** The state of a layer's health, as a text for users. */
		stateText: (state: string) => named(stateTexts, state),
		/** A kind of layer, as a text for users. */
		typeText: (type: string) => named(typeTexts, type),
	};
}
