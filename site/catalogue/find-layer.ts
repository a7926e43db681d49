import { type Entry, numberedText } from "../../registry/index/entry.ts";
import { layers } from "../../registry/index/kinds.ts";
import type { Pieces } from "./pieces.ts";

/** Everything that the index says of a layer; null where it is not there. @throws {IndexUnusable} */
export async function findLayer(pieces: Pieces, smallkey: string): Promise<Entry | null> {
	const path = (await pieces.shape(layers)).find(numberedText(smallkey));
	if (path === null) return null;
	const things = await pieces.things(layers, path);
	return things.find((entry) => entry.smallkey === smallkey) ?? null;
}
