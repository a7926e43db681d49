import { register } from "ol/proj/proj4.js";
import proj4 from "proj4";
import type { Bounds } from "../../registry/entries.ts";
import { projectionOf } from "../../registry/projections.ts";
import type { Box } from "./drawable.ts";

/** Spatial reference for services that do not support the map's: every service supports this one. */
export const commonWkid = 3857;

/** Registers the projections for reprojecting pictures from EPSG:3978 or `commonWkid`. @param wkid of the map */
export function registerProjections(wkid: number): void {
	for (const one of [3978, wkid]) proj4.defs(`EPSG:${one}`, projectionOf(one) ?? "");
	register(proj4);
}

/** Steps along each side of a rectangle: its edges are curves in degrees, so more points than its corners are needed. */
const steps = 16;

/** The bounds in degrees of a rectangle on the map; null if the map's spatial reference is unknown. */
export function boundsOfBox([xmin, ymin, xmax, ymax]: Box, wkid: number): Bounds | null {
	const definition = projectionOf(wkid);
	if (definition === null) return null;
	const { forward, inverse } = proj4("EPSG:4326", definition);
	const shares = Array.from({ length: steps + 1 }, (_, step) => step / steps);
	const points = shares.flatMap((column) =>
		shares.map((row) => inverse([xmin + (xmax - xmin) * column, ymin + (ymax - ymin) * row])),
	);
	const known = points.filter((point) => point.every(Number.isFinite)) as [number, number][];
	if (known.length === 0) return null;
	const latitudes = known.map(([, latitude]) => latitude);
	const longitudes = known.map(([longitude]) => longitude);
	const south = Math.min(...latitudes);
	const [x, y] = forward([0, 90]) as [number, number];
	// A rectangle with the pole inside contains every longitude.
	if (x > xmin && x < xmax && y > ymin && y < ymax) return [-180, south, 180, 90];
	return [Math.min(...longitudes), south, Math.max(...longitudes), Math.max(...latitudes)];
}
