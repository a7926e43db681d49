import { type Fragment, hashOf } from "../api/read.ts";

/** Bytes that hold the fragments of one layer, or of many. */
export interface Run {
	bytes: Uint8Array;
	/** What the bytes are in, and where: to ask them for it each time would leave JavaScript for each fragment. */
	buffer: ArrayBufferLike;
	offset: number;
	/**
	 * A row for each layer: where its first fragment starts, its rank, and `slotNumbers` for each slot. In one array,
	 * as numbers: with 100,000 layers each object of its own is another place in memory to wait for.
	 */
	rows: number[];
	/** How many slots each row has. */
	slots: number;
	/** How many layers that are served have their fragments in it, and how many bytes of it. */
	layers: number;
	used: number;
}

/** Numbers for each slot: where its fragment ends (an empty one cannot be read), and its hash, 0 until it is asked for. */
const slotNumbers = 3;
/** Numbers before those of the slots. */
const headNumbers = 2;

/** What makes an entry, beside the bytes: the length of each fragment, and where the layer is drawn among others. */
export type Row = readonly [smallkey: string, lengths: readonly number[], rank: number];

/** The fragments of one layer: in a run of bytes one after the other, in the order of the slots. */
export interface Entry {
	run: Run;
	/** Where its row starts. */
	row: number;
}

function runOf(bytes: Uint8Array, slots: number): Run {
	const { buffer, byteOffset: offset } = bytes;
	return { bytes, buffer, offset, rows: [], slots, layers: 0, used: 0 };
}

/** Adds a layer to a run. @param start where its fragments start in the bytes, one after the other */
function addTo(run: Run, start: number, lengths: readonly number[], rank: number): Entry {
	const { rows } = run;
	const row = rows.push(start, rank) - headNumbers;
	let end = start;
	for (const length of lengths) {
		end += length;
		rows.push(end, 0, 0);
	}
	return { run, row };
}

/** Makes an entry of its own bytes. @param rank where the layer is drawn among others */
export function entryOf(fragments: readonly (Uint8Array | null)[], rank: number): Entry {
	const lengths = fragments.map((fragment) => fragment?.length ?? 0);
	// Not from the pool: a small entry would keep all of its neighbours there in memory.
	const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
	let start = 0;
	for (const fragment of fragments) {
		if (fragment) bytes.set(fragment, start);
		start += fragment?.length ?? 0;
	}
	return addTo(runOf(bytes, lengths.length), 0, lengths, rank);
}

/** Entries that share the bytes in which they stand one after the other; `lengths` has one number for each slot. */
export function* entriesIn(bytes: Uint8Array, layers: Iterable<Row>): Generator<[string, Entry]> {
	let run: Run | null = null;
	let start = 0;
	for (const [smallkey, lengths, rank] of layers) {
		run ??= runOf(bytes, lengths.length);
		const entry = addTo(run, start, lengths, rank);
		yield [smallkey, entry];
		start += lengthOf(entry);
	}
}

/** Where the fragment of a slot ends in its run; that of slot -1 where the first one starts. */
function endOf({ run, row }: Entry, slot: number): number {
	return run.rows[slot < 0 ? row : row + headNumbers + slotNumbers * slot] as number;
}

/** Where a layer is drawn among others. */
export function rankOf({ run, row }: Entry): number {
	return run.rows[row + 1] as number;
}

/** Bytes of all fragments of a layer. */
export function lengthOf(entry: Entry): number {
	return endOf(entry, entry.run.slots - 1) - endOf(entry, -1);
}

/** Bytes of the fragment of each slot. */
export function lengthsOf(entry: Entry): number[] {
	return Array.from({ length: entry.run.slots }, (_, slot) => endOf(entry, slot) - endOf(entry, slot - 1));
}

/** All fragments of a layer, one after the other. */
export function bytesOf(entry: Entry): Uint8Array {
	const start = endOf(entry, -1);
	return entry.run.bytes.subarray(start, start + lengthOf(entry));
}

/** The fragment of one slot as UTF-8 JSON; null where the layer has none there. */
export function bodyOf(entry: Entry, slot: number): Uint8Array | null {
	const { buffer, offset } = entry.run;
	const start = endOf(entry, slot - 1);
	const end = endOf(entry, slot);
	// Not `subarray`: of a Buffer it makes another one, which costs as much as the rest of finding a fragment.
	return end > start ? new Uint8Array(buffer, offset + start, end - start) : null;
}

/** The fragment of one slot with its tag; null where the layer has none there. */
export function fragmentOf(entry: Entry, slot: number): Fragment | null {
	const body = bodyOf(entry, slot);
	if (!body) return null;
	const { rows } = entry.run;
	const rank = rankOf(entry);
	const place = entry.row + headNumbers + slotNumbers * slot;
	const known = { high: rows[place + 1] as number, low: rows[place + 2] as number };
	if (known.high !== 0 || known.low !== 0) return { body, etag: known, rank };
	const hash = hashOf(body);
	rows[place + 1] = hash.high;
	rows[place + 2] = hash.low;
	return { body, etag: hash, rank };
}

/** Whether two entries have the same fragments and rank. */
export function isSame(before: Entry | undefined, after: Entry | null): boolean {
	if (!before || !after) return !before && !after;
	if (rankOf(before) !== rankOf(after)) return false;
	const lengths = lengthsOf(after);
	const same = lengthsOf(before).every((length, slot) => length === lengths[slot]);
	return same && Buffer.compare(bytesOf(before), bytesOf(after)) === 0;
}
