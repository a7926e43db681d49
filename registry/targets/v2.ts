import type { ServiceType } from "../registration.ts";
import type { LayerFacts } from "./facts.ts";
import type { Render, Target } from "./target.ts";

/** What FGPV 2 and 3 read, GeoView and the geo.ca portal: one node of a layer, without symbols, extent or grid. */
export const v2: Target = {
	name: "v2",
	doc: "v2/doc",
	docs: "v2/docs",
	// GeoView's own default address ends with a slash.
	aliases: [{ doc: "v2/doc/", docs: "v2/docs/" }],
	// The geo.ca portal's, which GeoView asks as well.
	queryDoor: {
		path: "vcs",
		envelope: (lang) => ({ open: `{"response":{"rcs":{"${lang}":`, close: '},"gcs":[]}}' }),
	},
	// FGPV drops what is empty, and throws on an object that is no layer.
	absent: () => "null",
};

export const renderV2: Render = (layer) => `{"layers":[${JSON.stringify(nodeOf(layer))}]}`;

/** Makes the members that only some kinds of layers have. */
type Members = (layer: LayerFacts) => object;

/** How each kind of service is written; a whole ArcGIS service is drawn by itself, or as features. */
const kinds: Readonly<Record<ServiceType, { layerType: string; members: Members }>> = {
	ogcWms: { layerType: "ogcWms", members: ogcMembers },
	ogcWmts: { layerType: "ogcWmts", members: ogcMembers },
	esriFeature: { layerType: "esriFeature", members: featureMembers },
	esriTile: { layerType: "esriTile", members: () => ({}) },
	esriImage: { layerType: "esriImage", members: () => ({}) },
	esriMapServer: { layerType: "esriDynamic", members: numberedMembers },
	esriFeatureServer: { layerType: "esriFeature", members: numberedMembers },
};

function nodeOf(layer: LayerFacts): object {
	const { id, name, metadataUrl, catalogueUrl, type, settings } = layer;
	const match =
		type === "esriFeature" && settings.mapServerType !== "esriFeature"
			? mapServerLayer.exec(layer.v2.url)
			: null;
	if (match) return mapServerNode(layer, match);
	const { layerType, members } = kinds[type];
	return { id, layerType, url: layer.v2.url, name, ...members(layer), metadataUrl, catalogueUrl };
}

/** Another type of legend makes FGPV fail, so it is left out. */
const legendTypes = new Set(["image/png", "image/gif", "image/jpeg", "image/svg", "image/svg+xml"]);
const featureInfoTypes = new Set(["text/html;fgpv=summary", "text/html", "text/plain", "application/json"]);

function ogcMembers({ v2, featureInfoType, legendFormat }: LayerFacts): object {
	return {
		layerEntries: v2.entries.map((one) => ({ id: one })),
		featureInfoMimeType: known(featureInfoType, featureInfoTypes),
		legendMimeType: known(legendFormat, legendTypes),
	};
}

function known(type: string | undefined, types: ReadonlySet<string>): string | undefined {
	return type !== undefined && types.has(type) ? type : undefined;
}

function featureMembers({ nameField, tolerance }: LayerFacts): object {
	return { nameField: nameField || undefined, tolerance };
}

function numberedMembers({ v2 }: LayerFacts): object {
	return { layerEntries: v2.entries.map((index) => ({ index })) };
}

/** `…/MapServer/<n>`, with a query or without: the service, the layer's number and the rest. */
const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})([?#].*)?$/i;

/** GeoView fails on an esriFeature of a MapServer; this one it draws, and FGPV from 2.1 on does, as an image. */
function mapServerNode(
	{ id, name, tolerance, metadataUrl, catalogueUrl }: LayerFacts,
	match: string[],
): object {
	const [, service = "", number = "", rest = ""] = match;
	const layerEntries = [{ index: Number(number) }];
	const url = service + rest;
	return { id, layerType: "esriDynamic", url, name, layerEntries, tolerance, metadataUrl, catalogueUrl };
}
