import type { Extent } from "./description.ts";

/** A rectangle as the viewer reads it: numbers in the map's spatial reference. */
type Box = Omit<Extent, "wkid">;

/** Spatial reference of Canada's viewers: Canada Atlas Lambert, EPSG:3978. */
export const defaultMapWkid = 3978;

/** Extent of Canada in EPSG:3978, in metres, as the older service gave it. */
const canadaLambert: Box = { xmin: -2681457, ymin: -883440, xmax: 3549492, ymax: 3482193 };

/** From Middle Island to Cape Columbia, and from the Yukon to Cape Spear. */
const canadaDegrees: Box = { xmin: -141.01, ymin: 41.67, xmax: -52.61, ymax: 83.12 };

/** The same in EPSG:3857, in metres. */
const canadaMercator: Box = { xmin: -15697162, ymin: 5111674, xmax: -5856518, ymax: 17932470 };

/** The extent of Canada, for a layer whose own is not known, by well-known id of the map's spatial reference. */
const canada: ReadonlyMap<number, Box> = new Map([
	[3978, canadaLambert],
	[3979, canadaLambert],
	[4326, canadaDegrees],
	[4269, canadaDegrees],
	[3857, canadaMercator],
	[102100, canadaMercator],
]);

/**
 * Where a layer lies, in the map's spatial reference.
 * @param extent what was harvested; it counts only where it is in that spatial reference
 */
export function layerExtent(extent: Extent | null, mapWkid: number): Box {
	if (extent?.wkid !== mapWkid) return canada.get(mapWkid) ?? canadaLambert;
	const { xmin, ymin, xmax, ymax } = extent;
	return { xmin, ymin, xmax, ymax };
}
