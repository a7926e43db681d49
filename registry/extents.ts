import type { FromSchema } from "json-schema-to-ts";
import type { description } from "./schemas/description.ts";

export interface Extent extends FromSchema<(typeof description)["definitions"]["extent"]> {}

type Box = Omit<Extent, "wkid">;

function box(xmin: number, ymin: number, xmax: number, ymax: number): Box {
	return { xmin, ymin, xmax, ymax };
}

/** Canada Atlas Lambert: Canada's viewers use it. */
export const defaultMapWkid = 3978;

/** In metres, as in the older service's fragments. */
const canadaAtlas = box(-2681457, -883440, 3549492, 3482193);

/** From the Yukon to Cape Spear, and from Middle Island to Cape Columbia. */
const degrees = box(-141.01, 41.67, -52.61, 83.12);

/** In metres: PROJ 9.1.1 projects the edge of `degrees`, rounded outwards. */
const webMercator = box(-15697162, 5111674, -5856518, 17932470);
const statisticsCanada = box(2373380, 601004, 9372748, 5439876);

/** Extents of Canada by well-known id. */
const canadaExtents: ReadonlyMap<number, Box> = new Map([
	[3978, canadaAtlas],
	[3979, canadaAtlas],
	[4326, degrees],
	[4269, degrees],
	[3857, webMercator],
	[102100, webMercator],
	[3347, statisticsCanada],
	[3348, statisticsCanada],
	[102001, box(-3559410, 180480, 3450047, 4957019)],
	[102002, box(-3574870, 192242, 3465848, 5086562)],
	[3005, box(-261544, -365390, 6159772, 4765254)],
	[3161, box(-3342542, 11672100, 3558887, 16989096)],
	[32198, box(-5114246, -260872, 1327312, 5127156)],
]);

export const mapWkids: readonly number[] = [...canadaExtents.keys()].sort((a, b) => a - b);

/** Without a harvested extent in the map's spatial reference: the extent of Canada. */
export function layerExtent(extent: Extent | null, mapWkid: number): Box {
	if (extent?.wkid !== mapWkid) return canadaExtents.get(mapWkid) ?? canadaAtlas;
	return box(extent.xmin, extent.ymin, extent.xmax, extent.ymax);
}
