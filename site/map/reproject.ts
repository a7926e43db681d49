import { register } from "ol/proj/proj4.js";
import proj4 from "proj4";
import { projectionOf } from "../../registry/projections.ts";

/** Spatial reference for services that do not support the map's: every service supports this one. */
export const commonWkid = 3857;

/** Registers the projections for reprojecting pictures, beside EPSG:3978 and `commonWkid`. */
export function registerProjections(...wkids: number[]): void {
	for (const one of [3978, ...wkids]) proj4.defs(`EPSG:${one}`, projectionOf(one) ?? "");
	register(proj4);
}
