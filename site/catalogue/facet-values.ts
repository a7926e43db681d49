import { facets } from "../../registry/index/kinds.ts";
import { orderedPrefix } from "../../registry/index/ordered.ts";
import type { Pieces } from "./pieces.ts";

/** The filters whose values are in the index. */
const filters = ["type", "host", "sender", "health", "title"] as const;

/** Pieces of one filter that are read: nobody chooses from a list of more values. */
const mostPieces = 2;

/** A value of a filter, and how many layers have it. */
export type FacetValue = [value: string, count: number];

/** The values of each filter; of one that has thousands, the first ones. @throws {IndexUnusable} */
export async function facetValues(pieces: Pieces): Promise<Record<(typeof filters)[number], FacetValue[]>> {
	const shape = await pieces.shape(facets);
	const paths = filters.flatMap((name) => shape.under(orderedPrefix(`=${name}:`)).slice(0, mostPieces));
	const values = { type: [], host: [], sender: [], health: [], title: [] } as Record<string, FacetValue[]>;
	for (const path of new Set(paths)) {
		for (const { facet, count } of await pieces.things(facets, path)) {
			const [, name = "", value = ""] = /^=(\w+):(.*)$/s.exec(facet) ?? [];
			values[name]?.push([value, count]);
		}
	}
	return values as Awaited<ReturnType<typeof facetValues>>;
}
