import { type Hash, hashOf } from "../api/etag.ts";
import type { Fragment } from "../api/read.ts";
import { drawingRank } from "../registry/drawing-order.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { langs } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { renderLayer, targetNames } from "../registry/targets/table.ts";

/** The fragments of one layer, one after the other in the order of the slots. */
export interface Entry {
	bytes: Uint8Array;
	/** Where the fragment of each slot ends in the bytes; an empty one cannot be read. */
	ends: readonly number[];
	/** Where the layer is drawn among others. */
	rank: number;
	/** The hash of each fragment; empty until it is asked for. */
	hashes: Hash[];
}

/** An entry without its bytes, as other processes and files have it. */
export type Row = readonly [smallkey: string, ends: readonly number[], rank: number];

/** Makes an entry. @param rank where the layer is drawn among others */
export function entryOf(fragments: readonly (Uint8Array | null)[], rank: number): Entry {
	let end = 0;
	const ends = fragments.map((fragment) => {
		end += fragment?.length ?? 0;
		return end;
	});
	const bytes = new Uint8Array(end);
	for (const [slot, fragment] of fragments.entries()) {
		if (fragment) bytes.set(fragment, ends[slot - 1] ?? 0);
	}
	return { bytes, ends, rank, hashes: [] };
}

/** Renders a layer: its fragments in the order of the slots, as UTF-8 JSON, where it can be expressed so. */
export function renderEntry(layer: CheckedLayer, settings: FragmentSettings): Entry {
	const { smallkey, registration, description } = layer;
	const { targets = targetNames } = settings;
	const [english = [], french = []] = langs.map((lang) =>
		renderLayer(targets, lang, smallkey, registration, description, settings),
	);
	const texts = targets.flatMap((_, index) => [english[index], french[index]]);
	const fragments = texts.map((text) => (text == null ? null : Buffer.from(text)));
	return entryOf(fragments, drawingRank(description));
}

/**
 * The entries whose bytes are one after the other.
 * @param isCopied whether each gets bytes of its own; otherwise they keep all of these in memory
 */
export function* entriesIn(
	bytes: Uint8Array,
	rows: Iterable<Row>,
	isCopied: boolean,
): Generator<[string, Entry]> {
	let start = bytes.byteOffset;
	for (const [smallkey, ends, rank] of rows) {
		const length = ends.at(-1) ?? 0;
		const own = new Uint8Array(bytes.buffer, start, length);
		start += length;
		yield [smallkey, { bytes: isCopied ? own.slice() : own, ends, rank, hashes: [] }];
	}
}

/** The fragment of one slot as UTF-8 JSON; null where the layer has none there. */
export function bodyOf({ bytes, ends }: Entry, slot: number): Uint8Array | null {
	const start = ends[slot - 1] ?? 0;
	const end = ends[slot] ?? 0;
	return end > start ? bytes.subarray(start, end) : null;
}

/** The fragment of one slot with its tag; null where the layer has none there. */
export function fragmentOf(entry: Entry, slot: number): Fragment | null {
	const body = bodyOf(entry, slot);
	if (!body) return null;
	entry.hashes[slot] ??= hashOf(body);
	return { body, etag: entry.hashes[slot], rank: entry.rank };
}

export function isSame(before: Entry | undefined, after: Entry | null): boolean {
	if (!before || !after) return !before && !after;
	if (before.rank !== after.rank) return false;
	const isCutAlike = before.ends.every((end, slot) => end === after.ends[slot]);
	return isCutAlike && Buffer.compare(before.bytes, after.bytes) === 0;
}
