import type { ServiceType } from "../registration.ts";
import { type LayerFacts, layerAddress } from "./facts.ts";
import type { Render, Target } from "./target.ts";

/**
 * A catalogue of Terria (terriajs 8, catalog types and their traits): `{"catalog":[member, …]}`. A map refers to a member
 * with `{"type":"terria-reference","url":…,"path":["rcs.<smallkey>.<lang>"]}`.
 */
export const terria: Target = {
	name: "terria",
	doc: "terria",
	docs: "terria",
	aliases: [],
	envelope: { open: '{"catalog":', close: "}" },
	absent: () => null,
};

export const renderTerria: Render = (layer) => {
	const source = kinds[layer.type](layer);
	if (!source) return null;
	const { id, name, metadataUrl, catalogueUrl } = layer;
	const addresses = [...new Set([metadataUrl, catalogueUrl])].filter((address) => address !== undefined);
	const info = addresses.map((address) => ({
		name: layer.lang === "fr" ? "Métadonnées" : "Metadata",
		content: address,
	}));
	const member = { ...source, name, id, info: info.length > 0 ? info : undefined };
	return { catalog: [member] };
};

/** Makes the member of each kind of service; null where Terria has no such member. Symbols come from the service. */
const kinds: Readonly<Record<ServiceType, (layer: LayerFacts) => object | null>> = {
	ogcWms: ({ url, entries }) => (entries.length > 0 ? { type: "wms", url, layers: entries.join(",") } : null),
	ogcWmts: ({ url, entries }) =>
		entries.length === 1 ? { type: "wmts", url, layer: String(entries[0]) } : null,
	esriFeature: ({ url }) => ({ type: "esri-featureServer", url }),
	esriFeatureServer: ({ url, entries }) =>
		entries.length === 1
			? { type: "esri-featureServer", url: layerAddress(url, entries[0] as number) }
			: null,
	esriMapServer: ({ url, entries }) =>
		entries.length > 0 ? { type: "esri-mapServer", url, layers: entries.join(",") } : null,
	esriImage: ({ url }) => ({ type: "esri-imageServer", url }),
	esriTile: ({ url }) => ({ type: "esri-mapServer", url }),
};
