import type { Description } from "./description.ts";

/** ArcGIS's name of a geometry → the rank of its layers: polygons lie under everything, points on top. */
const ranks: ReadonlyMap<string, number> = new Map([
	["esriGeometryPolygon", 0],
	["esriGeometryPoint", 2],
]);

/** The rank of lines, and of every layer whose geometry is not known. */
export const middleRank = 1;

/** Where a layer is drawn among others: a lower rank first, as the older service sorted its lists. */
export function drawingRank(description: Description | null): number {
	const english = description?.en;
	const geometry = english && "geometry_type" in english ? english.geometry_type : "";
	return ranks.get(geometry) ?? middleRank;
}
