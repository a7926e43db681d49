import { deflateSync } from "node:zlib";
import { crc32 } from "./crc32.ts";
import { deltaOf, varint } from "./delta.ts";
import { hashOf, type ObjectFormat, type ObjectType, objectId } from "./object.ts";
import { storedStream } from "./stored.ts";

/** The number of a type in a pack, and that of a delta to an object before it (gitformat-pack(5)). */
const typeNumbers: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 };
const offsetDelta = 6;

/** Deltas on deltas up to which reading the last one costs little: git's own bound (git-config(1), `pack.depth`). */
const mostDeltas = 50;

/** Where the short offsets of an index end; longer ones have a table of their own, which is not written here. */
const mostBytes = 0x7fffffff;

/** Bytes up to which an object is kept as it is: to deflate less takes longer than all else that is done with it. */
const mostStored = 512;

/** The smallest window and memory that deflate has, and the largest (zlib.h, `deflateInit2`). */
const windowBits = { least: 9, most: 15 };
const memoryBelowWindow = 7;

/** An object in a pack. */
interface Placed {
	id: Buffer;
	offset: number;
	crc: number;
	/** Deltas that are read before it. */
	deltas: number;
}

/** An object that a new one is like. */
export interface Like {
	/** Its id, in hex. */
	id: string;
	body: Buffer;
}

/** A pack as it is written. */
export interface PackFiles {
	/** The hash of the pack, in hex: its files are `pack-<name>.pack` and `pack-<name>.idx`. */
	name: string;
	pack: readonly Uint8Array[];
	index: readonly Uint8Array[];
}

/** Objects that are written together, in git's own form: a pack, and the index that finds them in it. */
export class Pack {
	readonly #format: ObjectFormat;
	readonly #placed = new Map<string, Placed>();
	readonly #pieces: Buffer[] = [];
	#bytes = 12;

	constructor(format: ObjectFormat) {
		this.#format = format;
	}

	/** Number of its objects. */
	get size(): number {
		return this.#placed.size;
	}

	/**
	 * Puts an object in, once.
	 * @param like an earlier version: where it is in this pack, only what differs is kept
	 * @returns the object's id, in hex
	 * @throws {Error} where the pack would be larger than 2 GiB
	 */
	add(type: ObjectType, body: Buffer, like: Like | null = null): string {
		const id = objectId(this.#format, type, body);
		const name = id.toString("hex");
		if (this.#placed.has(name)) return name;
		const base = like && this.#placed.get(like.id);
		if (like && base && base.deltas < mostDeltas) this.#addDelta(id, base, deltaOf(like.body, body));
		else this.#addWhole(id, type, body);
		return name;
	}

	/** The pack and its index, version 2 (gitformat-pack(5)). */
	files(): PackFiles {
		const header = Buffer.alloc(12);
		header.write("PACK", "latin1");
		header.writeUInt32BE(2, 4);
		header.writeUInt32BE(this.#placed.size, 8);
		const pieces = [header, ...this.#pieces];
		const hash = hashOf(this.#format, pieces);
		const index = this.#index(hash);
		return {
			name: hash.toString("hex"),
			pack: [...pieces, hash],
			index: [...index, hashOf(this.#format, index)],
		};
	}

	#addWhole(id: Buffer, type: ObjectType, body: Buffer): void {
		// Hashes, of which folders are made, do not become shorter.
		const data = type === "tree" || body.length <= mostStored ? storedStream(body) : deflated(body);
		this.#place(id, 0, [entryHeader(typeNumbers[type], body.length), data]);
	}

	#addDelta(id: Buffer, base: Placed, delta: Buffer): void {
		const header = entryHeader(offsetDelta, delta.length);
		const back = distance(this.#bytes - base.offset);
		this.#place(id, base.deltas + 1, [header, back, storedStream(delta)]);
	}

	#place(id: Buffer, deltas: number, pieces: Buffer[]): void {
		const entry = Buffer.concat(pieces);
		if (this.#bytes + entry.length > mostBytes) throw new Error("a pack: must be at most 2 GiB");
		this.#placed.set(id.toString("hex"), { id, offset: this.#bytes, crc: crc32(entry), deltas });
		this.#pieces.push(entry);
		this.#bytes += entry.length;
	}

	#index(packHash: Buffer): Buffer[] {
		const placed = [...this.#placed.values()].sort((a, b) => a.id.compare(b.id));
		const header = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
		const fanout = Buffer.alloc(256 * 4);
		const numbers = Buffer.alloc(placed.length * 8);
		for (const [at, { id, crc, offset }] of placed.entries()) {
			numbers.writeUInt32BE(crc, at * 4);
			numbers.writeUInt32BE(offset, (placed.length + at) * 4);
			fanout.writeUInt32BE(at + 1, id[0]! * 4);
		}
		// The number of ids up to each first byte: those that no id begins with have that of the one before.
		for (let byte = 1; byte < 256; byte += 1) {
			if (fanout.readUInt32BE(byte * 4) > 0) continue;
			fanout.writeUInt32BE(fanout.readUInt32BE((byte - 1) * 4), byte * 4);
		}
		return [header, fanout, ...placed.map(({ id }) => id), numbers, packHash];
	}
}

/** Bytes in the zlib format. For a few kilobytes most of the time would be that of a window for many, which is cleared. */
function deflated(body: Buffer): Buffer {
	const bits = Math.max(windowBits.least, Math.min(Math.ceil(Math.log2(body.length)), windowBits.most));
	// All of the output in one piece.
	const chunkSize = body.length + 1024;
	return deflateSync(body, { level: 1, windowBits: bits, memLevel: bits - memoryBelowWindow, chunkSize });
}

/** Type and size before an entry: four bits of the size, then seven and seven. */
function entryHeader(type: number, size: number): Buffer {
	const first = (type << 4) | (size & 0xf);
	return size < 16
		? Buffer.from([first])
		: Buffer.concat([Buffer.from([first | 0x80]), varint(Math.floor(size / 16))]);
}

/** How far back the base of a delta is: seven bits and seven, the highest first, each further byte one more. */
function distance(back: number): Buffer {
	const bytes = [back & 0x7f];
	for (let rest = Math.floor(back / 128); rest > 0; rest = Math.floor(rest / 128)) {
		rest -= 1;
		bytes.unshift((rest & 0x7f) | 0x80);
	}
	return Buffer.from(bytes);
}
