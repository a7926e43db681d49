/** One element of a dump's array. */
export interface Element {
	/** UTF-8 JSON; null where it is longer than `maxElementBytes` and was passed over. */
	bytes: Buffer | null;
	/** Its offset in the file, in bytes. */
	offset: number;
	/** Its length in bytes. */
	length: number;
}

/** A dump that cannot be read, and is ignored completely. */
export class DumpError extends Error {}

/** Longest element in bytes: CouchDB's own limit of a document (`max_document_size`). */
export const maxElementBytes = 8_000_000;
/** Most elements, since each takes memory. */
const maxElements = 1_000_000;
/** Most bytes outside the elements: commas, white space, and the members around the array. */
const maxRestBytes = 16_000_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openers = new Set([0x5b, 0x7b]);
const closers = new Set([0x5d, 0x7d]);
const spaces = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The text before an array of documents. */
const arrayStart = /(?:^|[{,]\s*)"(?:docs|rows)"\s*:\s*$/;

/**
 * Streams the elements of a dump's array `docs` or `rows`. Finds only their ends, without parsing them.
 * @throws {DumpError} where the file ends early, is not JSON, or has no such array
 */
export async function* readElements(chunks: AsyncIterable<Buffer>): AsyncGenerator<Element> {
	const scanner = new Scanner();
	for await (const chunk of chunks) yield* scanner.take(chunk);
	scanner.end();
}

class Scanner {
	/** The text outside the elements, with a 0 for each element. */
	#rest = "";
	#offset = 0;
	#depth = 0;
	#inString = false;
	#isEscaped = false;
	/** Whether the position is within the array. */
	#inArray = false;
	#arrays = 0;
	#elements = 0;
	/** The open element, or null. */
	#parts: Buffer[] | null = null;
	#length = 0;
	#start = 0;

	*take(chunk: Buffer): Generator<Element> {
		/** Start of the present element or outside text in this chunk. */
		let from = 0;
		for (let index = 0; index < chunk.length; index += 1) {
			const byte = chunk[index] as number;
			if (this.#inString) {
				if (this.#isEscaped) this.#isEscaped = false;
				else if (byte === backslash) this.#isEscaped = true;
				else if (byte === quote) this.#inString = false;
				continue;
			}
			if (this.#inArray && this.#depth === 2 && this.#isBetween(byte)) {
				if (this.#parts) {
					this.#keep(chunk.subarray(from, index));
					from = index;
					yield this.#finish();
				}
				if (byte === 0x5d) {
					this.#inArray = false;
					this.#depth -= 1;
				}
				continue;
			}
			if (this.#inArray && !this.#parts) {
				this.#outside(chunk.subarray(from, index));
				from = index;
				this.#begin(index);
			}
			if (byte === quote) this.#inString = true;
			else if (openers.has(byte)) {
				if (byte === 0x5b && this.#depth === 1 && !this.#inArray) {
					this.#outside(chunk.subarray(from, index + 1));
					from = index + 1;
					this.#inArray = arrayStart.test(this.#rest.slice(0, -1));
					if (this.#inArray) this.#arrays += 1;
				}
				this.#depth += 1;
			} else if (closers.has(byte)) this.#depth -= 1;
		}
		if (this.#parts) this.#keep(chunk.subarray(from));
		else this.#outside(chunk.subarray(from));
		this.#offset += chunk.length;
	}

	end(): void {
		if (this.#inString || this.#depth !== 0) {
			throw new DumpError(`ends in the middle, after ${this.#offset} bytes: is it whole?`);
		}
		try {
			JSON.parse(this.#rest);
		} catch {
			throw new DumpError("is not JSON");
		}
		if (this.#arrays !== 1)
			throw new DumpError('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
	}

	#isBetween(byte: number): boolean {
		return byte === comma || byte === 0x5d || spaces.has(byte);
	}

	#begin(index: number): void {
		this.#elements += 1;
		if (this.#elements > maxElements) throw new DumpError(`has over ${maxElements} documents`);
		this.#parts = [];
		this.#length = 0;
		this.#start = this.#offset + index;
		this.#rest += "0";
	}

	#keep(bytes: Buffer): void {
		this.#length += bytes.length;
		if (this.#length <= maxElementBytes) this.#parts?.push(bytes);
		// An element that is too long is not kept in memory.
		else if (this.#parts) this.#parts.length = 0;
	}

	#finish(): Element {
		const isKept = this.#length <= maxElementBytes;
		const bytes = isKept ? Buffer.concat(this.#parts ?? []) : null;
		this.#parts = null;
		return { bytes, offset: this.#start, length: this.#length };
	}

	#outside(bytes: Buffer): void {
		this.#rest += bytes.toString("latin1");
		if (this.#rest.length > maxRestBytes)
			throw new DumpError(`has over ${maxRestBytes} bytes outside its array of documents`);
	}
}
