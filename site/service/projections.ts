import { applyTransform, boundingExtent } from "ol/extent.js";
import proj4 from "proj4";
import type { Extent } from "../../registry/extents.ts";

/** Degrees (RFC 7946, section 5). */
export type Bounds = readonly [west: number, south: number, east: number, north: number];

const nad83 = "+ellps=GRS80 +towgs84=0,0,0 +no_defs";
const webMercator =
	"merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +no_defs";

function conic(name: "lcc" | "aea", [lat1, lat2, lat0, lon0]: number[], x = 0, y = 0): string {
	return `${name} +lat_1=${lat1} +lat_2=${lat2} +lat_0=${lat0} +lon_0=${lon0} +x_0=${x} +y_0=${y} +units=m ${nad83}`;
}

function albertaMercator(x: number): string {
	return `tmerc +lat_0=0 +lon_0=-115 +k=0.9992 +y_0=0 +x_0=${x} +units=m ${nad83}`;
}

/** Well-known ids (EPSG registry; Esri's above 100,000) of a projection of proj4. */
const projections: [projection: string, ...wkids: number[]][] = [
	["longlat +datum=WGS84 +no_defs", 4326],
	[`longlat ${nad83}`, 4269, 4617],
	[webMercator, 3857, 102100, 102113, 900913],
	[conic("lcc", [49, 77, 49, -95]), 3978, 3979],
	[conic("lcc", [49, 77, 63.390675, -91.8666666666667], 6200000, 3000000), 3347, 3348],
	[conic("lcc", [44.5, 53.5, 0, -85], 930000, 6430000), 3161, 3162],
	[conic("aea", [50, 58.5, 45, -126], 1000000), 3005, 3153],
	[albertaMercator(500000), 3400],
	[albertaMercator(0), 3401],
	[conic("lcc", [60, 46, 44, -68.5]), 32198],
	[conic("aea", [29.5, 45.5, 23, -96]), 5070],
	[conic("aea", [50, 70, 40, -96]), 102001],
	[conic("lcc", [50, 70, 40, -96]), 102002],
];

const definitions = new Map(
	projections.flatMap(([projection, ...wkids]) =>
		wkids.map((wkid) => [wkid, `+proj=${projection}`] as const),
	),
);

for (let zone = 7; zone <= 22; zone += 1) {
	definitions.set(26900 + zone, `+proj=utm +zone=${zone} +units=m ${nad83}`);
	definitions.set(32600 + zone, `+proj=utm +zone=${zone} +units=m +datum=WGS84 +no_defs`);
}

export function projectionOf(wkid: number): string | null {
	return definitions.get(wkid) ?? null;
}

type Point = [x: number, y: number];

/** On each side of a rectangle: a straight side becomes a curve. */
const steps = 100;

/** Once around the earth. */
const maxMetres = 40_100_000;

/** `definition`: as proj4 reads it, a text of PROJ or WKT; null if it is unknown. */
export interface Area {
	box: Omit<Extent, "wkid">;
	definition: string | null;
}

export function areaOf(extent: Extent): Area {
	return { box: extent, definition: projectionOf(extent.wkid) };
}

/** Rounded outwards, to metres or millionths of a degree. Null if a reference is unknown, or the extent outside of one. */
export function mapExtent({ box, definition }: Area, mapWkid: number): Extent | null {
	const target = projectionOf(mapWkid);
	if (!target || !definition) return null;
	const { xmin, ymin, xmax, ymax } = box;
	const sides = boundingExtent([
		[xmin, ymin],
		[xmax, ymax],
	]);
	if (definition === target) return extentOf(sides, mapWkid);
	try {
		const converter = proj4(definition, target);
		const project = (points: number[]) => {
			for (let at = 0; at < points.length; at += 2)
				points.splice(at, 2, ...converter.forward(points.slice(at, at + 2) as Point));
			return points;
		};
		return extentOf(applyTransform(sides, project, undefined, steps), mapWkid);
	} catch {
		// proj4 refuses a point, such as a latitude past the pole, or a definition.
		return null;
	}
}

export function boundsOf(area: Area): Bounds | null {
	const degrees = mapExtent(area, 4326);
	return degrees && degreesOf(degrees.xmin, degrees.ymin, degrees.xmax, degrees.ymax);
}

/**
 * Rounded outwards to about ten metres, so that small changes do not change the file. Around the earth if it crosses the
 * antimeridian; null if it is no rectangle on the earth.
 */
export function degreesOf(west: number, south: number, east: number, north: number): Bounds | null {
	if (!(west <= east && south <= north && south <= 90 && north >= -90)) return null;
	const unit = 1e4;
	const [low, high] = [Math.max(south, -90), Math.min(north, 90)];
	const isAround = west < -180 || east > 180;
	const [left, right] = isAround ? [-180, 180] : [west, east];
	// A rounding error must not move a round number to the next unit.
	const down = (degrees: number) => Math.floor(degrees * unit + 0.02) / unit;
	const up = (degrees: number) => Math.ceil(degrees * unit - 0.02) / unit;
	return [down(left), down(low), up(right), up(high)];
}

/** Null where a side is not on the map, such as the far pole of a conic projection. */
function extentOf(sides: number[], wkid: number): Extent | null {
	const [limit, unit] = projectionOf(wkid)?.includes("+proj=longlat") ? [360, 1e6] : [maxMetres, 1];
	if (!sides.every((side) => Math.abs(side) <= limit)) return null;
	const [xmin = 0, ymin = 0, xmax = 0, ymax = 0] = sides.map((side, at) =>
		at < 2 ? Math.floor(side * unit) / unit : Math.ceil(side * unit) / unit,
	);
	return { wkid, xmin, ymin, xmax, ymax };
}
