interface GeoviewLayer {
	id: string;
	/** Names or numbers of the layers inside the service. */
	layers: string[];
}

/** What GeoView makes of an answer of `/v2/docs/`. @throws {Error} where it would fail, or never end loading */
// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
export function readAsGeoview(elements: any[]): GeoviewLayer[] {
	// An empty list is caught, and shown as an error of that layer; an element that is null is not (2.0.0 to June 2026).
	if (elements.some((element) => element === null)) throw new Error("GeoView never ends loading on null");
	return elements.flatMap(({ layers }) => readNode(layers[0]));
}

/** The same of the portal's answer at `/vcs`. */
// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
export function readAsPortal(answer: any, lang: string): GeoviewLayer[] {
	return readAsGeoview(answer.response.rcs[lang]);
}

// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
function readNode(node: any) {
	const layerOf = (layers: (string | number)[]) => [
		{ id: node.id.split(".")[1], layers: layers.map(String) },
	];
	if (node.url.indexOf("FeatureServer") > -1) {
		// Everything is in the address: whatever the entries say.
		const number = node.url.split("/").pop();
		if (!/^\d+$/.test(number)) throw new Error(`GeoView asks for the layer ${number} of ${node.url}`);
		return layerOf([number]);
	}
	if (node.layerEntries?.length === 0) throw new Error("GeoView never ends loading a layer of no entries");
	switch (node.layerType) {
		case "esriDynamic":
		case "esriFeature":
			return layerOf(node.layerEntries.map(({ index }: { index: number }) => index));
		case "ogcWms":
		case "ogcWmts":
			return layerOf(node.layerEntries.map(({ id }: { id: string }) => id));
		case "esriImage":
			return layerOf([]);
		default:
			// It warns, and goes on.
			return [];
	}
}
