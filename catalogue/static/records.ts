import type { Bounds, Entry } from "../../registry/entries.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { addressOf, titleOf } from "../../site/search/entry.ts";
import { layerAddress } from "./addresses.ts";
import type { ItemsQuery } from "./records-query.ts";
import { textsOf } from "./texts.ts";

/** OGC API Records 1.0 (OGC 20-004r1): layers as records of the collection `layers`. Pure. */

/** Id of the only collection. */
export const collectionId = "layers";

/** The conformance classes of the service. */
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

/** A link of OGC API (Common, "Link"), with two more members that QGIS reads. */
interface Link {
	href: string;
	rel: string;
	type?: string;
	title?: string;
	hreflang?: Lang;
	/** Protocol of the service at the address, by the names of the OGC and of Esri. */
	protocol?: string;
	/** Name of the layer in the service. */
	name?: string;
}

const english = textsOf("en");
const title = `${english.title} · ${textsOf("fr").title}`;
const description = `${english.tagline} · ${textsOf("fr").tagline}`;

/**
 * `GET /ogc`, `/conformance`, `/collections` and `/collections/layers`.
 * @param path below the API's root
 * @param root address of the site with a slash at its end, absolute or relative to the answer's address
 * @returns null for any other path
 */
export function recordsPage(path: string, root: string): object | null {
	const collection = {
		...catalogOf([
			json("self", `${root}collections/${collectionId}`),
			{ rel: "items", type: geoJson, href: itemsAddress(root) },
		]),
		crs: [crs84],
	};
	if (path === `collections/${collectionId}`) return collection;
	if (path === "collections")
		return { links: [json("self", `${root}collections`)], collections: [collection] };
	if (path === "conformance") return { conformsTo: conformance };
	if (path !== "") return null;
	const openApi = "application/vnd.oai.openapi+json;version=3.1";
	const links = [
		json("self", `${root}ogc`),
		{ rel: "service-desc", type: openApi, href: `${root}schemas/openapi.json` },
		{ rel: "service-doc", type: "text/html", href: `${root}schemas/` },
		json("conformance", `${root}conformance`),
		json("data", `${root}collections`),
	];
	return { title, description, links };
}

function json(rel: string, href: string): Link {
	return { rel, type: "application/json", href };
}

/** A collection of records; its links make it searchable or crawlable. */
function catalogOf(links: readonly Link[], id = collectionId): object {
	return { id, type: "Collection", itemType: "record", title, description, links };
}

function itemsAddress(root: string): string {
	return `${root}collections/${collectionId}/items`;
}

/**
 * `GET /collections/layers/items`
 * @param found all entries that match the query, always in the same order
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

/** Renders the crawlable catalogue of one chunk, with its records. */
export function crawlablePage(chunk: number, entries: readonly Entry[], publicUrl: string): string {
	const root = publicUrl || "../";
	const records = entries.map((entry) => recordOf(entry, root));
	const links = [json("parent", `${root}${crawlablePath}`)];
	return `${JSON.stringify({ ...catalogOf(links, `${collectionId}-${chunk}`), records })}\n`;
}

/** The file of the crawlable catalogue, which a hosting of files has in place of a searchable one. */
export const crawlablePath = "records/index.json";

/** The file with the records of one chunk. */
export function crawlableFile(chunk: number): string {
	return `records/${String(chunk).padStart(2, "0")}.json`;
}

/** Renders the crawlable catalogue: links to its chunks. @param chunks numbers of the chunks that have layers */
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

/** Type of an entry → protocol, by the names that the QGIS plugin MetaSearch recognizes. */
const protocols: ReadonlyMap<string, string> = new Map([
	["wms", "OGC:WMS"],
	["ogcWms", "OGC:WMS"],
	["ogcWmts", "OGC:WMTS"],
	["esriFeatureServer", "ESRI:ArcGIS:FeatureServer"],
	["esriMapServer", "ESRI:ArcGIS:MapServer"],
	["esriTile", "ESRI:ArcGIS:MapServer"],
	["esriImage", "ESRI:ArcGIS:ImageServer"],
]);

/** Accepts `…/MapServer/<n>` or `…/FeatureServer/<n>`; its groups are the service, `Map` or `Feature`, and the number. */
const oneLayer = /^([^?#]*\/(Map|Feature)Server)\/(\d{1,9})\/?(?=[?#]|$)/i;

/** Links to the layer's service, each address once, from which QGIS adds the layer. */
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
