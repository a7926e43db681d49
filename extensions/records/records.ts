import { langs } from "../../registry/smallkey.ts";
import { type Bounds, type Entry, layerAddress } from "../../site/data/entries.ts";
import { addressOf, allKeywords, layersIn, titleOf } from "../../site/search/select.ts";
import { inBoth } from "../../site/static/html.ts";
import { openApiType, recordsApi } from "./records-api.ts";
import type { ItemsQuery } from "./records-query.ts";

/** OGC API Records 1.0 (OGC 20-004r1): layers as records of the collection `layers`. Pure. */

/** Id of the only collection. */
export const collectionId = "layers";

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

/** A link of OGC API (Common, "Link"): `rel`, `href`, and further members. */
type Link = Readonly<Record<"rel" | "href", string> & Record<string, string>>;

const title = inBoth("map-layers");
const description = inBoth("tagline");

/** Addresses of the site and of the API, each with a slash at its end; relative to the answer, or absolute. */
export interface ApiRoot {
	site: string;
	api: string;
}

const itemsAt = ({ api }: ApiRoot) => `${api}collections/${collectionId}/items`;

const json = (rel: string, href: string): Link => ({ rel, type: "application/json", href });
const geoJson = (rel: string, href: string): Link => ({ rel, type: "application/geo+json", href });

/** A collection of records; its links make it searchable or crawlable. */
function catalogOf(links: readonly Link[], id = collectionId): object {
	return { id, type: "Collection", itemType: "record", title, description, links };
}

/**
 * `GET /ogc`, `/ogc/api`, `/conformance`, `/collections` and `/collections/layers`.
 * @param path below the API's root
 * @returns undefined for any other path
 */
export function recordsPage(path: string, root: ApiRoot): object | undefined {
	const { site, api } = root;
	const self = `${api}collections/${collectionId}`;
	const collection = { ...catalogOf([json("self", self), geoJson("items", itemsAt(root))]), crs: [crs84] };
	const links = [
		json("self", `${site}ogc`),
		{ rel: "service-desc", type: openApiType, href: `${api}api` },
		json("conformance", `${api}conformance`),
		json("data", `${api}collections`),
	];
	return new Map<string, object>([
		["", { title, description, links }],
		["api", recordsApi({ title, description }, api)],
		["conformance", { conformsTo: conformance }],
		["collections", { links: [json("self", `${api}collections`)], collections: [collection] }],
		[`collections/${collectionId}`, collection],
	]).get(path);
}

/**
 * `GET /collections/layers/items`
 * @param found all entries that match the query, always in the same order
 */
export function itemsPage(
	found: readonly Entry[],
	{ limit, offset, text }: ItemsQuery,
	root: ApiRoot,
): object {
	const features = found.slice(offset, offset + limit).map((entry) => recordOf(entry, root.site));
	const query = text && `${text}&`;
	const link = (rel: string, start: number) =>
		geoJson(rel, `${itemsAt(root)}?${query}limit=${limit}&offset=${start}`);
	return {
		type: "FeatureCollection",
		numberMatched: found.length,
		numberReturned: features.length,
		features,
		links: [
			link("self", offset),
			...(offset > 0 ? [link("prev", Math.max(offset - limit, 0))] : []),
			...(offset + limit < found.length ? [link("next", offset + limit)] : []),
			json("collection", `${root.api}collections/${collectionId}`),
		],
	};
}

/** `GET /collections/layers/items/<smallkey>` */
export function itemPage(entry: Entry, root: ApiRoot): object {
	const href = `${itemsAt(root)}/${encodeURIComponent(entry.smallkey)}`;
	const { links, ...record } = recordOf(entry, root.site);
	const collection = json("collection", `${root.api}collections/${collectionId}`);
	return { ...record, links: [geoJson("self", href), collection, ...links] };
}

/** The file of the crawlable catalogue, which a hosting of files has in place of a searchable one. */
export const crawlablePath = "records/index.json";

/** The file with the records of one chunk. */
export function crawlableFile(chunk: number): string {
	return `records/${String(chunk).padStart(2, "0")}.json`;
}

/** Renders the crawlable catalogue of one chunk, with its records; null for a chunk without layers. */
export function crawlablePage(chunk: number, entries: readonly Entry[], publicUrl: string): string | null {
	if (entries.length === 0) return null;
	const root = publicUrl || "../";
	const records = entries.map((entry) => recordOf(entry, root));
	const catalog = catalogOf([json("parent", root + crawlablePath)], `${collectionId}-${chunk}`);
	return `${JSON.stringify({ ...catalog, records })}\n`;
}

/** Renders the crawlable catalogue: links to the chunks that have layers. */
export function crawlableIndex(chunks: readonly (readonly Entry[])[], publicUrl: string): string {
	const root = publicUrl || "../";
	const children = chunks.flatMap(({ length }, chunk) => (length > 0 ? [crawlableFile(chunk)] : []));
	const links = [json("self", root + crawlablePath), ...children.map((file) => json("child", root + file))];
	return `${JSON.stringify({ ...catalogOf(links), itemType: "catalog" })}\n`;
}

/** A layer as a record (Records, "recordGeoJSON.yaml"). */
function recordOf(entry: Entry, root: string) {
	const { smallkey, type, bounds, changed, sender } = entry;
	const keywords = allKeywords(entry);
	const both = (texts: { en?: string; fr?: string }) =>
		[...new Set([texts.en, texts.fr].filter(Boolean))].join(" · ");
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
	return [
		[west, south],
		[east, south],
		[east, north],
		[west, north],
		[west, south],
	];
}

/** Type of an entry → protocol, by the names that the QGIS plugin MetaSearch recognizes (its `link_types.py`). */
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

/**
 * Links to the layer's service, for French only where it differs, with its `protocol`, a name of the OGC or of Esri, and `name`, that of
 * the layer in the service. QGIS' MetaSearch adds the service of a link by its `type`, which is the protocol, too.
 */
function serviceLinks(entry: Entry): Link[] {
	const different = langs.filter((lang) => lang === "en" || (entry.address.fr ?? entry.layers?.fr));
	return different.map((lang) => {
		const address = addressOf(entry, lang);
		const [, service = address, kind, number] = oneLayer.exec(address) ?? [];
		const ofService = kind && `ESRI:ArcGIS:${/^map$/i.test(kind) ? "MapServer" : "FeatureServer"}`;
		const protocol = protocols.get(entry.type) ?? ofService;
		const name = number ?? layersIn(entry, lang).join(",");
		return {
			rel: "item",
			href: protocol === ofService ? service : address,
			hreflang: lang,
			title: titleOf(entry, lang),
			...(protocol && { type: protocol, protocol }),
			...(name && { name }),
		};
	});
}

/** The crawlable catalogue: its index, and a file for each chunk with layers. */
export function* recordsFiles(
	chunks: readonly (readonly Entry[])[],
	publicUrl: string,
): Generator<[path: string, text: string]> {
	for (const [number, chunk] of chunks.entries()) {
		const text = crawlablePage(number, chunk, publicUrl);
		if (text !== null) yield [crawlableFile(number), text];
	}
	yield [crawlablePath, crawlableIndex(chunks, publicUrl)];
}
