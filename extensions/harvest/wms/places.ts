import { containsExtent, getCenter, getIntersection, isEmpty, scaleFromCenter } from "ol/extent.js";
import { type Bounds, reproject } from "../../../registry/projections.ts";
import { isGeographic, wkidOf } from "../../../site/service/boxes.ts";
import {
	boxOf,
	type Capabilities,
	type CapabilitiesLayer,
	type Scales,
	scalesOf,
} from "../../../site/service/capabilities.ts";
import type { PictureFacts } from "../../../site/service/picture.ts";
import { scaleOfBox, sideAtScale } from "../../../site/service/picture.ts";

/** Where a layer is looked at, in the coordinates of a reference. */
export interface Places {
	boxes: number[][];
	/** Whether the layer has to be drawn there: blank pictures mean that it is empty. */
	isSure: boolean;
}

/** Where a layer is looked at whose service does not say where it lies: Canada. */
const canada: Bounds = [-141, 41, -52, 84];

/** Parts of a layer's box, around its centre, that are requested: many layers are drawn at large scales only. */
const parts = [1, 1 / 10, 1 / 100];

/** Boxes of a layer with scales. */
const maxBoxes = 4;

/** Degrees from which a box is one of the whole earth, as services write that do not know where a layer lies. */
const wholeEarth = 350;

/** Degrees to which the sides of a smaller box are widened: a point has none. */
const minSide = 0.01;

/** Latitude up to which the web's Mercator projection goes. */
const maxLatitude = 85.05;

/**
 * Where a layer is looked at in a reference: within its box, and at the scales at which it is drawn.
 * @param pixels side of the pictures
 * @returns null if no place of it is known in that reference
 */
export function placesIn(
	reference: string,
	capabilities: Capabilities,
	layer: CapabilitiesLayer | null,
	facts: PictureFacts,
	pixels: number,
): Places | null {
	const bounds = layer && boxOf(layer, capabilities);
	const isWide = bounds !== null && bounds[2] - bounds[0] >= wholeEarth;
	const own = projected(reference, bounds ?? canada, facts);
	// The whole earth does not lie in every projection.
	const box = own ?? projected(reference, within(bounds ?? canada), facts);
	if (!box) return null;
	const isSure = bounds !== null && !isWide && own !== null;
	if (facts.fixed.isWhole) return { boxes: [box], isSure };
	const scales = layer ? scalesIn(layer) : [];
	if (scales.length > 0) return { boxes: boxesAtScales(reference, box, scales, pixels), isSure: false };
	return { boxes: parts.map((part) => partOf(box, part)), isSure };
}

/** The part of a box in Canada; Canada if there is none. */
function within(bounds: Bounds): Bounds {
	const common = getIntersection([...bounds], [...canada]);
	return isEmpty(common) ? canada : (common as unknown as Bounds);
}

/** A box in degrees in a reference; in an unknown one, the document's own box. */
function projected(reference: string, bounds: Bounds, { boxes }: PictureFacts): number[] | null {
	const wkid = wkidOf(reference);
	if (wkid === null) return boxes.find((one) => one.reference === reference)?.sides ?? null;
	const [west, south, east, north] = widened(bounds);
	if (isGeographic(reference)) return [west, south, east, north];
	const limit = reference === "EPSG:3857" ? maxLatitude : 90;
	const extent = {
		...{ wkid: 4326, xmin: west, xmax: east },
		...{ ymin: Math.max(south, -limit), ymax: Math.min(north, limit) },
	};
	const { xmin, ymin, xmax, ymax } = reproject(extent, wkid) ?? {};
	return xmin === undefined ? null : ([xmin, ymin, xmax, ymax] as number[]);
}

function widened([west, south, east, north]: Bounds): Bounds {
	const [wider, higher] = [minSide - (east - west), minSide - (north - south)].map(
		(more) => Math.max(more, 0) / 2,
	);
	return [west - (wider ?? 0), south - (higher ?? 0), east + (wider ?? 0), north + (higher ?? 0)];
}

function partOf(box: readonly number[], part: number): number[] {
	const shown = [...box];
	scaleFromCenter(shown, part);
	return shown;
}

/** The scales of a layer: its own or inherited ones, else those of the layers in it. */
function scalesIn(layer: CapabilitiesLayer): readonly Scales[] {
	const own = scalesOf(layer);
	return own ? [own] : layer.innerScales;
}

/** Boxes in which at least one of several scales is drawn: squares around the centre, then larger parts. */
function boxesAtScales(
	reference: string,
	box: readonly number[],
	scales: readonly Scales[],
	pixels: number,
): number[][] {
	const [x = 0, y = 0] = getCenter([...box]);
	const squares = scales
		.map(scaleInside)
		.sort((a, b) => a - b)
		.map((scale) => sideAtScale(reference, pixels, scale) / 2)
		.map((half) => [x - half, y - half, x + half, y + half])
		.map((square) => (containsExtent(square, [...box]) ? [...box] : square));
	const isDrawn = (part: readonly number[]) => {
		const scale = scaleOfBox(reference, part, pixels);
		return scales.some(
			({ smallest, largest }) => scale > largest * 1.1 && (smallest === 0 || scale < smallest * 0.9),
		);
	};
	return [...squares, ...parts.map((part) => partOf(box, part)).filter(isDrawn)].slice(0, maxBoxes);
}

/** A scale at which a layer is drawn, however its server computes scales. */
function scaleInside({ smallest, largest, isHint }: Scales): number {
	const margin = isHint ? 4 : 2;
	if (smallest === 0) return largest * margin;
	return largest === 0 ? smallest / margin : Math.sqrt(smallest * largest);
}
