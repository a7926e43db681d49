// biome-ignore lint/suspicious/noExplicitAny: viewers read members without checking them
type Json = any;

// It has no ogcWmts: such a node ends its list, and every layer after it is lost (3.3.8).
const layerTypes = new Set(["ogcWms", "esriFeature", "esriDynamic", "esriTile", "esriImage"]);
const legendTypes = new Set(["image/png", "image/gif", "image/jpeg", "image/svg", "image/svg+xml"]);
const featureInfoTypes = new Set(["text/html;fgpv=summary", "text/html", "text/plain", "application/json"]);

/** Reads an answer of `/v2/docs/` as FGPV 3.3.8 does. @throws {Error} where FGPV fails */
export function readAsFgpv(elements: Json[]): Json[] {
	return elements.filter((element) => element).map((element) => readNode(element.layers[0]));
}

function readNode(node: Json) {
	const [prefix, key, lang] = node.id.split(".");
	if (prefix !== "rcs" || !key || !lang) throw new Error(`FGPV cannot split the id ${node.id}`);
	if (!layerTypes.has(node.layerType)) throw new Error(`FGPV knows no layers of type ${node.layerType}`);
	// Its schema refuses it.
	if (node.layerType === "esriFeature" && "layerEntries" in node)
		throw new Error("FGPV takes no layerEntries of an esriFeature");
	if (node.layerEntries?.length === 0) throw new Error("FGPV draws nothing without entries");
	if (node.layerType === "ogcWms") {
		// It requests these names, and looks the types up in tables.
		node.layerEntries.map((entry: { id: string }) => entry.id.length);
		assertOneOf("legendMimeType", node.legendMimeType, legendTypes);
		assertOneOf("featureInfoMimeType", node.featureInfoMimeType, featureInfoTypes);
	}
	if (node.layerType === "esriDynamic") {
		const numbers = node.layerEntries.map((entry: { index: number }) => entry.index);
		if (!numbers.every(Number.isInteger)) throw new Error(`FGPV needs numbers: ${node.layerEntries}`);
		if (/MapServer\/\d+/.test(node.url)) throw new Error("FGPV appends the numbers to the service's address");
	}
	return node;
}

function assertOneOf(name: string, value: unknown, values: ReadonlySet<unknown>) {
	if (value !== undefined && !values.has(value)) throw new Error(`FGPV fails on a ${name} of ${value}`);
}
