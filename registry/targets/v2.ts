import type { LayerFacts } from "./facts.ts";
import type { Target } from "./target.ts";

/** What FGPV 2 and 3 read, GeoView and the geo.ca portal: one node of a layer, without symbols, extent or grid. */
export const v2: Target = {
	name: "v2",
	doc: "v2/doc",
	docs: "v2/docs",
	// GeoView's own default address ends with a slash.
	aliases: [{ doc: "v2/doc/", docs: "v2/docs/" }],
	// FGPV drops what is empty, and throws on an object that is no layer.
	absent: () => "null",
	render: (layer) => `{"layers":[${JSON.stringify(nodeOf(layer))}]}`,
};

function nodeOf(layer: LayerFacts): object {
	return layer.type === "ogcWms" ? wmsNode(layer) : featureNode(layer);
}

/** Another type of legend makes FGPV fail, so it is left out. */
const legendTypes = new Set(["image/png", "image/gif", "image/jpeg", "image/svg", "image/svg+xml"]);
const featureInfoTypes = new Set(["text/html;fgpv=summary", "text/html", "text/plain", "application/json"]);

function wmsNode({ id, url, name, entries, entry, metadataUrl, catalogueUrl }: LayerFacts): object {
	return {
		id,
		layerType: "ogcWms",
		url,
		name,
		layerEntries: entries.map((one) => ({ id: one })),
		featureInfoMimeType: known(entry.feature_info_type, featureInfoTypes),
		legendMimeType: known(entry.legend_format, legendTypes),
		metadataUrl,
		catalogueUrl,
	};
}

function known(type: string | undefined, types: ReadonlySet<string>): string | undefined {
	return type !== undefined && types.has(type) ? type : undefined;
}

/** `…/MapServer/<n>`, with a query or without: the service, the layer's number and the rest. */
const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})([?#].*)?$/i;

function featureNode(layer: LayerFacts): object {
	const { id, url, name, nameField, metadataUrl, catalogueUrl, settings } = layer;
	const match = settings.mapServerType === "esriFeature" ? null : mapServerLayer.exec(url);
	if (!match) {
		return {
			id,
			layerType: "esriFeature",
			url,
			name,
			nameField: nameField || undefined,
			metadataUrl,
			catalogueUrl,
		};
	}
	// GeoView fails on an esriFeature of a MapServer; this one it draws, and FGPV from 2.1 on does, as an image.
	const [, service = "", number = "", rest = ""] = match;
	return {
		id,
		layerType: "esriDynamic",
		url: service + rest,
		name,
		layerEntries: [{ index: Number(number) }],
		metadataUrl,
		catalogueUrl,
	};
}
