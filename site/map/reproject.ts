import { register } from "ol/proj/proj4.js";
import proj4 from "proj4";
import { projectionOf } from "../../registry/projections.ts";

/** Spatial reference for services that do not support the map's: every service supports this one. */
export const commonWkid = 3857;

/** Registers the projections for reprojecting pictures from EPSG:3978 or `commonWkid`. @param wkid of the map */
export function registerProjections(wkid: number): void {
	for (const one of [3978, wkid]) proj4.defs(`EPSG:${one}`, projectionOf(one) ?? "");
	register(proj4);
}
