import { type Entry, numberedText } from "../../registry/index/entry.ts";
import { entryFrom, layers, names } from "../../registry/index/kinds.ts";
import type { SetKind } from "../../registry/index/set.ts";
import type { Pieces } from "./pieces.ts";

/** Everything that the index says of a layer; null where it is not there. @throws {IndexUnusable} */
export async function findLayer(pieces: Pieces, smallkey: string): Promise<Entry | null> {
	const [name, details] = await Promise.all([find(pieces, names, smallkey), find(pieces, layers, smallkey)]);
	return name && details && entryFrom(name, details);
}

async function find<T extends { smallkey: string }>(
	pieces: Pieces,
	kind: SetKind<T>,
	smallkey: string,
): Promise<T | null> {
	const path = (await pieces.shape(kind)).find(numberedText(smallkey));
	if (path === null) return null;
	const things = await pieces.things(kind, path);
	return things.find((thing) => thing.smallkey === smallkey) ?? null;
}
