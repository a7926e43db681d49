import type { Description } from "./description.ts";

/** ArcGIS's geometry type → rank: polygons below, points on top. */
const ranks: ReadonlyMap<string, number> = new Map([
	["esriGeometryPolygon", 0],
	["esriGeometryPoint", 2],
]);

/** The rank of lines and of layers of unknown geometry. */
export const middleRank = 1;

/** A layer's rank in drawing order, lowest first, as in the lists of the older service. */
export function drawingRank(description: Description | null): number {
	const english = description?.en;
	const geometry = english && "geometry_type" in english ? english.geometry_type : "";
	return ranks.get(geometry) ?? middleRank;
}
