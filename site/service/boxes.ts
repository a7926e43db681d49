import { extend } from "ol/extent.js";
import { areaOf, type Bounds, boundsOf, projectionOf } from "./projections.ts";
import type { XmlElement } from "./xml.ts";

export interface ReferencedBox {
	reference: string;
	sides: Sides;
}

export type Sides = [number, number, number, number];

/** Degrees: services round, or add a margin. */
const maxBeyond = 1;

/** A service that does not know its box writes four sides near to 0. */
const maxNothing = 0.0001;

/** ArcGIS writes 1.79e308 for an unknown side. */
const maxSide = 1e9;

/** Also with a decimal comma; NaN for any other text. */
export function numberIn(text: string | undefined): number {
	const trimmed = (text ?? "").trim().replace(/^([-+]?\d*),(\d+)(?=$|e)/i, "$1.$2");
	return trimmed === "" ? Number.NaN : Number(trimmed);
}

/** Cut at the edges of the earth; around the earth if it crosses the antimeridian. */
function geographicBox([west, south, east, north]: Bounds): Bounds | null {
	const sides = [west, south, east, north];
	if (!sides.every((side) => Math.abs(side) < maxSide)) return null;
	if (sides.every((side) => Math.abs(side) <= maxNothing) || sides.every((side) => side === -1)) return null;
	if (south > north || south <= -90 - maxBeyond || north >= 90 + maxBeyond) return null;
	if (south >= 90 || north <= -90 || Math.abs(west) > 360 || Math.abs(east) > 360) return null;
	const [low, high] = [Math.max(south, -90), Math.min(north, 90)];
	if (west > east) return [-180, low, 180, high];
	const left = west < -180 && west > -180 - maxBeyond ? -180 : west;
	const right = east > 180 && east < 180 + maxBeyond ? 180 : east;
	return left <= right ? [left, low, right, high] : null;
}

/** WMS 1.3.0; WMS 1.1.1 has a `LatLonBoundingBox` (01-068r3, section 7.1.4.5.6). */
const edges = ["westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude"];

/** Null for other elements and invalid boxes. */
export function readGeographicBox(element: XmlElement): Bounds | null {
	const { name } = element;
	if (name === "EX_GeographicBoundingBox")
		return geographicBox(edges.map((edge) => numberIn(textIn(element, edge))) as Sides);
	if (name === "LatLonBoundingBox") return geographicBox(attributesOf(element));
	return name === "WGS84BoundingBox" ? geographicBox(cornersOf(element)) : null;
}

function textIn({ children }: XmlElement, name: string): string | undefined {
	return children.find((child) => child.name === name)?.text;
}

function attributesOf({ attributes: { minx, miny, maxx, maxy } }: XmlElement): Sides {
	return [minx, miny, maxx, maxy].map(numberIn) as Sides;
}

/** Two numbers each, separated by a space (06-121r9, section 10.2). */
function cornersOf(element: XmlElement): Sides {
	const corners = ["LowerCorner", "UpperCorner"].flatMap((name) => {
		const [x, y] = (textIn(element, name) ?? "").trim().split(/\s+/);
		return [x, y].map(numberIn);
	});
	return corners as Sides;
}

export function readReferencedBox(element: XmlElement): ReferencedBox | null {
	if (element.name !== "BoundingBox") return null;
	const { CRS, SRS, crs } = element.attributes;
	const sides = crs === undefined ? attributesOf(element) : cornersOf(element);
	if (!sides.every((side) => Math.abs(side) < maxSide)) return null;
	return { reference: referenceOf(CRS ?? SRS ?? crs ?? ""), sides };
}

/** `EPSG:3978` or `CRS:84`, also from a URN or an address (OGC 07-092r3, 09-048r5). */
export function referenceOf(text: string): string {
	const name = text.trim().toUpperCase();
	const [, authority, code] =
		/(?:DEF[:/]CRS[:/])(EPSG|OGC)[:/][^:/]*[:/](?:[^:/]*[:/])*([^:/]+)$/.exec(name) ?? [];
	if (authority === "EPSG") return `EPSG:${code}`;
	return authority === "OGC" ? `CRS:${code?.replace(/^CRS:?/, "")}` : name;
}

export function wkidOf(reference: string): number | null {
	if (/^CRS:8[34]$/.test(reference)) return 4326;
	const [, id = ""] = /^EPSG:(\d{1,9})$/.exec(reference) ?? [];
	return id !== "" && projectionOf(Number(id)) !== null ? Number(id) : null;
}

export function isGeographic(reference: string): boolean {
	const wkid = wkidOf(reference);
	return wkid !== null && (projectionOf(wkid) ?? "").includes("+proj=longlat");
}

/** Geographic references of the EPSG are, but not in WMS 1.1.1 (06-042, section 6.7.4). */
export function isLatitudeFirst(reference: string, isOlder: boolean): boolean {
	return !isOlder && reference.startsWith("EPSG:") && isGeographic(reference);
}

/** Degrees; null for an unknown reference, or outside the earth. */
export function boundsIn({ reference, sides }: ReferencedBox, isOlder: boolean): Bounds | null {
	const wkid = wkidOf(reference);
	if (wkid === null) return null;
	const [a, b, c, d] = sides;
	if (isGeographic(reference)) {
		const swapped = geographicBox([b, a, d, c]);
		// Some services of version 1.3.0 write longitude first all the same.
		return (isLatitudeFirst(reference, isOlder) ? swapped : null) ?? geographicBox(sides);
	}
	if (sides.every((side) => Math.abs(side) <= maxNothing) || a > c || b > d) return null;
	return boundsOf(areaOf({ wkid, xmin: a, ymin: b, xmax: c, ymax: d }));
}

export function unionOf(box: Bounds | null, other: Bounds | null): Bounds | null {
	return box && other ? (extend([...box], [...other]) as Sides) : (box ?? other);
}
