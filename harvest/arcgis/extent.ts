import proj4 from "proj4";
import type { Extent } from "../../registry/description.ts";
import { numberOf, objectOf } from "../answer.ts";
import { isGeographic, projectionOf } from "./projections.ts";

type Point = [number, number];

/** Points on each side of a rectangle that are projected: its sides become curves, and bulge beyond its corners. */
const steps = 100;

/** No extent of a layer reaches farther than once around the earth, in metres. */
const farthest = 40_100_000;

/**
 * A service's extent in the map's spatial reference, its numbers rounded outwards: to metres, or to a millionth of a
 * degree.
 * @param given an ArcGIS extent, whatever it holds
 * @param mapWkid well-known id of the map's spatial reference
 * @returns null where the numbers, or one of the two spatial references, are unusable
 */
export function projectExtent(given: unknown, mapWkid: number): Extent | null {
	const extent = objectOf(given);
	const sides = ["xmin", "ymin", "xmax", "ymax"].map((name) => numberOf(extent[name]));
	const [xmin, ymin, xmax, ymax] = sides;
	if (xmin == null || ymin == null || xmax == null || ymax == null) return null;
	if (xmin > xmax || ymin > ymax) return null;
	const from = knownWkid(extent.spatialReference);
	const source = projectionOf(from);
	const target = projectionOf(mapWkid);
	if (!source || !target) return null;
	const edge = edgeOf(xmin, ymin, xmax, ymax);
	const points = source === target ? edge : projectAll(edge, source, target);
	return points && boundsOf(points, mapWkid);
}

/** `latestWkid` is the EPSG registry's id where `wkid` is Esri's older one; 0 where neither is known. */
function knownWkid(spatialReference: unknown): number {
	const { latestWkid, wkid } = objectOf(spatialReference);
	const ids = [latestWkid, wkid].map((id) => numberOf(id) ?? 0);
	return ids.find((id) => projectionOf(id)) ?? 0;
}

function edgeOf(xmin: number, ymin: number, xmax: number, ymax: number): Point[] {
	const points: Point[] = [];
	for (let step = 0; step <= steps; step += 1) {
		const x = xmin + ((xmax - xmin) * step) / steps;
		const y = ymin + ((ymax - ymin) * step) / steps;
		points.push([x, ymin], [x, ymax], [xmin, y], [xmax, y]);
	}
	return points;
}

/** null where proj4 refuses a point, such as a latitude past the pole. */
function projectAll(points: Point[], source: string, target: string): Point[] | null {
	try {
		const { forward } = converterOf(source, target);
		return points.map((point) => forward(point));
	} catch {
		return null;
	}
}

/** From one spatial reference to another. */
interface Converter {
	forward(point: Point): Point;
}

/** The converters that were made, by the two definitions: there are some dozens at most, and each takes a while. */
const converters = new Map<string, Converter>();

function converterOf(source: string, target: string): Converter {
	const name = `${source} ${target}`;
	const converter = converters.get(name) ?? proj4(source, target);
	converters.set(name, converter);
	return converter;
}

/** null where a point lies nowhere on the map, such as the far pole of a conic projection. */
function boundsOf(points: Point[], wkid: number): Extent | null {
	const limit = isGeographic(wkid) ? 360 : farthest;
	const usable = points.every((point) => point.every((number) => Math.abs(number) <= limit));
	if (!usable) return null;
	const unit = isGeographic(wkid) ? 1e6 : 1;
	const xs = points.map(([x]) => x * unit);
	const ys = points.map(([, y]) => y * unit);
	return {
		wkid,
		xmin: Math.floor(Math.min(...xs)) / unit,
		ymin: Math.floor(Math.min(...ys)) / unit,
		xmax: Math.ceil(Math.max(...xs)) / unit,
		ymax: Math.ceil(Math.max(...ys)) / unit,
	};
}
