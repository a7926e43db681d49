import { genericImage } from "../../registry/generic.ts";
import type { TargetName } from "../../registry/targets/facts.ts";

export interface LayerSymbol {
	imageUrl: string;
	label: string;
}

/** In the form of fragments for RAMP 4.0 to 5.5. */
export type Symbology =
	| ({ type: "simple" } & LayerSymbol)
	| {
			type: "uniqueValue";
			field1: string;
			field2?: string;
			field3?: string;
			valueMaps: (LayerSymbol & { value: string | number | null })[];
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

/** xmin, ymin, xmax, ymax in the map's spatial reference. */
export type Box = [number, number, number, number];

/** A text is empty if the fragment does not have it. */
export interface Drawable {
	/** none: a kind that this page cannot draw. dynamic, image, tiles: pictures of an ArcGIS service. */
	kind: "wms" | "features" | "dynamic" | "image" | "tiles" | "none";
	title: string;
	url: string;
	entries: (string | number)[];
	nameField: string;
	aliases: Record<string, string>;
	symbology: Symbology | null;
	/** In the map's spatial reference; null if unknown. */
	extent: Box | null;
	/** Denominators; `minScale` is the larger one; 0 is no limit. */
	minScale: number;
	maxScale: number;
	/** Media type for GetFeatureInfo; empty if viewers do not request information. */
	infoType: string;
	metadataUrl: string;
	catalogueUrl: string;
}

export function drawnScale({ minScale, maxScale }: Drawable, scale: number): number {
	if (minScale !== 0 && scale > minScale) return minScale * 0.99;
	return maxScale !== 0 && scale < maxScale ? maxScale * 1.01 : scale;
}

type Node = Record<string, unknown>;

function parseFragment(target: TargetName, text: string): Drawable | null {
	try {
		const { layers } = JSON.parse(text) as { layers: { wms?: Node[]; feature?: Node[] } & Node[] };
		const [node] = target === "v2" ? layers : [];
		if (node) return fromNode(node, kinds.get(node.layerType) ?? "none");
		const [pictures] = layers.wms ?? [];
		if (pictures) return fromNode(pictures, "wms");
		const [features] = layers.feature ?? [];
		return features ? fromNode(features, "features") : null;
	} catch {
		return null;
	}
}

/**
 * The targets whose fragments say how a layer is drawn, the most detailed first. Those of v1 are as those of
 * v0.9.
 */
export function drawnTargets(targets: readonly TargetName[]): TargetName[] {
	const detailed = targets.find((name) => name === "v0.9") ?? targets.find((name) => name === "v1");
	return [detailed, targets.find((name) => name === "v2")].filter((name) => name !== undefined);
}

/** @param fragments of `drawnTargets` @returns null if no fragment is valid */
export function drawableOf(
	fragments: readonly (readonly [target: TargetName, text: string | null])[],
): Drawable | null {
	const parsed = fragments.flatMap(([target, text]) => parseFragment(target, text ?? "") ?? []);
	const [drawable] = parsed;
	// For pictures, only fragments of v2 have the addresses of a layer's metadata.
	const first = (name: "metadataUrl" | "catalogueUrl") =>
		parsed.find((fragment) => fragment[name])?.[name] ?? "";
	return drawable
		? { ...drawable, metadataUrl: first("metadataUrl"), catalogueUrl: first("catalogueUrl") }
		: null;
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** Accepts `…/MapServer/<n>`; its groups are the service and the layer's number. */
const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})(?=[?#]|$)/i;

/** `layerType` in v2 → kind of drawing. */
const kinds: ReadonlyMap<unknown, Drawable["kind"]> = new Map([
	["ogcWms", "wms"],
	["esriDynamic", "dynamic"],
	["esriFeature", "features"],
	["esriImage", "image"],
	["esriTile", "tiles"],
]);

function fromNode(node: Node, kind: Drawable["kind"]): Drawable {
	const entries = (node.layerEntries ?? [{ id: node.layerName }]) as Node[];
	const { mimeType = node.featureInfoMimeType } = (node.featureInfo ?? {}) as Node;
	const [infoType = ""] = text(mimeType).split(";");
	const { xmin, ymin, xmax, ymax } = (node.layerExtent ?? {}) as Node;
	const box = [number(xmin), number(ymin), number(xmax), number(ymax)] satisfies Box;
	const symbology = (node.symbology ?? null) as Symbology | null;
	const drawable: Drawable = {
		kind,
		title: text(node.displayName ?? node.name),
		url: text(node.url),
		entries: entries.flatMap(({ index, id }) => (index ?? id ?? []) as string | number),
		nameField: text(node.nameField),
		aliases: (node.aliasMap ?? {}) as Record<string, string>,
		symbology,
		extent: box[0] < box[2] && box[1] < box[3] ? box : null,
		minScale: number(node.minScale),
		maxScale: number(node.maxScale),
		infoType,
		metadataUrl: text(node.metadataUrl),
		catalogueUrl: text(node.catalogueUrl),
	};
	// Without harvested symbols, a map service draws the layer with its own.
	const isGeneric = symbology?.type === "simple" && symbology.imageUrl === genericImage;
	const [, url, layer] = mapServerLayer.exec(drawable.url) ?? [];
	if (kind !== "features" || url === undefined || !(symbology === null || isGeneric)) return drawable;
	return { ...drawable, kind: "dynamic", url, entries: [Number(layer)] };
}
