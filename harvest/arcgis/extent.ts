import type { Extent } from "../../registry/description.ts";
import { projectionOf, reproject } from "../../registry/projections.ts";
import { numberOf, objectOf } from "../answer.ts";

/**
 * Projects a service's extent to the map's spatial reference, and rounds its numbers outwards.
 * @param given an ArcGIS extent, not checked
 * @param mapWkid well-known id of the map's spatial reference
 * @returns null if the numbers, or one of the two spatial references, are unusable
 */
export function projectExtent(given: unknown, mapWkid: number): Extent | null {
	const extent = readExtent(given);
	return extent && reproject(extent, mapWkid);
}

/**
 * Parses an ArcGIS extent, which may be any value.
 * @returns null if the numbers, or the spatial reference, are unusable
 */
export function readExtent(given: unknown): Extent | null {
	const extent = objectOf(given);
	const sides = ["xmin", "ymin", "xmax", "ymax"].map((name) => numberOf(extent[name]));
	const [xmin, ymin, xmax, ymax] = sides;
	if (xmin == null || ymin == null || xmax == null || ymax == null) return null;
	if (xmin > xmax || ymin > ymax) return null;
	const wkid = knownWkid(extent.spatialReference);
	return wkid === 0 ? null : { wkid, xmin, ymin, xmax, ymax };
}

/** The known id of a spatial reference: `latestWkid` is EPSG's id if `wkid` is Esri's older one. 0 if neither is known. */
function knownWkid(spatialReference: unknown): number {
	const { latestWkid, wkid } = objectOf(spatialReference);
	const ids = [latestWkid, wkid].map((id) => numberOf(id) ?? 0);
	return ids.find((id) => projectionOf(id)) ?? 0;
}
