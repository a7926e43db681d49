import { withoutHarmlessQuery } from "../addresses.ts";
import type { ServiceType } from "../registration.ts";
import { featureInfoType, type LayerFacts, layerAddress } from "./facts.ts";
import type { Render, Target } from "./target.ts";

/** What FGPV 2 and 3 read, GeoView and the geo.ca portal: one node of a layer, without symbols, extent or grid. */
export const v2: Target = {
	name: "v2",
	doc: "v2/doc",
	docs: "v2/docs",
	// GeoView's own default address ends with a slash.
	aliases: [{ doc: "v2/doc/", docs: "v2/docs/" }],
	// The geo.ca portal's, which GeoView asks as well. GeoView 1.0.0 reads `reponse`; on null no GeoView ends loading.
	queryDoor: {
		path: "vcs",
		envelope: (lang) => ({
			open: `{"response":{"rcs":{"${lang}":`,
			between: `},"gcs":[]},"reponse":{"rcs":{"${lang}":`,
			close: '},"gcs":[]}}',
		}),
	},
	// FGPV, which asks for a list, drops what is empty, and throws on an object that is no layer. GeoView, which asks for
	// one key, never ends loading on null, and shows an empty array as an error of that layer.
	absent: (_item, count) => (count > 1 ? "null" : null),
	// FGPV has no such layers: it ends its list with a TypeError, and every layer after it is lost.
	isUnlisted: isOgcWmts,
};

/** null where the layer has no form that FGPV or GeoView draws. */
export const renderV2: Render = (layer) => {
	const node = nodeOf(layer);
	return node && `{"layers":[${JSON.stringify(node)}]}`;
};

const nodeStart = '{"layers":[{"id":"';
const wmtsMember = new TextEncoder().encode(',"layerType":"ogcWmts"');

/** Whether a fragment is an ogcWmts node. It is not parsed: the type follows the id, which contains no escapes. */
function isOgcWmts(body: Uint8Array): boolean {
	const start = body.indexOf(0x22, nodeStart.length) + 1;
	return wmtsMember.every((byte, index) => body[start + index] === byte);
}

/** Makes the members that only some kinds of layers have. */
type Members = (layer: LayerFacts) => object;

/** How each kind of service is rendered. `esriFeatureServer` becomes an `esriFeature` before. */
const kinds: Readonly<Record<Exclude<ServiceType, "esriFeatureServer">, Members>> = {
	ogcWms: ogcMembers,
	ogcWmts: ogcMembers,
	esriFeature: ({ nameField, members }) => ({
		nameField: nameField || undefined,
		tolerance: members.tolerance,
	}),
	esriTile: () => ({}),
	esriImage: () => ({}),
	esriMapServer: ({ v2, members }) => ({
		layerEntries: v2.entries.map((index) => ({ index })),
		tolerance: members.tolerance,
	}),
};

/** Kinds that need at least one named layer: otherwise GeoView keeps loading, and FGPV draws nothing. */
const withEntries = new Set<ServiceType>(["ogcWms", "ogcWmts", "esriMapServer", "esriFeatureServer"]);

function nodeOf(layer: LayerFacts): object | null {
	const { id, name, metadataUrl, catalogueUrl, type, settings } = layer;
	const { url, entries } = layer.v2;
	if (withEntries.has(type) && entries.length === 0) return null;
	if (type === "esriFeatureServer") {
		// No viewer draws a FeatureServer by `layerEntries`. One layer has an address of its own; several have no form.
		const [entry] = entries;
		if (entry === undefined || entries.length > 1) return null;
		return nodeOf({ ...layer, type: "esriFeature", v2: { url: layerAddress(url, entry), entries: [] } });
	}
	const isFeature = type === "esriFeature";
	const match = isFeature && settings.mapServerType !== "esriFeature" ? mapServerLayer.exec(url) : null;
	if (match) {
		// GeoView fails on an esriFeature of a MapServer; this one it draws, and FGPV from 2.1 on does, as an image.
		const [, service = "", number, rest = ""] = match;
		const v2 = { url: service + rest, entries: [Number(number)] };
		return nodeOf({ ...layer, type: "esriMapServer", v2 });
	}
	const layerType = type === "esriMapServer" ? "esriDynamic" : type;
	const plain = isFeature ? withoutHarmlessQuery(url) : url;
	return { id, layerType, url: plain, name, ...kinds[type](layer), metadataUrl, catalogueUrl };
}

/** Another type of legend makes FGPV fail, so it is left out. */
const legendTypes = new Set(["image/png", "image/gif", "image/jpeg", "image/svg", "image/svg+xml"]);
const featureInfoTypes = new Set(["text/html;fgpv=summary", "text/html", "text/plain", "application/json"]);

function ogcMembers(layer: LayerFacts): object {
	return {
		layerEntries: layer.v2.entries.map((one) => ({ id: one })),
		featureInfoMimeType: known(featureInfoType(layer), featureInfoTypes),
		legendMimeType: known(layer.members.legend_format, legendTypes),
	};
}

function known(type: string | undefined, types: ReadonlySet<string>): string | undefined {
	return type !== undefined && types.has(type) ? type : undefined;
}

/** `…/MapServer/<n>`, with a query or without: the service, the layer's number and the rest. */
const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})([?#].*)?$/i;
