import { keysOf, type WantedDocs } from "./wanted.ts";

/** ArcGIS's name of a layer's geometry, such as `esriGeometryPoint`; empty where it is not known. */
export type ReadGeometry = (smallkey: string) => Promise<string>;

/** Drawn one over the other: polygons, then lines and the rest, then points. */
const ranks: ReadonlyMap<string, number> = new Map([
	["esriGeometryPolygon", 0],
	["esriGeometryPoint", 2],
]);
const middle = 1;

/** A list in the order in which its layers are drawn, as the older service sorted it: otherwise in the order asked for. */
export async function sortByGeometry(wanted: WantedDocs, geometryOf: ReadGeometry): Promise<WantedDocs> {
	const found = await Promise.all(
		keysOf(wanted).map(async (key) => [key, ranks.get(await geometryOf(key)) ?? middle] as const),
	);
	const rankByKey = new Map(found);
	const rankOf = (item: string) => rankByKey.get(item) ?? middle;
	return { ...wanted, items: wanted.items.toSorted((a, b) => rankOf(a) - rankOf(b)) };
}
