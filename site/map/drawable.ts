import { genericImage } from "../../registry/symbology.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import type { Symbology } from "./symbols.ts";

/** A rectangle in the map's spatial reference: xmin, ymin, xmax, ymax. */
export type Box = [number, number, number, number];

/** A layer in one language as a fragment says that it is drawn; empty texts where it says nothing. */
export interface Drawable {
	/**
	 * wms: pictures of a Web Map Service. features: features with symbols. dynamic, image, tiles: pictures that an
	 * ArcGIS service draws. none: no kind that is drawn here.
	 */
	kind: "wms" | "features" | "dynamic" | "image" | "tiles" | "none";
	title: string;
	/** Address of the service; for features that of the layer in it. */
	url: string;
	/** Names or numbers of layers inside the service. */
	entries: (string | number)[];
	nameField: string;
	/** Field → the name that people read. */
	aliases: Record<string, string>;
	symbology: Symbology | null;
	/** In the map's reference; null where it is not known. */
	extent: Box | null;
	/** Scale denominators between which it is drawn; 0 is no bound. */
	minScale: number;
	maxScale: number;
	/** Media type asked of GetFeatureInfo; empty: viewers ask nothing. */
	infoType: string;
	metadataUrl: string;
	catalogueUrl: string;
}

type Node = Record<string, unknown>;

/** Reads a fragment; null where it is none of this target. Nothing in it is trusted. */
export function parseFragment(target: TargetName, text: string): Drawable | null {
	try {
		const { layers } = JSON.parse(text) as { layers: { wms?: Node[]; feature?: Node[] } & Node[] };
		if (target === "v2") return layers[0] ? fromNode(layers[0]) : null;
		if (layers.wms?.[0]) return fromWms(layers.wms[0]);
		return layers.feature?.[0] ? fromFeature(layers.feature[0]) : null;
	} catch {
		return null;
	}
}

/** Adds where a layer is described: of pictures only the fragments of v2 say it. */
export function withMetadata(drawable: Drawable, v2: Drawable | null): Drawable {
	return {
		...drawable,
		metadataUrl: drawable.metadataUrl || (v2?.metadataUrl ?? ""),
		catalogueUrl: drawable.catalogueUrl || (v2?.catalogueUrl ?? ""),
	};
}

/** The address at which a Web Map Service says what it offers. */
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

/** `…/MapServer/<n>`: the service, and the layer's number. */
const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})(?=[?#]|$)/i;

/** A layer of a map service as the service itself draws it; null where it is of another service. */
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
	// Its symbols are not known yet: a map service draws it with its own.
	const isGeneric = symbology.type === "simple" && symbology.imageUrl === genericImage;
	return (isGeneric && drawnByService(drawable)) || drawable;
}

/** What a node's `layerType` is drawn as. */
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
