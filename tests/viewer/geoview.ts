/** A layer as GeoView's reader of configurations by uuid hands it on. */
export interface GeoviewLayer {
	id: string;
	name: string;
	type: string;
	/** The address whose metadata it asks for. */
	metadata: string;
	/** Names or numbers of the layers inside the service. */
	layers: string[];
}

/** What GeoView makes of an answer of `/v2/docs/`. @throws {Error} where it would fail */
// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
export function readAsGeoview(elements: any[]): GeoviewLayer[] {
	if (elements.length === 0) throw new Error("GeoView wants one layer at least");
	const nodes = elements.filter((element) => element?.layers?.length > 0).map(({ layers }) => layers[0]);
	return nodes.flatMap(readNode);
}

/** The same of the portal's answer at `/vcs`. */
// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
export function readAsPortal(answer: any, lang: string): GeoviewLayer[] {
	return readAsGeoview(answer.response.rcs[lang]);
}

// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
function readNode(node: any): GeoviewLayer[] {
	const layer = { id: node.id.split(".")[1], name: node.name, type: node.layerType, metadata: node.url };
	if (node.url.indexOf("FeatureServer") > -1) {
		// Everything is in the address: whatever the entries say.
		const parts = node.url.split("/");
		const number = parts.pop();
		return [{ ...layer, type: "esriFeature", metadata: parts.join("/"), layers: [number] }];
	}
	switch (node.layerType) {
		case "esriDynamic":
		case "esriFeature":
			return [{ ...layer, layers: node.layerEntries.map(({ index }: { index: number }) => String(index)) }];
		case "ogcWms":
		case "ogcWmts":
			return [{ ...layer, layers: node.layerEntries.map(({ id }: { id: string }) => String(id)) }];
		case "esriImage":
			return [{ ...layer, layers: [] }];
		default:
			// It warns, and goes on.
			return [];
	}
}
