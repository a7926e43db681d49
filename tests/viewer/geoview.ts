// biome-ignore lint/suspicious/noExplicitAny: viewers read members without checking them
type Json = any;

interface GeoviewLayer {
	id: string;
	/** Names or numbers of the layers inside the service. */
	layers: string[];
}

/**
 * Reads an answer of `/v2/docs/` as GeoView does, by its sources from 2.0.0 to June 2026.
 * @throws {Error} where GeoView fails, or loads forever
 */
export function readAsGeoview(elements: Json[]): GeoviewLayer[] {
	// Of an empty list it only shows an error of that layer.
	if (elements.includes(null)) throw new Error("GeoView loads forever on null");
	return elements.flatMap(({ layers }) => readNode(layers[0]));
}

/** Reads an answer of `/vcs` as the geo.ca portal does. @throws {Error} as `readAsGeoview` */
export function readAsPortal(answer: Json, lang: string): GeoviewLayer[] {
	return readAsGeoview(answer.response.rcs[lang]);
}

function readNode(node: Json): GeoviewLayer[] {
	const layers = layersIn(node);
	return layers ? [{ id: node.id.split(".")[1], layers: layers.map(String) }] : [];
}

/** Null for a type that GeoView does not draw: it only warns. */
function layersIn({ url, layerType, layerEntries }: Json): (string | number)[] | null {
	// Of a FeatureServer, it ignores the entries.
	if (url.includes("FeatureServer")) return [layerNumberIn(url)];
	if (layerEntries?.length === 0) throw new Error("GeoView loads forever on a layer without entries");
	switch (layerType) {
		case "esriDynamic":
		case "esriFeature":
			return layerEntries.map(({ index }: { index: number }) => index);
		case "ogcWms":
		case "ogcWmts":
			return layerEntries.map(({ id }: { id: string }) => id);
		case "esriImage":
			return [];
		default:
			return null;
	}
}

function layerNumberIn(url: string): string {
	const number = url.split("/").at(-1) ?? "";
	if (!/^\d+$/.test(number)) throw new Error(`GeoView asks for the layer ${number} of ${url}`);
	return number;
}
