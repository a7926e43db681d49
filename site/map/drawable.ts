import type { Extent } from "../../registry/extents.ts";
import { genericImage } from "../../registry/icons.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import type { Symbology } from "../../registry/targets/ramp.ts";

/** xmin, ymin, xmax, ymax in the map's spatial reference. */
export type Box = [number, number, number, number];

export function boxOf({ xmin, ymin, xmax, ymax }: Omit<Extent, "wkid">): Box {
	return [xmin, ymin, xmax, ymax];
}

/** `none` cannot be drawn. `dynamic`, `image`: pictures of an ArcGIS service. */
type Kind = "wms" | "features" | "dynamic" | "image" | "none";

/** An absent text is empty. Scales are denominators: `minScale` is the larger one, 0 is no limit. */
export type Drawable = ReturnType<typeof fromNode>;

export function drawnScale({ minScale, maxScale }: Drawable, scale: number): number {
	if (minScale !== 0 && scale > minScale) return minScale * 0.99;
	return maxScale !== 0 && scale < maxScale ? maxScale * 1.01 : scale;
}

/** A layer in a fragment of v0.9, v1 or v2. */
interface LayerNode {
	layerType?: string;
	displayName?: string;
	name?: string;
	url?: string;
	layerName?: string;
	layerEntries?: { index?: number; id?: string }[];
	symbology?: Symbology | null;
	layerExtent?: Omit<Extent, "wkid">;
	minScale?: number;
	maxScale?: number;
	metadataUrl?: string;
	catalogueUrl?: string;
}

/** `…/MapServer/<n>`. Groups: the service and the number. */
const mapServerLayer = /^([^?#]*\/MapServer)\/(\d{1,9})(?=[?#]|$)/i;

/** `layerType` in v2 → kind of drawing. */
const kinds: ReadonlyMap<unknown, Kind> = new Map([
	["ogcWms", "wms"],
	["esriDynamic", "dynamic"],
	["esriFeature", "features"],
	["esriImage", "image"],
]);

type Layers = LayerNode[] | { wms?: LayerNode[]; feature?: LayerNode[] };

function parseFragment(text: string | null): Drawable | null {
	try {
		const { layers } = JSON.parse(text ?? "") as { layers: Layers };
		if (Array.isArray(layers)) {
			const [node] = layers;
			return node ? fromNode(node, kinds.get(node.layerType) ?? "none") : null;
		}
		const [picture] = layers.wms ?? [];
		if (picture) return fromNode(picture, "wms");
		const [features] = layers.feature ?? [];
		return features ? fromNode(features, "features") : null;
	} catch {
		// Another shape.
		return null;
	}
}

/** The most detailed first. v1 is as v0.9. */
export function drawnTargets(targets: readonly TargetName[]): TargetName[] {
	const detailed = targets.includes("v0.9") ? "v0.9" : "v1";
	return [detailed, "v2"].filter((name) => targets.includes(name));
}

/** @param fragments of `drawnTargets` @returns null if no fragment is valid */
export function drawableOf(fragments: readonly (string | null)[]): Drawable | null {
	const parsed = fragments.flatMap((text) => parseFragment(text) ?? []);
	// For pictures, only fragments of v2 have the addresses of a layer's metadata.
	const first = (name: "metadataUrl" | "catalogueUrl") =>
		parsed.find((fragment) => fragment[name])?.[name] ?? "";
	const [drawable = null] = parsed;
	return drawable && { ...drawable, metadataUrl: first("metadataUrl"), catalogueUrl: first("catalogueUrl") };
}

function fromNode(node: LayerNode, kind: Kind) {
	const { url = "", symbology = null, minScale = 0, maxScale = 0 } = node;
	const { metadataUrl = "", catalogueUrl = "" } = node;
	const layerEntries: LayerNode["layerEntries"] = node.layerEntries ?? [{ id: node.layerName }];
	const box = boxOf(node.layerExtent ?? { xmin: 0, ymin: 0, xmax: 0, ymax: 0 });
	// Without harvested symbols, a map service draws the layer with its own.
	const isGeneric = symbology?.type === "simple" && symbology.imageUrl === genericImage;
	const isUnharvested = kind === "features" && (symbology === null || isGeneric);
	const [match, service = "", layer] = (isUnharvested && mapServerLayer.exec(url)) || [];
	const entries = layerEntries.flatMap<string | number>(({ index, id }) => index ?? id ?? []);
	return {
		kind: match ? "dynamic" : kind,
		title: node.displayName ?? node.name ?? "",
		url: match ? service : url,
		entries: match ? [Number(layer)] : entries,
		symbology,
		extent: box[0] < box[2] && box[1] < box[3] ? box : null,
		minScale,
		maxScale,
		metadataUrl,
		catalogueUrl,
	};
}
