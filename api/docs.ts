import { parseSmallkey } from "../registry/smallkey.ts";
import { targetOf } from "../registry/targets/table.ts";
import type { Envelope } from "../registry/targets/target.ts";
import { etagOfTags, type Tag, textOf } from "./etag.ts";
import type { Fragment, Fragments } from "./fragment.ts";
import type { Pieces } from "./reply.ts";
import { countSeparators, escapeSeparators } from "./script.ts";
import type { WantedDocs } from "./wanted.ts";

/** Makes room for this many bytes; whatever is in it, all of it is written over. */
export type Allocate = (length: number) => Uint8Array;

/** Largest answer to one `docs` in bytes, repeats counted. */
export const maxDocsBytes = 32_000_000;
/** Up to so many bytes an answer is put together at once; a larger one is sent in pieces of at least `minPieceBytes`. */
const maxJoinedBytes = 1_000_000;
const minPieceBytes = 65_536;

const encoder = new TextEncoder();

/** The answer to a `docs`, not put together yet: elements between two texts of ASCII, with commas. */
export interface Docs {
	etag: string;
	open: string;
	elements: Uint8Array[];
	close: string;
	/** Whether the array is an argument in a script. */
	isScript: boolean;
	/** Bytes of all of it, as it is sent. */
	length: number;
}

const noEnvelope = { open: "", close: "" };

/** A fragment as the argument of a script's function. */
export function asScript({ body, etag }: Fragment, callback: string): Fragment {
	const element = escapeSeparators(body);
	const [open, close] = [`/**/${callback}(`, ");"];
	const joined = join(open, [element], close, new Uint8Array(open.length + element.length + close.length));
	return { body: joined, etag: etagOfTags([etag, callback]) };
}

/** Finds what a `docs` asks for; null where the answer would have more than `maxDocsBytes`. */
export function findDocs(wanted: WantedDocs, fragments: Fragments): Docs | null {
	const { target, lang, callback } = wanted;
	const layerEnvelope = targetOf(target).envelope;
	const elements: Uint8Array[] = [];
	const tags: Tag[] = [];
	let bytes = 0;
	for (const item of wanted.items) {
		const fragment = parseSmallkey(item) ? fragments(target, lang, item) : null;
		const absent = fragment ? null : wanted.absent(item);
		if (!fragment && absent === null) continue;
		const element = fragment
			? withoutEnvelope(fragment.body, layerEnvelope)
			: encoder.encode(absent as string);
		elements.push(element);
		tags.push(fragment ? fragment.etag : (absent as string));
		bytes += element.length;
		if (bytes > maxDocsBytes) return null;
	}
	const isScript = callback !== null;
	if (isScript) bytes += 3 * countAll(elements, tags);
	const { open: before, close: after } = wanted.envelope ?? noEnvelope;
	const open = isScript ? `/**/${callback}(${before}[` : `${before}[`;
	const close = isScript ? `]${after});` : `]${after}`;
	const length = open.length + bytes + Math.max(0, elements.length - 1) + close.length;
	if (length > maxDocsBytes) return null;
	if (isScript) tags.push(callback);
	if (wanted.envelope) tags.push(before);
	return { etag: etagOfTags(tags), open, elements, close, isScript, length };
}

/** The layer itself, of a fragment that has it in an array of one inside an envelope. */
function withoutEnvelope(body: Uint8Array, envelope: Envelope | undefined): Uint8Array {
	if (!envelope) return body;
	return body.subarray(envelope.open.length + 1, body.length - envelope.close.length - 1);
}

/** The separators in all elements; those of equal tags are counted once. */
function countAll(elements: Uint8Array[], tags: Tag[]): number {
	const counted = new Map<string, number>();
	let count = 0;
	elements.forEach((element, index) => {
		const tag = textOf(tags[index] as Tag);
		const found = counted.get(tag) ?? countSeparators(element);
		counted.set(tag, found);
		count += found;
	});
	return count;
}

/** Puts an answer together, or says how it is sent in pieces. */
export function bodyOf(docs: Docs, allocate: Allocate): Uint8Array | Pieces {
	const { open, elements, close, isScript, length } = docs;
	if (length > maxJoinedBytes) return { length, [Symbol.iterator]: () => piecesOf(docs) };
	return join(open, isScript ? elements.map(escapeSeparators) : elements, close, allocate(length));
}

/** What `join` would put together, in pieces: of what is large, nothing but the elements themselves is held. */
function* piecesOf({ open, elements, close, isScript }: Docs): Generator<Uint8Array> {
	let start = open;
	let run: Uint8Array[] = [];
	let bytes = 0;
	for (const element of elements) {
		run.push(isScript ? escapeSeparators(element) : element);
		bytes += (run.at(-1) as Uint8Array).length;
		if (bytes < minPieceBytes) continue;
		yield join(start, run, "", new Uint8Array(start.length + bytes + run.length - 1));
		start = ",";
		run = [];
		bytes = 0;
	}
	if (run.length === 0) return yield encoder.encode(close);
	yield join(start, run, close, new Uint8Array(start.length + bytes + run.length - 1 + close.length));
}

/** The elements between two texts of ASCII, with commas: bytes are joined, never parsed. */
function join(open: string, elements: Uint8Array[], close: string, joined: Uint8Array): Uint8Array {
	let offset = putAscii(joined, 0, open);
	let isFirst = true;
	for (const element of elements) {
		if (!isFirst) joined[offset++] = 0x2c;
		isFirst = false;
		joined.set(element, offset);
		offset += element.length;
	}
	putAscii(joined, offset, close);
	return joined;
}

/** Writes a short text of ASCII and returns where it ends; for a few characters an encoder costs more. */
function putAscii(bytes: Uint8Array, start: number, text: string): number {
	for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index);
	return start + text.length;
}
