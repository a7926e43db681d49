import { register } from "ol/proj/proj4.js";
import proj4 from "proj4";
import { projectionOf } from "../../registry/projections.ts";

/** The reference that a service is asked in where it does not know the map's: every service knows it. */
export const commonWkid = 3857;

/** Registers what a map needs to reproject pictures of EPSG:3978 or of `commonWkid`. @param wkid of the map */
export function learnProjections(wkid: number): void {
	for (const one of [3978, wkid]) proj4.defs(`EPSG:${one}`, projectionOf(one) ?? "");
	register(proj4);
}
