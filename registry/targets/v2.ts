import { readInfoTypes, type ServiceType } from "../registration.ts";
import { addressOf, type LayerFacts, layerAddress, type Render, type Target } from "./facts.ts";

/** FGPV 2 and 3, GeoView and the geo.ca portal. */
export const v2: Target = {
	name: "v2",
	doc: "v2/doc",
	docs: "v2/docs",
	// GeoView's own default address ends with a slash.
	aliases: [{ doc: "v2/doc/", docs: "v2/docs/" }],
	// The geo.ca portal and GeoView use it. On null, GeoView loads forever.
	queryDoor: {
		path: "vcs",
		envelope: (lang) => ({ open: `{"response":{"rcs":{"${lang}":`, close: '},"gcs":[]}}' }),
	},
	// FGPV requests a list, drops empty elements, and throws on an object that is not a layer. GeoView requests
	// one key, and shows an empty array as an error of that layer.
	absent: (_item, count) => (count > 1 ? "null" : null),
	// At such a layer FGPV stops with a TypeError, and draws no later layer.
	isUnlisted: isOgcWmts,
};

export const renderV2: Render = (layer) => {
	const { service_url: address, layer: name } = layer.forV2;
	const url = address === undefined ? layer.url : addressOf(layer.type, address);
	const node = nodeOf({ ...layer, url, entries: name === undefined ? layer.entries : [name] });
	return node && { layers: [node] };
};

/** Avoids parsing. In a value, the quotes would be escaped. */
function isOgcWmts(body: Uint8Array): boolean {
	return new TextDecoder().decode(body.subarray(0, 200)).includes('"layerType":"ogcWmts"');
}

type Members = (layer: LayerFacts) => object;

const kinds: Readonly<Record<Exclude<ServiceType, "esriFeatureServer">, Members>> = {
	ogcWms: ogcMembers,
	ogcWmts: ogcMembers,
	esriFeature: ({ nameField, members }) => ({
		nameField: nameField || undefined,
		tolerance: members.tolerance,
	}),
	esriTile: () => ({}),
	esriImage: () => ({}),
	esriMapServer: ({ entries, members }) => ({
		layerEntries: entries.map((index) => ({ index })),
		tolerance: members.tolerance,
	}),
};

/** Without a named layer, GeoView loads forever, and FGPV draws nothing. */
const withEntries = new Set<ServiceType>(["ogcWms", "ogcWmts", "esriMapServer", "esriFeatureServer"]);

function nodeOf(layer: LayerFacts): object | null {
	const { id, name, url, entries, metadataUrl, catalogueUrl, type, settings } = layer;
	if (withEntries.has(type) && entries.length === 0) return null;
	if (type === "esriFeatureServer") {
		// No viewer draws a FeatureServer by `layerEntries`.
		const [entry] = entries;
		if (entry === undefined || entries.length > 1) return null;
		return nodeOf({ ...layer, type: "esriFeature", url: layerAddress(url, entry), entries: [] });
	}
	const isFeature = type === "esriFeature";
	const match = isFeature && settings.mapServerType !== "esriFeature" ? mapServerLayer.exec(url) : null;
	if (match) {
		// GeoView fails on an esriFeature of a MapServer, but draws an image of it, as does FGPV from 2.1 on.
		const [, service = "", number, rest = ""] = match;
		return nodeOf({ ...layer, type: "esriMapServer", url: service + rest, entries: [Number(number)] });
	}
	const layerType = type === "esriMapServer" ? "esriDynamic" : type;
	return { id, layerType, url, name, ...kinds[type](layer), metadataUrl, catalogueUrl };
}

/** FGPV fails on any other type of legend. */
const legendTypes = new Set(["image/png", "image/gif", "image/jpeg", "image/svg", "image/svg+xml"]);
const infoTypes = new Set(["text/html;fgpv=summary", ...readInfoTypes]);

function ogcMembers(layer: LayerFacts): object {
	return {
		layerEntries: layer.entries.map((id) => ({ id })),
		featureInfoMimeType: ifSupported(layer.infoType, infoTypes),
		legendMimeType: ifSupported(layer.members.legend_format, legendTypes),
	};
}

function ifSupported(type: string | undefined, types: ReadonlySet<string>): string | undefined {
	return type !== undefined && types.has(type) ? type : undefined;
}

const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})([?#].*)?$/i;
