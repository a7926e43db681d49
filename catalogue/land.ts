import { createRequire } from "node:module";
import type { MultiPolygon, Polygon, Position } from "geojson";
import proj4 from "proj4";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { projectionOf } from "../registry/projections.ts";
import { landExtent } from "../site/map/box.ts";

/** What can be projected without a seam: 120 degrees on both sides of the middle meridian, north of 12 degrees. */
const window = { west: -215, east: 25, south: 12, north: 89.9 };

/** Metres of one unit of the picture; points nearer than that to each other are one. */
const unitMetres = 3_000;

/** Degrees between lines of longitude and latitude, and between the points of one. */
const gridDegrees = 10;
const gridStep = 2;

/** Colours of the picture on a light and on a dark page. */
const colours = {
	light: { sea: "#dfe9ef", land: "#f7f6f1", shore: "#9aa7b0", grid: "#c3d2dc" },
	dark: { sea: "#1a262f", land: "#2b333a", shore: "#66727c", grid: "#2a3a46" },
};

const project = proj4(projectionOf(3978) ?? "");

/**
 * The outline of the land around Canada with lines of longitude and latitude, as SVG over `landExtent`. From Natural
 * Earth's 1:50 million land (public domain), as the package world-atlas has it.
 */
export function landSvgs(): { light: string; dark: string } {
	const require = createRequire(import.meta.url);
	const atlas = require("world-atlas/land-50m.json") as Topology<{ land: GeometryCollection }>;
	const land = feature(atlas, atlas.objects.land);
	const shapes = land.features.map(({ geometry }) => geometry as Polygon | MultiPolygon);
	const rings = shapes.flatMap((shape) =>
		shape.type === "Polygon" ? shape.coordinates : shape.coordinates.flat(),
	);
	const outline = rings
		.flatMap((ring) => [ring, ring.map(([x = 0, y = 0]) => [x - 360, y])])
		.map(ringPath)
		.join("");
	const svg = (name: keyof typeof colours) => svgOf(outline, gridPath(), colours[name]);
	return { light: svg("light"), dark: svg("dark") };
}

function svgOf(
	outline: string,
	grid: string,
	{ sea, land, shore, grid: lines }: (typeof colours)["light"],
): string {
	const [xmin, ymin, xmax, ymax] = landExtent;
	const [width, height] = [(xmax - xmin) / unitMetres, (ymax - ymin) / unitMetres];
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><path fill="${sea}" d="M0 0H${width}V${height}H0z"/><path fill="${land}" stroke="${shore}" stroke-width="1.2" stroke-linejoin="round" fill-rule="evenodd" d="${outline}"/><path fill="none" stroke="${lines}" stroke-width="1" d="${grid}"/></svg>
`;
}

/** A ring as the part of a path; empty where nothing of it is in the window or in the picture. */
function ringPath(ring: Position[]): string {
	const inside = clip(
		clip(clip(clip(ring, 0, window.west, 1), 0, window.east, -1), 1, window.south, 1),
		1,
		window.north,
		-1,
	);
	const points = thin(inside.map(toUnits));
	const [xmin, ymin, xmax, ymax] = landExtent;
	const isSeen = points.some(
		([x = 0, y = 0]) => x > 0 && y > 0 && x < (xmax - xmin) / unitMetres && y < (ymax - ymin) / unitMetres,
	);
	return points.length < 3 || !isSeen ? "" : `${linePath(points)}z`;
}

/** The part of a ring on one side of a line of longitude (axis 0) or latitude (axis 1): Sutherland and Hodgman. */
function clip(ring: Position[], axis: 0 | 1, bound: number, side: 1 | -1): Position[] {
	const isIn = (point: Position) => ((point[axis] as number) - bound) * side >= 0;
	return ring.flatMap((point, index) => {
		const before = ring.at(index - 1) as Position;
		if (isIn(point) === isIn(before)) return isIn(point) ? [point] : [];
		const share = (bound - (before[axis] as number)) / ((point[axis] as number) - (before[axis] as number));
		const cut = before.map((value, at) => value + share * ((point[at] as number) - value));
		return isIn(point) ? [cut, point] : [cut];
	});
}

function toUnits([longitude = 0, latitude = 0]: Position): Position {
	const [x = 0, y = 0] = project.forward([longitude, latitude]);
	return [Math.round((x - landExtent[0]) / unitMetres), Math.round((landExtent[3] - y) / unitMetres)];
}

/** Points without those that fall onto the one before. */
function thin(points: Position[]): Position[] {
	return points.filter((point, index) => index === 0 || point.join() !== points[index - 1]?.join());
}

/** Steps from point to point are shorter than the points themselves. */
function linePath(points: Position[]): string {
	const [first, ...rest] = points as [Position, ...Position[]];
	let [x, y] = first as [number, number];
	const steps = rest.map(([toX = 0, toY = 0]) => {
		const step = `${toX - x} ${toY - y}`;
		[x, y] = [toX, toY];
		return step;
	});
	return `M${first.join(" ")}l${steps.join(" ").replaceAll(" -", "-")}`;
}

function gridPath(): string {
	const lines: Position[][] = [];
	for (let longitude = -200; longitude <= 20; longitude += gridDegrees) {
		const line: Position[] = [];
		for (let latitude = 20; latitude <= 80; latitude += gridStep) line.push([longitude, latitude]);
		lines.push(line);
	}
	for (let latitude = 20; latitude <= 80; latitude += gridDegrees) {
		const line: Position[] = [];
		for (let longitude = window.west; longitude <= window.east; longitude += gridStep)
			line.push([longitude, latitude]);
		lines.push(line);
	}
	return lines.map((line) => linePath(thin(line.map(toUnits)))).join("");
}
