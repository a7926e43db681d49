import { genericImage } from "../../registry/generic.ts";
import type { TargetName } from "../../registry/targets/facts.ts";

export interface LayerSymbol {
	imageUrl: string;
	label: string;
}

interface OtherSymbol {
	defaultImageUrl?: string;
	label?: string;
}

/** In the form of fragments for RAMP 4.0 to 5.5. */
export type Symbology =
	| ({ type: "simple" } & LayerSymbol)
	| ({
			type: "uniqueValue";
			field1: string;
			field2?: string;
			field3?: string;
			valueMaps: (LayerSymbol & { value: string | number | null })[];
	  } & OtherSymbol)
	| ({
			type: "classBreaks";
			field: string;
			minValue: number;
			rangeMaps: (LayerSymbol & { maxValue: number })[];
	  } & OtherSymbol);

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

/** A layer in a fragment of v0.9, v1 or v2. */
interface Node extends Partial<Drawable> {
	layerType?: string;
	displayName?: string;
	name?: string;
	layerName?: string;
	layerEntries?: { index?: number; id?: string }[];
	featureInfo?: { mimeType?: string };
	featureInfoMimeType?: string;
	aliasMap?: Record<string, string>;
	layerExtent?: { xmin: number; ymin: number; xmax: number; ymax: number };
}

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
		// A fragment of another shape.
		return null;
	}
}

/** The targets whose fragments say how a layer is drawn, the most detailed first. Those of v1 are as those of v0.9. */
export function drawnTargets(targets: readonly TargetName[]): TargetName[] {
	const detailed = targets.includes("v0.9") ? "v0.9" : "v1";
	return [detailed, "v2"].filter((name) => targets.includes(name));
}

/** @param fragments of `drawnTargets` @returns null if no fragment is valid */
export function drawableOf(
	fragments: readonly { target: TargetName; text: string | null }[],
): Drawable | null {
	const parsed = fragments.flatMap(({ target, text }) => parseFragment(target, text ?? "") ?? []);
	// For pictures, only fragments of v2 have the addresses of a layer's metadata.
	const first = (name: "metadataUrl" | "catalogueUrl") =>
		parsed.find((fragment) => fragment[name])?.[name] ?? "";
	const [drawable = null] = parsed;
	return drawable && { ...drawable, metadataUrl: first("metadataUrl"), catalogueUrl: first("catalogueUrl") };
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
	const { url = "", symbology = null, nameField = "", minScale = 0, maxScale = 0 } = node;
	const { metadataUrl = "", catalogueUrl = "", aliasMap: aliases = {} } = node;
	const layerEntries: Node["layerEntries"] = node.layerEntries ?? [{ id: node.layerName }];
	const { mimeType = node.featureInfoMimeType ?? "" } = node.featureInfo ?? {};
	const { xmin = 0, ymin = 0, xmax = 0, ymax = 0 } = node.layerExtent ?? {};
	const drawable: Drawable = {
		kind,
		title: node.displayName ?? node.name ?? "",
		url,
		entries: layerEntries.flatMap(({ index, id }) => index ?? id ?? []),
		nameField,
		aliases,
		symbology,
		extent: xmin < xmax && ymin < ymax ? [xmin, ymin, xmax, ymax] : null,
		minScale,
		maxScale,
		infoType: mimeType.replace(/;.*/, ""),
		metadataUrl,
		catalogueUrl,
	};
	// Without harvested symbols, a map service draws the layer with its own.
	const isGeneric = symbology?.type === "simple" && symbology.imageUrl === genericImage;
	const [, service, layer] = mapServerLayer.exec(url) ?? [];
	if (kind !== "features" || service === undefined || !(symbology === null || isGeneric)) return drawable;
	return { ...drawable, kind: "dynamic", url: service, entries: [Number(layer)] };
}
