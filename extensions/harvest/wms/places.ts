import { containsExtent, getCenter, getIntersection, getWidth, isEmpty, scaleFromCenter } from "ol/extent.js";
import { isGeographic, wkidOf } from "../../../site/service/boxes.ts";
import {
	boxOf,
	type Capabilities,
	type CapabilitiesLayer,
	type Scales,
} from "../../../site/service/capabilities.ts";
import { areaOf, type Bounds, mapExtent } from "../../../site/service/projections.ts";
import { type PictureFacts, pixelMetres } from "../../../site/service/requests.ts";
import { scalesOf } from "./describe-layers.ts";

/** Pixels of a picture. */
export const pictureSide = 64;

/** Layers of an unknown place are sought here. */
const canada: Bounds = [-141, 41, -52, 84];

/** Many layers are drawn at large scales only. */
const parts = [1, 1 / 10, 1 / 100];

const maxBoxes = 4;

/** Some services write such a box when they do not know where a layer is. */
const wholeEarthDegrees = 350;

/** A point has no sides. */
const minSideDegrees = 0.01;

/** At the equator, by which servers compute the scale of a picture in degrees (06-042, section 7.2.4.6.9). */
const metresPerDegree = 111_319.49;

/** The web's Mercator projection. */
const maxLatitude = 85.05;

/**
 * @returns boxes in the reference, and whether the layer has to be drawn in them; null if the reference has no place of it
 */
export function placesIn(
	reference: string,
	capabilities: Capabilities,
	layer: CapabilitiesLayer | null,
	facts: PictureFacts,
): { boxes: number[][]; isSure: boolean } | null {
	const bounds = layer && boxOf(layer, capabilities);
	const isWide = bounds !== null && bounds[2] - bounds[0] >= wholeEarthDegrees;
	const exact = project(reference, bounds ?? canada, facts);
	// Not every projection has the whole earth.
	const box = exact ?? project(reference, clipToCanada(bounds ?? canada), facts);
	if (!box) return null;
	const isSure = bounds !== null && !isWide && exact !== null;
	if (facts.fixed.isWhole) return { boxes: [box], isSure };
	const ofLayer = layer && scalesOf(layer);
	const scales = ofLayer ? [ofLayer] : (layer?.innerScales ?? []);
	if (scales.length > 0) return { boxes: boxesAtScales(reference, box, scales), isSure: false };
	return { boxes: partsOf(box), isSure };
}

/** Canada if nothing of the box is in it. */
function clipToCanada(bounds: Bounds): Bounds {
	const common = getIntersection([...bounds], [...canada]);
	return isEmpty(common) ? canada : (common as unknown as Bounds);
}

/** Takes the document's own box in an unknown reference. */
function project(reference: string, bounds: Bounds, { boxes }: PictureFacts): number[] | null {
	const wkid = wkidOf(reference);
	if (wkid === null) return boxes.find((box) => box.reference === reference)?.sides ?? null;
	const [west, south, east, north] = widen(bounds);
	if (isGeographic(reference)) return [west, south, east, north];
	const limit = reference === "EPSG:3857" ? maxLatitude : 90;
	const [ymin, ymax] = [Math.max(south, -limit), Math.min(north, limit)];
	const extent = { wkid: 4326, xmin: west, ymin, xmax: east, ymax };
	const shown = mapExtent(areaOf(extent), wkid);
	return shown && [shown.xmin, shown.ymin, shown.xmax, shown.ymax];
}

function widen([west, south, east, north]: Bounds): Bounds {
	const wider = Math.max(minSideDegrees - (east - west), 0) / 2;
	const higher = Math.max(minSideDegrees - (north - south), 0) / 2;
	return [west - wider, south - higher, east + wider, north + higher];
}

function partsOf(box: readonly number[]) {
	return parts.map((part) => {
		const shown = [...box];
		scaleFromCenter(shown, part);
		return shown;
	});
}

/** Squares around the centre, then larger parts. */
function boxesAtScales(reference: string, box: number[], scales: readonly Scales[]) {
	const [x = 0, y = 0] = getCenter(box);
	// At a scale of 1, in the unit of the reference.
	const side = (pictureSide * pixelMetres) / (isGeographic(reference) ? metresPerDegree : 1);
	const denominators = scales.map(scaleInside).sort((a, b) => a - b);
	const squares = denominators.map((denominator) => {
		const half = (denominator * side) / 2;
		const square = [x - half, y - half, x + half, y + half];
		return containsExtent(square, box) ? box : square;
	});
	const larger = partsOf(box).filter((part) => {
		const scale = getWidth(part) / side;
		return scales.some(
			({ smallest, largest }) => scale > largest * 1.1 && (smallest === 0 || scale < smallest * 0.9),
		);
	});
	return [...squares, ...larger].slice(0, maxBoxes);
}

/** Keeps a margin, since servers compute scales in several ways. */
function scaleInside({ smallest, largest, isHint }: Scales) {
	const margin = isHint ? 4 : 2;
	if (smallest === 0) return largest * margin;
	return largest === 0 ? smallest / margin : Math.sqrt(smallest * largest);
}
