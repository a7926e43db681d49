import { langs } from "../../registry/smallkey.ts";
import { type Bounds, type Entry, layerAddress } from "../../site/data/entries.ts";
import { addressOf, allKeywords, layersIn, titleOf } from "../../site/search/select.ts";
import { inBoth } from "../../site/static/html.ts";

/** OGC API Records 1.0 (OGC 20-004r1): layers as records of the collection `layers`. Pure. */

/** A link of OGC API (Common, "Link"): `rel`, `href`, and further members. */
type Link = Readonly<Record<"rel" | "href", string> & Record<string, string>>;

export const title = inBoth("map-layers");
export const description = inBoth("tagline");

export const json = (rel: string, href: string): Link => ({ rel, type: "application/json", href });

/** A collection of records; its links make it searchable or crawlable. */
export function catalogOf(links: readonly Link[], id = "layers"): object {
	return { id, type: "Collection", itemType: "record", title, description, links };
}

/** The crawlable catalogue, which a hosting of files has in place of a searchable one: an index, and a file for each chunk. */
export function* recordsFiles(
	chunks: readonly (readonly Entry[])[],
	publicUrl: string,
): Generator<[path: string, text: string]> {
	const root = publicUrl || "../";
	const index = "records/index.json";
	const links = [json("self", root + index)];
	for (const [number, entries] of chunks.entries()) {
		if (entries.length === 0) continue;
		const path = `records/${String(number).padStart(2, "0")}.json`;
		links.push(json("child", root + path));
		const catalog = catalogOf([json("parent", root + index)], `layers-${number}`);
		const records = entries.map((entry) => recordOf(entry, root));
		yield [path, `${JSON.stringify({ ...catalog, records })}\n`];
	}
	yield [index, `${JSON.stringify({ ...catalogOf(links), itemType: "catalog" })}\n`];
}

/** A layer as a record (Records, "recordGeoJSON.yaml"). */
export function recordOf(entry: Entry, root: string) {
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
