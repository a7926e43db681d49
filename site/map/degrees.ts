import proj4 from "proj4";
import type { Bounds } from "../../registry/entries.ts";
import { projectionOf } from "../../registry/projections.ts";
import type { Box } from "./drawable.ts";

/** Steps on each side of a rectangle: its edges are curves in degrees. */
const steps = 16;

/** The part of the earth that a rectangle of the map shows; null where the map's reference is not known here. */
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
	// Around the pole is every longitude.
	if (x > xmin && x < xmax && y > ymin && y < ymax) return [-180, south, 180, 90];
	return [Math.min(...longitudes), south, Math.max(...longitudes), Math.max(...latitudes)];
}
