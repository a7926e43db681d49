import { type Fragment, type Fragments, hashOf } from "../../api/read.ts";
import type { Slot } from "../build/slots.ts";
import { Slices } from "./slices.ts";

/** Bytes that hold the fragments of one layer, or of many. */
interface Run {
	bytes: Uint8Array;
	/** What the bytes are in, and where: to ask them for it each time costs a tenth of finding a fragment. */
	buffer: ArrayBufferLike;
	offset: number;
	/**
	 * A row for each layer: where its first fragment starts, and `slotNumbers` for each slot. In one array, as numbers:
	 * with 100,000 layers each object of its own is another place in memory to wait for.
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

/** The fragments of one layer: in a run of bytes one after the other, in the order of the slots. */
export interface Entry {
	run: Run;
	/** Where its row starts. */
	row: number;
}

/** What becomes of layers with one commit: the new entry of each, or null where it goes. */
export type Changes = ReadonlyMap<string, Entry | null>;

/** Changes up to which they are made in one turn of the event loop. */
const mostAtOnce = 1_000;
/** Bytes that may be held for nothing beside as many that are used. */
const mostUnusedBytes = 16_000_000;

function runOf(bytes: Uint8Array, slots: number): Run {
	const { buffer, byteOffset: offset } = bytes;
	return { bytes, buffer, offset, rows: [], slots, layers: 0, used: 0 };
}

/** Adds a layer to a run. @param start where its fragments start in the bytes, one after the other */
function addTo(run: Run, start: number, lengths: readonly number[]): Entry {
	const { rows } = run;
	const row = rows.push(start) - 1;
	let end = start;
	for (const length of lengths) {
		end += length;
		rows.push(end, 0, 0);
	}
	return { run, row };
}

/** Makes an entry of its own bytes. */
export function entryOf(fragments: readonly (Uint8Array | null)[]): Entry {
	const lengths = fragments.map((fragment) => fragment?.length ?? 0);
	// Not from the pool: a small entry would keep all of its neighbours there in memory.
	const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
	let start = 0;
	for (const fragment of fragments) {
		if (fragment) bytes.set(fragment, start);
		start += fragment?.length ?? 0;
	}
	return addTo(runOf(bytes, lengths.length), 0, lengths);
}

/** Entries that share the bytes in which they stand one after the other; `lengths` has one number for each slot. */
export function* entriesIn(
	bytes: Uint8Array,
	layers: Iterable<readonly [smallkey: string, lengths: readonly number[]]>,
): Generator<[string, Entry]> {
	let run: Run | null = null;
	let start = 0;
	for (const [smallkey, lengths] of layers) {
		run ??= runOf(bytes, lengths.length);
		const entry = addTo(run, start, lengths);
		yield [smallkey, entry];
		start += lengthOf(entry);
	}
}

/** The table of what is served: smallkey → fragments, all of one commit. */
export class Table {
	readonly #slots: readonly Slot[];
	/** Target → language → position among the slots. */
	readonly #positions = new Map<string, Map<string, number>>();
	/** The slot that was asked for last: a list asks for one again and again. */
	#last = { target: "", lang: "", slot: -1 };
	#entries = new Map<string, Entry>();
	#version = 0;
	#heldBytes = 0;
	#usedBytes = 0;

	constructor(slots: readonly Slot[]) {
		this.#slots = slots;
		slots.forEach(({ target, lang }, position) => {
			const langs = this.#positions.get(target) ?? new Map<string, number>();
			this.#positions.set(target, langs.set(lang, position));
		});
	}

	/** The fragment of a target, language and smallkey, or null. */
	readonly find: Fragments = (target, lang, smallkey) => {
		const entry = this.#entries.get(smallkey);
		if (!entry) return null;
		const slot = this.#slotOf(target, lang);
		return slot < 0 ? null : fragmentOf(entry, slot);
	};

	/** The position of a slot, or -1. */
	#slotOf(target: string, lang: string): number {
		const last = this.#last;
		if (last.target === target && last.lang === lang) return last.slot;
		this.#last = { target, lang, slot: this.#positions.get(target)?.get(lang) ?? -1 };
		return this.#last.slot;
	}

	/** Another number after each change of any fragment. */
	readonly version = (): number => this.#version;

	/** Number of layers. */
	get size(): number {
		return this.#entries.size;
	}

	has(smallkey: string): boolean {
		return this.#entries.has(smallkey);
	}

	/** The entry of a layer, or null. */
	entry(smallkey: string): Entry | null {
		return this.#entries.get(smallkey) ?? null;
	}

	/** Every smallkey, in no order. */
	smallkeys(): IterableIterator<string> {
		return this.#entries.keys();
	}

	/** Every layer with its entry, in no order. */
	entries(): IterableIterator<[string, Entry]> {
		return this.#entries.entries();
	}

	/**
	 * Makes the changes of a commit: whoever reads meets all of them or none. To be called one after the other.
	 * @returns the smallkeys whose fragments are others now
	 */
	async change(changes: Changes): Promise<string[]> {
		const slices = new Slices();
		const changed: string[] = [];
		for (const [smallkey, entry] of changes) {
			if (!isSame(this.#entries.get(smallkey), entry)) changed.push(smallkey);
			await slices.pause();
		}
		if (changed.length === 0) return changed;
		const few = changed.length <= mostAtOnce;
		const entries = few ? this.#entries : await this.#copy(slices);
		for (const smallkey of changed) {
			this.#count(smallkey, changes.get(smallkey) ?? null);
			const entry = changes.get(smallkey);
			if (entry) entries.set(smallkey, entry);
			else entries.delete(smallkey);
			// Nobody reads a copy yet.
			if (!few) await slices.pause();
		}
		this.#entries = entries;
		this.#version += 1;
		if (this.#heldBytes > 2 * this.#usedBytes + mostUnusedBytes) await this.#compact(slices);
		return changed;
	}

	async #copy(slices: Slices): Promise<Map<string, Entry>> {
		const copy = new Map<string, Entry>();
		for (const [smallkey, entry] of this.#entries) {
			copy.set(smallkey, entry);
			await slices.pause();
		}
		return copy;
	}

	/** Keeps count of the bytes that are held and used when an entry takes another's place. */
	#count(smallkey: string, entry: Entry | null): void {
		const before = this.#entries.get(smallkey);
		if (before) this.#use(before, -1);
		if (entry) this.#use(entry, 1);
	}

	#use(entry: Entry, sign: 1 | -1): void {
		const { run } = entry;
		const length = lengthOf(entry);
		if (run.layers === 0) this.#heldBytes += run.bytes.length;
		run.layers += sign;
		run.used += sign * length;
		this.#usedBytes += sign * length;
		if (run.layers === 0) this.#heldBytes -= run.bytes.length;
	}

	/** Gives the layers of runs that are mostly unused bytes of their own: the same fragments, in less memory. */
	async #compact(slices: Slices): Promise<void> {
		for (const [smallkey, entry] of this.#entries) {
			if (entry.run.used * 2 < entry.run.bytes.length) {
				const own = entryOf(this.#slots.map((_, slot) => bodyOf(entry, slot)));
				this.#use(entry, -1);
				this.#use(own, 1);
				this.#entries.set(smallkey, own);
			}
			await slices.pause();
		}
	}
}

/** Where the fragment of a slot ends in its run; that of slot -1 where the first one starts. */
function endOf({ run, row }: Entry, slot: number): number {
	return run.rows[slot < 0 ? row : row + 1 + slotNumbers * slot] as number;
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

function fragmentOf(entry: Entry, slot: number): Fragment | null {
	const body = bodyOf(entry, slot);
	if (!body) return null;
	const { rows } = entry.run;
	const place = entry.row + 1 + slotNumbers * slot;
	const known = { high: rows[place + 1] as number, low: rows[place + 2] as number };
	if (known.high !== 0 || known.low !== 0) return { body, etag: known };
	const hash = hashOf(body);
	rows[place + 1] = hash.high;
	rows[place + 2] = hash.low;
	return { body, etag: hash };
}

function isSame(before: Entry | undefined, after: Entry | null): boolean {
	if (!before || !after) return !before && !after;
	const lengths = lengthsOf(after);
	const same = lengthsOf(before).every((length, slot) => length === lengths[slot]);
	return same && Buffer.compare(bytesOf(before), bytesOf(after)) === 0;
}
