import { register } from "ol/proj/proj4.js";
import proj4 from "proj4";

/** EPSG:3978, NAD83 / Canada Atlas Lambert (EPSG registry). */
export const canadaAtlas =
	"+proj=lcc +lat_0=49 +lon_0=-95 +lat_1=49 +lat_2=77 +x_0=0 +y_0=0 +ellps=GRS80 +towgs84=0,0,0,0,0,0,0 +units=m +no_defs";

/** The reference that a service is asked in where it does not know the map's: every service knows it. */
export const commonWkid = 3857;

/** Registers what the map needs to reproject pictures into EPSG:3978. */
export function learnProjections(): void {
	proj4.defs("EPSG:3978", canadaAtlas);
	register(proj4);
}
