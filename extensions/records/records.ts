// OGC API Records 1.0 (OGC 20-004r1): layers as records of the collection `layers`. Pure.
import type { ExtensionFile } from "../../api/service/extensions.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type Problem, problemAt, shownValue, type Text, textOf } from "../../registry/texts.ts";
import { type Bounds, type Entry, layerAddress } from "../../site/data/entries.ts";
import { addressOf, allKeywords, layersIn, senderOf, titleOf } from "../../site/search/select.ts";
import { fold } from "../../site/search/words.ts";
import { inBoth } from "../../site/text/static.ts";

export interface ItemsQuery {
	isMatch: (entry: Entry) => boolean;
	limit: number;
	offset: number;
	/** The query string without `limit` and `offset`, for links to other pages. */
	text: string;
}

const defaultLimit = 10;
const maxLimit = 200;
/** Most phrases of `q`, characters of all of them, and characters of a whole query. */
const maxPhrases = 10;
const maxPhrasesLength = 200;
const maxQueryLength = 8_000;

/** A day, or a time such as `2026-03-04T12:00:00Z`. */
const instant = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/i;

/** An instant, or an interval `<start>/<end>`, whose ends may be open: `..` or nothing. */
function isTime(text: string): boolean {
	const ends = text.split("/");
	const isEnd = (end: string) => ends.length === 2 && (end === "" || end === "..");
	return (
		ends.length < 3 &&
		ends.every((end) => isEnd(end) || (instant.test(end) && !Number.isNaN(Date.parse(end))))
	);
}

const free = [() => true, ""] as const;

/** Parameter → what tests a value, and the text of what it must be. */
const rules = new Map<string, readonly [isValid: (text: string) => boolean, must: string | Text]>([
	["q", free],
	["ids", free],
	["type", free],
	["limit", [(text) => /^0*[1-9]\d{0,8}$/.test(text), textOf("an-integer")]],
	["offset", [(text) => /^\d{1,9}$/.test(text), textOf("an-integer")]],
	["bbox", [(text) => parseBbox(text) !== null, textOf("a-box")]],
	// Layers have no time, so every layer matches any time (OGC API Features, /req/core/fc-time-response, C).
	["datetime", [isTime, textOf("a-time")]],
	["f", [(text) => text === "json", "json"]],
]);

/** @param query without its `?` */
export function parseItemsQuery(query: string): ItemsQuery | Problem {
	if (query.length > maxQueryLength) return problemAt("query", "maxLength", maxQueryLength);
	const parameters = new URLSearchParams(query);
	for (const [name, value] of parameters) {
		const [isValid, must = ""] = rules.get(name) ?? [];
		if (!isValid) return problemAt("query", "parameter", shownValue(name));
		if (!isValid(value)) return problemAt(name, "type", must, shownValue(value));
	}
	const itemsOf = (name: string) =>
		(parameters.get(name) ?? "").split(",").filter((item) => item.trim() !== "");
	const [q, ids, types] = [itemsOf("q"), new Set(itemsOf("ids")), new Set(itemsOf("type"))];
	if (q.length > maxPhrases || q.join().length > maxPhrasesLength)
		return problemAt("q", "phrases", maxPhrases, maxPhrasesLength);
	const phrases = q.map((phrase) => folded(phrase).trim());
	const bbox = parseBbox(parameters.get("bbox") ?? "");
	const limit = Math.min(Number(parameters.get("limit") ?? defaultLimit), maxLimit);
	const offset = Number(parameters.get("offset") ?? 0);
	parameters.delete("limit");
	parameters.delete("offset");
	const isMatch = (entry: Entry) => {
		if (ids.size > 0 && !ids.has(entry.smallkey)) return false;
		if (types.size > 0 && !types.has(entry.type)) return false;
		// A record without a geometry matches every box (OGC API Features 1.0.1, /req/core/fc-bbox-response, C).
		if (bbox && entry.bounds && !intersects(entry.bounds, bbox)) return false;
		return phrases.length === 0 || phrases.some((phrase) => searchedText(entry).includes(phrase));
	};
	return { isMatch, limit, offset, text: parameters.toString() };
}

/** Four numbers, or six with heights; west may be greater than east (OGC API Features, "bbox"). */
function parseBbox(text: string): Bounds | null {
	const numbers = text.split(",").map((part) => (/^\s*[+-]?\d/.test(part) ? Number(part) : Number.NaN));
	const bounds = numbers.filter((_, at) => numbers.length === 4 || at % 3 < 2) as unknown as Bounds;
	const isBox = numbers.every(Number.isFinite) && (numbers.length === 4 || numbers.length === 6);
	return isBox && bounds[1] <= bounds[3] ? bounds : null;
}

/** A text without differences of case, accents, spaces and apostrophes: keyboards write `'` where titles have `’`. */
function folded(text: string): string {
	return fold(text)
		.replace(/[‘’ʼ′]/g, "'")
		.replace(/\s+/g, " ");
}

/** Made by the first search. */
const searchedTexts = new WeakMap<Entry, string>();

function searchedText(entry: Entry): string {
	const { smallkey, title, description: about } = entry;
	const textsIn = (lang: Lang) => [title[lang], about?.[lang], senderOf(entry, lang)];
	const parts = () => [smallkey, ...langs.flatMap(textsIn), ...allKeywords(entry)];
	const text = searchedTexts.get(entry) ?? folded(parts().join("\0"));
	searchedTexts.set(entry, text);
	return text;
}

/** A link of OGC API (Common, "Link"): `rel`, `href`, and further members. */
type Link = Readonly<Record<"rel" | "href", string> & Record<string, string>>;

export const title = inBoth("map-layers");
export const description = inBoth("tagline");

export const json = (rel: string, href: string): Link => ({ rel, type: "application/json", href });

export function catalogOf(links: readonly Link[], id = "layers"): object {
	return { id, type: "Collection", itemType: "record", title, description, links };
}

/** The crawlable catalogue, for a hosting of files: an index, and a file for each chunk. */
export function* recordsFiles(
	chunks: readonly (readonly Entry[])[],
	publicUrl: string,
): Generator<ExtensionFile> {
	const root = publicUrl || "../";
	const index = "records/index.json";
	const links = [json("self", root + index)];
	for (const [number, entries] of chunks.entries()) {
		if (entries.length === 0) continue;
		const path = `records/${String(number).padStart(2, "0")}.json`;
		links.push(json("child", root + path));
		const catalog = catalogOf([json("parent", root + index)], `layers-${number}`);
		const text = () => {
			const records = entries.map((entry) => recordOf(entry, root));
			return `${JSON.stringify({ ...catalog, records })}\n`;
		};
		yield { path, from: entries, text };
	}
	yield { path: index, text: () => `${JSON.stringify({ ...catalogOf(links), itemType: "catalog" })}\n` };
}

/** A layer as a record (Records, "recordGeoJSON.yaml"). */
export function recordOf(entry: Entry, root: string) {
	const { smallkey, type, bounds, changed, sender } = entry;
	const keywords = allKeywords(entry);
	const both = ({ en, fr }: { en?: string; fr?: string }) =>
		[...new Set([en, fr])].filter(Boolean).join(" · ");
	const pages = langs.map((lang): Link => {
		const href = root + layerAddress(lang, smallkey);
		return { rel: "describedby", type: "text/html", hreflang: lang, title: titleOf(entry, lang), href };
	});
	const contact = { organization: typeof sender === "object" ? both(sender) : sender, roles: ["publisher"] };
	return {
		id: smallkey,
		type: "Feature",
		conformsTo: ["http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core"],
		time: null,
		geometry: bounds ? { type: "Polygon", coordinates: [ringOf(bounds)] } : null,
		properties: {
			type,
			title: both(entry.title) || smallkey,
			...(entry.description && { description: both(entry.description) }),
			...(keywords.length > 0 && { keywords }),
			...(changed && { updated: changed.date }),
			languages: langs.map((code) => ({ code })),
			...(sender !== undefined && { contacts: [contact] }),
		},
		links: [...serviceLinks(entry), ...pages],
	};
}

/** Counter-clockwise from the south-west (RFC 7946, section 3.1.6). */
function ringOf([west, south, east, north]: Bounds): number[][] {
	const start = [west, south];
	return [start, [east, south], [east, north], [west, north], start];
}

const arcgis = (kind: string) => `ESRI:ArcGIS:${kind}`;

/** Type of an entry → protocol, by the names that the QGIS plugin MetaSearch recognizes (its `link_types.py`). */
const protocols: Readonly<Record<string, string>> = {
	wms: "OGC:WMS",
	ogcWms: "OGC:WMS",
	ogcWmts: "OGC:WMTS",
	esriFeatureServer: arcgis("FeatureServer"),
	esriMapServer: arcgis("MapServer"),
	esriTile: arcgis("MapServer"),
	esriImage: arcgis("ImageServer"),
};

/** Groups: the service, its kind, and the number. */
const oneLayer = /^([^?#]*\/(MapServer|FeatureServer))\/(\d{1,9})\/?(?=[?#]|$)/i;

/**
 * For French only where it differs. QGIS' MetaSearch adds the service of a link by its `type`, which is the
 * protocol, too.
 */
function serviceLinks(entry: Entry): Link[] {
	const different = langs.filter((lang) => lang === "en" || (entry.address.fr ?? entry.layers?.fr));
	return different.map((lang) => {
		const address = addressOf(entry, lang);
		const [, service = address, kind, number] = oneLayer.exec(address) ?? [];
		const ofKind = kind && arcgis(/^m/i.test(kind) ? "MapServer" : "FeatureServer");
		const protocol = protocols[entry.type] ?? ofKind;
		const name = number ?? layersIn(entry, lang).join(",");
		return {
			rel: "item",
			href: protocol === ofKind ? service : address,
			hreflang: lang,
			title: titleOf(entry, lang),
			...(protocol && { type: protocol, protocol }),
			...(name && { name }),
		};
	});
}

/** Bounds whose west is greater than their east cross the date line. */
function intersects(a: Bounds, b: Bounds): boolean {
	if (a[1] > b[3] || b[1] > a[3]) return false;
	return spansOf(a).some(([west, east]) => spansOf(b).some(([left, right]) => west <= right && left <= east));
}

function spansOf([west, , east]: Bounds): (readonly [west: number, east: number])[] {
	if (west <= east) return [[west, east]];
	return [
		[west, 180],
		[-180, east],
	];
}
