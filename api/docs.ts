import { middleRank } from "../registry/drawing-order.ts";
import { parseSmallkey } from "../registry/smallkey.ts";
import { targetOf } from "../registry/targets/table.ts";
import type { Envelope } from "../registry/targets/target.ts";
import { etagOfTags, type Tag, textOf } from "./etag.ts";
import type { Fragment, Fragments } from "./fragment.ts";
import type { Pieces } from "./reply.ts";
import { countSeparators, escapeSeparators } from "./script.ts";
import type { WantedDocs } from "./wanted.ts";

/** Largest answer to one `docs` in bytes, repeats counted. */
export const maxDocsBytes = 32_000_000;
/** A larger answer is sent in pieces of at least `minPieceBytes`. */
const maxJoinedBytes = 1_000_000;
const minPieceBytes = 65_536;

const encoder = new TextEncoder();

/** The parts of an answer to `docs`: elements, which are joined with commas, and ASCII texts around them. */
export interface Docs {
	etag: string;
	open: string;
	elements: Uint8Array[];
	/** The text between the elements and their repetition; null where they are sent once. */
	between: string | null;
	close: string;
	/** Whether the array is an argument in a script. */
	isScript: boolean;
	/** Length of the whole answer, in bytes. */
	length: number;
}

const noEnvelope = { open: "", between: null, close: "" };

/** Wraps a fragment into a call of a script's function (JSONP). */
export function asScript({ body, etag }: Fragment, callback: string): Fragment {
	const element = escapeSeparators(body);
	const [open, close] = [`/**/${callback}(`, ");"];
	const joined = new Uint8Array(open.length + element.length + close.length);
	putAscii(joined, putElements(joined, putAscii(joined, 0, open), [element]), close);
	return { body: joined, etag: etagOfTags([etag, callback]) };
}

/** Collects the parts of an answer to `docs`; null where it would have more than `maxDocsBytes`. */
export function findDocs(wanted: WantedDocs, fragments: Fragments): Docs | null {
	const { target, lang, callback, isUnlisted } = wanted;
	const layerEnvelope = targetOf(target).envelope;
	const elements: Uint8Array[] = [];
	const tags: Tag[] = [];
	let bytes = 0;
	const items = wanted.isSorted ? inDrawingOrder(wanted, fragments) : wanted.items;
	for (const item of items) {
		const found = parseSmallkey(item) ? fragments(target, lang, item) : null;
		const fragment = found && isUnlisted?.(found.body) ? null : found;
		const absent = fragment ? null : wanted.absent(item, items.length);
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
	const envelope = wanted.envelope ?? noEnvelope;
	const open = isScript ? `/**/${callback}(${envelope.open}[` : `${envelope.open}[`;
	const between = envelope.between === null ? null : `]${envelope.between}[`;
	const close = isScript ? `]${envelope.close});` : `]${envelope.close}`;
	const listLength = bytes + Math.max(0, elements.length - 1);
	const middleLength = between === null ? listLength : 2 * listLength + between.length;
	const length = open.length + middleLength + close.length;
	if (length > maxDocsBytes) return null;
	if (isScript) tags.push(callback);
	if (wanted.envelope) tags.push(envelope.open + envelope.between);
	return { etag: etagOfTags(tags), open, elements, between, close, isScript, length };
}

/** The items in drawing order; items of one rank keep their requested order. */
function inDrawingOrder({ target, lang, items }: WantedDocs, fragments: Fragments): string[] {
	const rankOf = (item: string) => (parseSmallkey(item) ? fragments(target, lang, item)?.rank : undefined);
	const ranked = items.map((item) => ({ item, rank: rankOf(item) ?? middleRank }));
	return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

/** The layer itself, from a fragment that wraps it in an envelope and an array of one. */
function withoutEnvelope(body: Uint8Array, envelope: Envelope | undefined): Uint8Array {
	if (!envelope) return body;
	return body.subarray(envelope.open.length + 1, body.length - envelope.close.length - 1);
}

/** The number of separators in all elements; elements of equal tags are searched once. */
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

/** The body of an answer; a large one in pieces. */
export function bodyOf(docs: Docs): Uint8Array | Pieces {
	const { open, between, close, isScript, length } = docs;
	if (length > maxJoinedBytes) return { length, [Symbol.iterator]: () => piecesOf(docs) };
	const elements = isScript ? docs.elements.map(escapeSeparators) : docs.elements;
	const joined = new Uint8Array(length);
	let offset = putElements(joined, putAscii(joined, 0, open), elements);
	if (between !== null) offset = putElements(joined, putAscii(joined, offset, between), elements);
	putAscii(joined, offset, close);
	return joined;
}

/** The answer in pieces. Nothing large is held but the elements themselves. */
function* piecesOf(docs: Docs): Generator<Uint8Array> {
	const { open, between, close } = docs;
	yield* listPieces(open, docs, between ?? close);
	if (between !== null) yield* listPieces("", docs, close);
}

/** The elements once, between two texts. */
function* listPieces(open: string, { elements, isScript }: Docs, close: string): Generator<Uint8Array> {
	let start = open;
	let run: Uint8Array[] = [];
	let bytes = 0;
	const piece = (end: string) => {
		const joined = new Uint8Array(start.length + bytes + Math.max(0, run.length - 1) + end.length);
		putAscii(joined, putElements(joined, putAscii(joined, 0, start), run), end);
		return joined;
	};
	for (const element of elements) {
		run.push(isScript ? escapeSeparators(element) : element);
		bytes += (run.at(-1) as Uint8Array).length;
		if (bytes < minPieceBytes) continue;
		yield piece("");
		start = ",";
		run = [];
		bytes = 0;
	}
	if (run.length === 0 && elements.length > 0) start = "";
	yield piece(close);
}

/** Writes elements with commas between them, without parsing them. Returns their end. */
function putElements(bytes: Uint8Array, start: number, elements: readonly Uint8Array[]): number {
	let offset = start;
	let isFirst = true;
	for (const element of elements) {
		if (!isFirst) bytes[offset++] = 0x2c;
		isFirst = false;
		bytes.set(element, offset);
		offset += element.length;
	}
	return offset;
}

/** Writes a short ASCII text and returns its end. For a few characters an encoder is slower. */
function putAscii(bytes: Uint8Array, start: number, text: string): number {
	for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index);
	return start + text.length;
}
