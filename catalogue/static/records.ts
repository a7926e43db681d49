import type { Bounds, Entry } from "../../registry/entries.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { addressOf, meets, senderOf, titleOf } from "../../site/search/entry.ts";
import { fold as foldWords } from "../../site/search/words.ts";
import { layerAddress } from "./addresses.ts";
import { textsOf } from "./texts.ts";

/** OGC API Records 1.0 (OGC 20-004r1): layers as records of the collection `layers`. Pure. */

/** Id of the only collection. */
export const collectionId = "layers";

/** What the service conforms to. */
const conformance = [
	"http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
	"http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core",
	"http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-collection",
	"http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/json",
];

const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
const geoJson = "application/geo+json";

/** A link of OGC API (Common, "Link"), with what QGIS reads of it beside. */
interface Link {
	href: string;
	rel: string;
	type?: string;
	title?: string;
	hreflang?: Lang;
	/** What answers at the address, in words of the OGC and of Esri. */
	protocol?: string;
	/** Name of the layer in the service. */
	name?: string;
}

const english = textsOf("en");
const title = `${english.title} · ${textsOf("fr").title}`;
const description = `${english.tagline} · ${textsOf("fr").tagline}`;

/** `GET /ogc` @param root address of the site with a slash at its end, or from the answer's address to the site */
export function landingPage(root: string): object {
	const ogc = `${root}ogc`;
	return {
		title,
		description,
		links: [
			json("self", ogc),
			{
				...json("service-desc", `${root}schemas/openapi.json`),
				type: "application/vnd.oai.openapi+json;version=3.1",
			},
			{ rel: "service-doc", type: "text/html", href: `${root}schemas/` },
			json("conformance", `${root}conformance`),
			json("data", `${root}collections`),
		],
	};
}

function json(rel: string, href: string): Link {
	return { rel, type: "application/json", href };
}

/** `GET /conformance` */
export function conformancePage(): object {
	return { conformsTo: conformance };
}

/** `GET /collections` */
export function collectionsPage(root: string): object {
	return { links: [json("self", `${root}collections`)], collections: [collectionPage(root)] };
}

/** `GET /collections/layers` */
export function collectionPage(root: string): object {
	return {
		...catalogOf([
			json("self", `${root}collections/${collectionId}`),
			{ rel: "items", type: geoJson, href: itemsAddress(root) },
		]),
		crs: [crs84],
	};
}

/** A catalogue of records, as its links make it. */
function catalogOf(links: readonly Link[], id = collectionId): object {
	return { id, type: "Collection", itemType: "record", title, description, links };
}

function itemsAddress(root: string): string {
	return `${root}collections/${collectionId}/items`;
}

/** What a reader of items asks for. */
export interface ItemsQuery {
	/** Any of these phrases is in the record's texts, folded; null: everything. */
	q: string[] | null;
	bbox: Bounds | null;
	ids: ReadonlySet<string> | null;
	types: ReadonlySet<string> | null;
	limit: number;
	offset: number;
	/** The same as a query string without `limit` and `offset`. */
	text: string;
}

const defaultLimit = 10;
const maxLimit = 1_000;

/** Reads the query of items; a text says what is wrong with it. @param query without its `?` */
export function parseItemsQuery(query: string): ItemsQuery | string {
	const parameters = new URLSearchParams(query);
	const kept = new URLSearchParams();
	const known = new Set(["q", "bbox", "ids", "type", "limit", "offset", "datetime", "f"]);
	for (const [name, value] of parameters) {
		if (!known.has(name)) return `query: has no parameter ${JSON.stringify(name.slice(0, 100))}`;
		if (name !== "limit" && name !== "offset") kept.append(name, value);
	}
	const numbers = (["limit", "offset"] as const).map((name) => {
		const text = parameters.get(name);
		if (text === null) return name === "limit" ? defaultLimit : 0;
		const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
		return number < (name === "limit" ? 1 : 0)
			? `${name}: must be a whole number, not ${shown(text)}`
			: number;
	});
	const [limit, offset] = numbers as [number, number];
	for (const number of numbers) if (typeof number === "string") return number;
	const bbox = parameters.get("bbox");
	const bounds = bbox === null ? null : parseBbox(bbox);
	if (typeof bounds === "string") return bounds;
	const f = parameters.get("f");
	if (f !== null && f !== "json") return `f: must be json, not ${shown(f)}`;
	// No layer has a time, so that each of them meets any (Features, /req/core/fc-time-response, C).
	const datetime = parameters.get("datetime");
	if (datetime !== null && !isTime(datetime))
		return `datetime: must be a time or an interval, not ${shown(datetime)}`;
	const phrases = listOf(parameters.get("q"))?.map((phrase) => fold(phrase).trim());
	const ids = listOf(parameters.get("ids"));
	const types = listOf(parameters.get("type"));
	return {
		q: phrases ?? null,
		bbox: bounds,
		ids: ids && new Set(ids),
		types: types && new Set(types),
		limit: Math.min(limit, maxLimit),
		offset,
		text: kept.toString(),
	};
}

/** `2026-03-04T12:00:00Z`, a day, or an interval of two, each of which may be open: `..` or nothing. */
function isTime(text: string): boolean {
	const parts = text.split("/");
	const isOpen = (part: string) => parts.length === 2 && (part === "" || part === "..");
	const isDate = (part: string) => /^\d{4}-\d{2}-\d{2}(?:[Tt][\d:.]+(?:[Zz]|[+-]\d{2}:\d{2}))?$/.test(part);
	return (
		parts.length <= 2 &&
		parts.every((part) => isOpen(part) || (isDate(part) && !Number.isNaN(Date.parse(part))))
	);
}

function shown(text: string): string {
	return JSON.stringify(text.slice(0, 100));
}

function listOf(text: string | null): string[] | null {
	const items = (text ?? "").split(",").filter((item) => item.trim() !== "");
	return items.length > 0 ? items : null;
}

/** Four numbers, or six with heights between; the west may lie east of the east (OGC API Features, "bbox"). */
function parseBbox(text: string): Bounds | string {
	const numbers = text.split(",").map((part) => (/^\s*[+-]?\d/.test(part) ? Number(part) : Number.NaN));
	const [west, south, east, north] = numbers.length === 6 ? [0, 1, 3, 4].map((at) => numbers[at]) : numbers;
	const bounds = [west, south, east, north] as Bounds;
	const isWhole = (numbers.length === 4 || numbers.length === 6) && numbers.every(Number.isFinite);
	return isWhole && bounds[1] <= bounds[3]
		? bounds
		: `bbox: must be four or six numbers, south before north, not ${shown(text)}`;
}

/** A text as it is compared: folded, with one space between words. */
function fold(text: string): string {
	return foldWords(text).replace(/\s+/g, " ");
}

/** The texts of an entry in which a reader searches, folded. */
export function searchedText(entry: Entry): string {
	const { smallkey, title, description: about, keywords = [] } = entry;
	const senders = langs.map((lang) => senderOf(entry, lang));
	const texts = [smallkey, title.en, title.fr, about?.en ?? "", about?.fr ?? "", ...keywords, ...senders];
	return fold(texts.join("\0"));
}

/** Whether an entry is among the items. @param text its searched text, which is made only where it is needed */
export function isWanted(
	entry: Entry,
	{ q, bbox, ids, types }: ItemsQuery,
	text: (entry: Entry) => string,
): boolean {
	if (ids && !ids.has(entry.smallkey)) return false;
	if (types && !types.has(entry.type)) return false;
	// A record without a geometry is in every box (OGC API Features 1.0.1, /req/core/fc-bbox-response, C).
	if (bbox && entry.bounds && !meets(entry.bounds, bbox)) return false;
	return q === null || q.some((phrase) => text(entry).includes(phrase));
}

/**
 * `GET /collections/layers/items`
 * @param found all entries that the query wants, in one order
 */
export function itemsPage(found: readonly Entry[], query: ItemsQuery, root: string): object {
	const { limit, offset, text } = query;
	const shownEntries = found.slice(offset, offset + limit);
	const at = (start: number) => {
		const parameters = [...(text ? [text] : []), `limit=${limit}`, `offset=${start}`];
		return `${itemsAddress(root)}?${parameters.join("&")}`;
	};
	const link = (rel: string, start: number): Link => ({ rel, type: geoJson, href: at(start) });
	return {
		type: "FeatureCollection",
		numberMatched: found.length,
		numberReturned: shownEntries.length,
		features: shownEntries.map((entry) => recordOf(entry, root)),
		links: [
			link("self", offset),
			...(offset > 0 ? [link("prev", Math.max(offset - limit, 0))] : []),
			...(offset + limit < found.length ? [link("next", offset + limit)] : []),
			json("collection", `${root}collections/${collectionId}`),
		],
	};
}

/** `GET /collections/layers/items/<smallkey>` */
export function itemPage(entry: Entry, root: string): object {
	const self = `${itemsAddress(root)}/${encodeURIComponent(entry.smallkey)}`;
	const record = recordOf(entry, root);
	const links = [
		{ rel: "self", type: geoJson, href: self },
		json("collection", `${root}collections/${collectionId}`),
	];
	return { ...record, links: [...links, ...record.links] };
}

/** The text of the crawlable catalogue of one chunk: its records. */
export function crawlablePage(chunk: number, entries: readonly Entry[], publicUrl: string): string {
	const root = publicUrl || "../";
	const records = entries.map((entry) => recordOf(entry, root));
	const links = [json("parent", `${root}${crawlablePath}`)];
	return `${JSON.stringify({ ...catalogOf(links, `${collectionId}-${chunk}`), records })}\n`;
}

/** The crawlable catalogue: a hosting of files has it in place of the search. */
export const crawlablePath = "records/index.json";

/** The file with the records of one chunk. */
export function crawlableFile(chunk: number): string {
	return `records/${String(chunk).padStart(2, "0")}.json`;
}

/** The content of that file: the parts of the catalogue. @param chunks numbers of those that have layers */
export function crawlableIndex(chunks: readonly number[], publicUrl: string): string {
	const root = publicUrl || "../";
	const links = [
		json("self", root + crawlablePath),
		...chunks.map((chunk) => json("child", root + crawlableFile(chunk))),
	];
	return `${JSON.stringify({ ...catalogOf(links), itemType: "catalog" })}\n`;
}

/** A layer as a record (Records, "recordGeoJSON.yaml"). */
export interface LayerRecord {
	id: string;
	links: Link[];
	[member: string]: unknown;
}

function recordOf(entry: Entry, root: string): LayerRecord {
	const { smallkey, type, bounds, changed, keywords, sender } = entry;
	const both = (texts: { en?: string; fr?: string }) => {
		const different = [...new Set([texts.en, texts.fr].filter(Boolean))];
		return different.join(" · ");
	};
	const named = both(entry.title) || smallkey;
	return {
		id: smallkey,
		type: "Feature",
		conformsTo: ["http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core"],
		time: null,
		geometry: bounds ? { type: "Polygon", coordinates: [ringOf(bounds)] } : null,
		properties: {
			type,
			title: named,
			...(entry.description && { description: both(entry.description) }),
			...(keywords && { keywords }),
			...(changed && { updated: changed.date }),
			languages: [{ code: "en" }, { code: "fr" }],
			...(sender !== undefined && {
				contacts: [
					{ organization: typeof sender === "string" ? sender : both(sender), roles: ["publisher"] },
				],
			}),
		},
		links: [
			...serviceLinks(entry),
			...langs.map(
				(lang): Link => ({
					rel: "describedby",
					type: "text/html",
					hreflang: lang,
					title: titleOf(entry, lang),
					href: root + layerAddress(lang, smallkey),
				}),
			),
		],
	};
}

/** Counter-clockwise from the south-west (RFC 7946, section 3.1.6). */
function ringOf([west, south, east, north]: Bounds): number[][] {
	return [
		[west, south],
		[east, south],
		[east, north],
		[west, north],
		[west, south],
	];
}

/** Types of the catalogue → protocol, in the words that QGIS' MetaSearch looks for. */
const protocols: ReadonlyMap<string, string> = new Map([
	["wms", "OGC:WMS"],
	["ogcWms", "OGC:WMS"],
	["ogcWmts", "OGC:WMTS"],
	["esriFeatureServer", "ESRI:ArcGIS:FeatureServer"],
	["esriMapServer", "ESRI:ArcGIS:MapServer"],
	["esriTile", "ESRI:ArcGIS:MapServer"],
	["esriImage", "ESRI:ArcGIS:ImageServer"],
]);

/** `…/MapServer/<n>` or `…/FeatureServer/<n>`: the service, which of the two it is, and the layer. */
const oneLayer = /^([^?#]*\/(Map|Feature)Server)\/(\d{1,9})\/?(?=[?#]|$)/i;

/** Where the layer's service is, each address once: QGIS adds it from there. */
function serviceLinks(entry: Entry): Link[] {
	const different = langs.filter((lang) => lang === "en" || entry.address.fr !== undefined);
	return different.map((lang) => {
		const address = addressOf(entry, lang);
		const [, service = address, kind, number] = oneLayer.exec(address) ?? [];
		const ofService = kind && `ESRI:ArcGIS:${/^map$/i.test(kind) ? "MapServer" : "FeatureServer"}`;
		const protocol = protocols.get(entry.type) ?? ofService;
		const name = number ?? entry.layers?.join(",");
		return {
			rel: "item",
			href: protocol === ofService ? service : address,
			hreflang: lang,
			title: titleOf(entry, lang),
			...(protocol && { protocol }),
			...(name && { name }),
		};
	});
}
