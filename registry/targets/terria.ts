import type { ServiceType } from "../registration.ts";
import { fragmentTexts } from "../texts/pairs.ts";
import { type LayerFacts, layerAddress, type Render, type Target } from "./facts.ts";

/** Terria (terriajs 8) reads it by `{"type":"terria-reference","url":…,"path":["rcs.<smallkey>.<lang>"]}`. */
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
		name: fragmentTexts[layer.lang].metadata,
		content: address,
	}));
	const member = { ...source, name, id, info: info.length > 0 ? info : undefined };
	return { catalog: [member] };
};

/** Null if Terria has no such member. */
const kinds: Readonly<Record<ServiceType, (layer: LayerFacts) => object | null>> = {
	ogcWms: ({ url, entries }) => (entries.length > 0 ? { type: "wms", url, layers: entries.join(",") } : null),
	ogcWmts: ({ url, entries }) =>
		entries.length === 1 ? { type: "wmts", url, layer: String(entries[0]) } : null,
	esriFeature: ({ url }) => {
		const plain = withoutQuery(url);
		// Terria refuses a MapServer as `esri-featureServer`.
		const [, service, number] = /^(.*\/MapServer)\/(\d{1,9})$/i.exec(plain) ?? [];
		return service === undefined
			? { type: "esri-featureServer", url: plain }
			: { type: "esri-mapServer", url: service, layers: number };
	},
	esriFeatureServer: ({ url, entries }) =>
		entries.length === 1
			? { type: "esri-featureServer", url: layerAddress(withoutQuery(url), entries[0] as number) }
			: null,
	esriMapServer: ({ url, entries }) =>
		entries.length > 0 ? { type: "esri-mapServer", url: withoutQuery(url), layers: entries.join(",") } : null,
	esriImage: ({ url }) => ({ type: "esri-imageServer", url: withoutQuery(url) }),
	esriTile: ({ url }) => ({ type: "esri-mapServer", url: withoutQuery(url) }),
};

/** Terria sets the format itself, and requests pictures without a token of the address. */
function withoutQuery(url: string): string {
	return url.split(/[?#]/, 1)[0] as string;
}
