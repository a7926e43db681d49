// OGC API Records 1.0 (OGC 20-004r1): layers as records of the collection `layers`. Pure.
import type { ExtensionFile } from "../../api/service/extensions.ts";
import { langs } from "../../registry/smallkey.ts";
import { type Bounds, type Entry, layerAddress } from "../../site/data/entries.ts";
import { addressOf, allKeywords, layersIn, titleOf } from "../../site/search/select.ts";
import { inBoth } from "../../site/text/static.ts";

/** A link of OGC API (Common, "Link"): `rel`, `href`, and further members. */
type Link = Readonly<Record<"rel" | "href", string> & Record<string, string>>;

export const about = { title: inBoth("map-layers"), description: inBoth("tagline") };

export const linkTo = (rel: string, href: string, type = "application/json"): Link => ({ rel, type, href });

export function catalogOf(links: readonly Link[], id = "layers"): object {
	return { id, type: "Collection", itemType: "record", ...about, links };
}

/** The crawlable catalogue: an index, and a file for each chunk. */
export function* recordsFiles(
	chunks: readonly (readonly Entry[])[],
	publicUrl: string,
): Generator<ExtensionFile> {
	const root = publicUrl || "../";
	const index = "records/index.json";
	const links = [linkTo("self", root + index)];
	for (const [number, entries] of chunks.entries()) {
		if (entries.length === 0) continue;
		const path = `records/${String(number).padStart(2, "0")}.json`;
		links.push(linkTo("child", root + path));
		const catalog = catalogOf([linkTo("parent", root + index)], `layers-${number}`);
		const text = () => {
			const records = entries.map((entry) => recordOf(entry, root));
			return `${JSON.stringify({ ...catalog, records })}\n`;
		};
		yield { path, from: entries, text };
	}
	yield { path: index, text: () => `${JSON.stringify({ ...catalogOf(links), itemType: "catalog" })}\n` };
}

function joinTexts({ en, fr }: { en?: string; fr?: string }) {
	return [...new Set([en, fr])].filter(Boolean).join(" · ");
}

/** A layer as a record (Records, "recordGeoJSON.yaml"). */
export function recordOf(entry: Entry, root: string) {
	const { smallkey, type, bounds, changed, sender } = entry;
	const keywords = allKeywords(entry);
	const pages = langs.map((lang): Link => {
		const href = root + layerAddress(lang, smallkey);
		return { rel: "describedby", type: "text/html", hreflang: lang, title: titleOf(entry, lang), href };
	});
	const organization = typeof sender === "object" ? joinTexts(sender) : sender;
	return {
		id: smallkey,
		type: "Feature",
		conformsTo: ["http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core"],
		time: null,
		geometry: bounds ? { type: "Polygon", coordinates: [ringOf(bounds)] } : null,
		properties: {
			type,
			title: joinTexts(entry.title) || smallkey,
			...(entry.description && { description: joinTexts(entry.description) }),
			...(keywords.length > 0 && { keywords }),
			...(changed && { updated: changed.date }),
			languages: langs.map((code) => ({ code })),
			...(sender !== undefined && { contacts: [{ organization, roles: ["publisher"] }] }),
		},
		links: [...serviceLinks(entry), ...pages],
	};
}

/** Counter-clockwise from the south-west (RFC 7946, section 3.1.6). */
function ringOf([west, south, east, north]: Bounds) {
	const start = [west, south];
	return [start, [east, south], [east, north], [west, north], start];
}

/** Type of an entry → protocol, by the names that the QGIS plugin MetaSearch recognizes (its `link_types.py`). */
const protocols: Readonly<Record<string, string>> = {
	wms: "OGC:WMS",
	ogcWms: "OGC:WMS",
	ogcWmts: "OGC:WMTS",
	esriFeatureServer: "ESRI:ArcGIS:FeatureServer",
	esriMapServer: "ESRI:ArcGIS:MapServer",
	esriTile: "ESRI:ArcGIS:MapServer",
	esriImage: "ESRI:ArcGIS:ImageServer",
};

/** Groups: service, kind, number. */
const oneLayer = /^([^?#]*\/(MapServer|FeatureServer))\/(\d{1,9})\/?(?=[?#]|$)/i;

/** French has a link only to another service. QGIS' MetaSearch reads the protocol from `type`. */
function serviceLinks(entry: Entry): Link[] {
	const serviceLangs = langs.filter((lang) => lang === "en" || (entry.address.fr ?? entry.layers?.fr));
	return serviceLangs.map((lang) => {
		const address = addressOf(entry, lang);
		const [, service = address, kind, number] = oneLayer.exec(address) ?? [];
		const kindProtocol = kind && `ESRI:ArcGIS:${/^m/i.test(kind) ? "MapServer" : "FeatureServer"}`;
		const protocol = protocols[entry.type] ?? kindProtocol;
		const name = number ?? layersIn(entry, lang).join(",");
		return {
			rel: "item",
			href: protocol === kindProtocol ? service : address,
			hreflang: lang,
			title: titleOf(entry, lang),
			...(protocol && { type: protocol, protocol }),
			...(name && { name }),
		};
	});
}
