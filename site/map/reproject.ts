import { register } from "ol/proj/proj4.js";
import proj4 from "proj4";
import { projectionOf } from "../service/projections.ts";

/** Every service supports it. */
export const commonWkid = 3857;

/** For reprojecting pictures, beside EPSG:3978 and `commonWkid`. */
export function registerProjections(...wkids: number[]): void {
	for (const wkid of [3978, ...wkids]) proj4.defs(`EPSG:${wkid}`, projectionOf(wkid) ?? "");
	register(proj4);
}
