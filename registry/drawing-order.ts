import type { Description } from "./description.ts";

/** The rank of lines and of layers of unknown geometry. */
export const middleRank = 1;

/** A layer's rank in drawing order, as in the lists of the older service: polygons first (below), points last (on top). */
export function drawingRank(description: Description | null): number {
	const english = description?.en;
	const geometry = english && "geometry_type" in english ? english.geometry_type : "";
	if (geometry === "esriGeometryPolygon") return 0;
	return geometry === "esriGeometryPoint" ? 2 : middleRank;
}
