import type { TargetName } from "../../registry/targets/target.ts";
import { genericImage } from "../../registry/targets/v0.9.ts";

/** One symbol of a fragment. */
export interface LayerSymbol {
	imageUrl: string;
	label: string;
}

/** The symbols of a layer, in the form of fragments for RAMP 4.0 to 5.5. */
export type Symbology =
	| ({ type: "simple" } & LayerSymbol)
	| {
			type: "uniqueValue";
			field1: string;
			field2?: string;
			field3?: string;
			valueMaps: (LayerSymbol & { value: string | number })[];
			defaultImageUrl?: string;
			label?: string;
	  }
	| {
			type: "classBreaks";
			field: string;
			minValue: number;
			rangeMaps: (LayerSymbol & { maxValue: number })[];
			defaultImageUrl?: string;
			label?: string;
	  };

/** A rectangle in the map's spatial reference: xmin, ymin, xmax, ymax. */
export type Box = [number, number, number, number];

/** How a layer is drawn in one language, from a fragment; a text is empty if the fragment does not have it. */
export interface Drawable {
	/**
	 * wms: pictures of a Web Map Service. features: features with symbols. dynamic, image, tiles: pictures that an
	 * ArcGIS service draws. none: a kind that this page cannot draw.
	 */
	kind: "wms" | "features" | "dynamic" | "image" | "tiles" | "none";
	title: string;
	/** Address of the service; for features, address of the layer in the service. */
	url: string;
	/** Names or numbers of layers inside the service. */
	entries: (string | number)[];
	nameField: string;
	/** Field → its displayed name. */
	aliases: Record<string, string>;
	symbology: Symbology | null;
	/** In the map's spatial reference; null if unknown. */
	extent: Box | null;
	/** Scale denominators between which the layer is drawn; `minScale` is the larger one; 0 is no limit. */
	minScale: number;
	maxScale: number;
	/** Media type for GetFeatureInfo; empty if viewers do not request information. */
	infoType: string;
	metadataUrl: string;
	catalogueUrl: string;
}

/** The scale nearest to a scale at which viewers draw a layer. Scales are denominators. */
export function drawnScale({ minScale, maxScale }: Drawable, scale: number): number {
	if (minScale !== 0 && scale > minScale) return minScale * 0.99;
	return maxScale !== 0 && scale < maxScale ? maxScale * 1.01 : scale;
}

type Node = Record<string, unknown>;

/** Parses a fragment without trusting it; null if it is not a fragment of this target. */
function parseFragment(target: TargetName, text: string): Drawable | null {
	try {
		const { layers } = JSON.parse(text) as { layers: { wms?: Node[]; feature?: Node[] } & Node[] };
		if (target === "v2") return layers[0] ? fromNode(layers[0]) : null;
		if (layers.wms?.[0]) return fromWms(layers.wms[0]);
		return layers.feature?.[0] ? fromFeature(layers.feature[0]) : null;
	} catch {
		return null;
	}
}

/** The targets whose fragments say how a layer is drawn, the most detailed first. Those of v1 are as those of v0.9. */
export function drawnTargets(targets: readonly TargetName[]): TargetName[] {
	const detailed = targets.find((one) => one === "v0.9") ?? targets.find((one) => one === "v1");
	return [detailed, targets.find((one) => one === "v2")].filter((one) => one !== undefined);
}

/** How a layer is drawn in one language. @param fragments of `drawnTargets` @returns null if no fragment says it */
export function drawableOf(
	fragments: readonly (readonly [target: TargetName, text: string | null])[],
): Drawable | null {
	const parsed = fragments.flatMap(
		([target, text]) => (text === null ? null : parseFragment(target, text)) ?? [],
	);
	const [drawable] = parsed;
	// For pictures, only fragments of v2 have the addresses of a layer's metadata.
	const first = (name: "metadataUrl" | "catalogueUrl") => parsed.find((one) => one[name])?.[name] ?? "";
	return drawable
		? { ...drawable, metadataUrl: first("metadataUrl"), catalogueUrl: first("catalogueUrl") }
		: null;
}

/** The address of a Web Map Service's capabilities. */
export function capabilitiesOf(address: URL): string {
	const asked = new URL(address);
	for (const name of [...asked.searchParams.keys()])
		if (/^(?:service|request|version)$/i.test(name)) asked.searchParams.delete(name);
	asked.searchParams.set("SERVICE", "WMS");
	asked.searchParams.set("REQUEST", "GetCapabilities");
	return asked.href;
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function common(node: Node, name: string): Drawable {
	return {
		kind: "none",
		title: text(node[name]),
		url: text(node.url),
		entries: [],
		nameField: text(node.nameField),
		aliases: {},
		symbology: null,
		extent: null,
		minScale: number(node.minScale),
		maxScale: number(node.maxScale),
		infoType: "",
		metadataUrl: text(node.metadataUrl),
		catalogueUrl: text(node.catalogueUrl),
	};
}

function fromWms(node: Node): Drawable {
	const { mimeType } = (node.featureInfo ?? {}) as { mimeType?: unknown };
	return {
		...common(node, "displayName"),
		kind: "wms",
		entries: [text(node.layerName)],
		infoType: text(mimeType),
	};
}

/** Accepts `…/MapServer/<n>`; its groups are the service and the layer's number. */
const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})(?=[?#]|$)/i;

/** A layer of an ArcGIS map service, drawn by the service itself; null for another kind of service. */
function drawnByService(drawable: Drawable): Drawable | null {
	const [, url, layer] = mapServerLayer.exec(drawable.url) ?? [];
	return url === undefined ? null : { ...drawable, kind: "dynamic", url, entries: [Number(layer)] };
}

function fromFeature(node: Node): Drawable {
	const symbology = node.symbology as Symbology;
	const { xmin, ymin, xmax, ymax } = node.layerExtent as Record<string, number>;
	const box = [number(xmin), number(ymin), number(xmax), number(ymax)] satisfies Box;
	const drawable: Drawable = {
		...common(node, "displayName"),
		kind: "features",
		symbology,
		extent: box[0] < box[2] && box[1] < box[3] ? box : null,
		aliases: (node.aliasMap ?? {}) as Record<string, string>,
	};
	// The symbols are not harvested yet: a map service draws the layer with its own symbols.
	const isGeneric = symbology.type === "simple" && symbology.imageUrl === genericImage;
	return (isGeneric && drawnByService(drawable)) || drawable;
}

/** `layerType` of a node → kind of drawing. */
const kinds: ReadonlyMap<unknown, Drawable["kind"]> = new Map([
	["ogcWms", "wms"],
	["esriDynamic", "dynamic"],
	["esriFeature", "features"],
	["esriImage", "image"],
	["esriTile", "tiles"],
]);

function fromNode(node: Node): Drawable {
	const entries = ((node.layerEntries ?? []) as Node[]).map(
		({ id, index }) => (index ?? id) as string | number,
	);
	const kind = kinds.get(node.layerType) ?? "none";
	const [infoType = ""] = text(node.featureInfoMimeType).split(";");
	const drawable = { ...common(node, "name"), kind, entries, infoType };
	return (kind === "features" && drawnByService(drawable)) || drawable;
}
