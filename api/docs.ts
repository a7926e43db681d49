import { middleRank } from "../registry/drawing-order.ts";
import { type Lang, parseSmallkey } from "../registry/smallkey.ts";
import { targetOf } from "../registry/targets/table.ts";
import type { Envelope, TargetName } from "../registry/targets/target.ts";
import { etagOfTags, type Tag } from "./etag.ts";
import type { Pieces } from "./reply.ts";
import type { WantedDocs } from "./wanted.ts";

/** A fragment as sent. */
export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** What its strong entity tag is made of (RFC 9110, section 8.8.3). */
	etag: Tag;
	/** The layer's rank in drawing order, lowest first; absent where it is not known. */
	rank?: number;
}

/** Reads the fragment of a target (`v0.9`), a language and a smallkey; null where there is none. */
export type Fragments = (target: TargetName, lang: Lang, smallkey: string) => Fragment | null;

/** Largest answer to one `docs` in bytes, repeats counted. */
export const maxDocsBytes = 32_000_000;

/** A larger answer is sent in pieces, and never joined. */
const maxJoinedBytes = 1_000_000;

const encoder = new TextEncoder();
const comma = encoder.encode(",");

/** An answer to `docs`. */
export interface Docs {
	etag: string;
	pieces: Uint8Array[];
	/** Of the whole answer, in bytes. */
	length: number;
}

const noEnvelope = { open: "", between: null, close: "" };

/** Wraps a fragment into a call of a script's function (JSONP). */
export function asScript({ body, etag }: Fragment, callback: string): Fragment {
	const pieces = [encoder.encode(`/**/${callback}(`), escapeSeparators(body), encoder.encode(");")];
	return { body: joined(pieces, lengthOf(pieces)), etag: etagOfTags([etag, callback]) };
}

/**
 * Escapes U+2028 and U+2029 in UTF-8 JSON: they end a line in JavaScript before ES2019. The same array where there are
 * none.
 */
function escapeSeparators(json: Uint8Array): Uint8Array {
	if (!json.includes(0xe2)) return json;
	const text = new TextDecoder().decode(json);
	if (!/[\u2028\u2029]/.test(text)) return json;
	return encoder.encode(text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
}

/** Collects an answer to `docs`; null where it would have more than `maxDocsBytes`. */
export function findDocs(wanted: WantedDocs, fragments: Fragments): Docs | null {
	const { target, lang, callback, isUnlisted } = wanted;
	const { envelope } = targetOf(target);
	// The element of a repeated item is made once.
	const made = new Map<Uint8Array, Uint8Array>();
	const elements: Uint8Array[] = [];
	const tags: Tag[] = [];
	let bytes = 0;
	const items = wanted.isSorted ? inDrawingOrder(wanted, fragments) : wanted.items;
	for (const item of items) {
		const found = parseSmallkey(item) ? fragments(target, lang, item) : null;
		const fragment = found && isUnlisted?.(found.body) ? null : found;
		const absent = fragment ? null : wanted.absent(item, items.length);
		if (!fragment && absent === null) continue;
		const body = fragment?.body ?? encoder.encode(absent as string);
		let element = made.get(body);
		if (!element) {
			element = fragment ? layerIn(body, envelope) : body;
			if (callback !== null) element = escapeSeparators(element);
			made.set(body, element);
		}
		elements.push(element);
		tags.push(fragment ? fragment.etag : (absent as string));
		bytes += element.length;
		if (bytes > maxDocsBytes) return null;
	}
	const { open, between, close } = wanted.envelope ?? noEnvelope;
	const list = elements.flatMap((element, index) => (index === 0 ? [element] : [comma, element]));
	const pieces = [
		encoder.encode(`${callback === null ? "" : `/**/${callback}(`}${open}[`),
		...list,
		...(between === null ? [] : [encoder.encode(`]${between}[`), ...list]),
		encoder.encode(`]${close}${callback === null ? "" : ");"}`),
	];
	const length = lengthOf(pieces);
	if (length > maxDocsBytes) return null;
	if (callback !== null) tags.push(callback);
	if (wanted.envelope) tags.push(open + between);
	return { etag: etagOfTags(tags), pieces, length };
}

/** The items in drawing order; items of one rank keep their requested order. */
function inDrawingOrder({ target, lang, items }: WantedDocs, fragments: Fragments): string[] {
	const rankOf = (item: string) => (parseSmallkey(item) ? fragments(target, lang, item)?.rank : undefined);
	const ranked = items.map((item) => ({ item, rank: rankOf(item) ?? middleRank }));
	return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

/** The layer itself, from a fragment that wraps it in an envelope and an array of one. */
function layerIn(body: Uint8Array, envelope: Envelope | undefined): Uint8Array {
	return envelope ? body.subarray(envelope.open.length + 1, body.length - envelope.close.length - 1) : body;
}

/** The body of an answer; a large one in pieces. */
export function bodyOf({ pieces, length }: Docs): Uint8Array | Pieces {
	if (length <= maxJoinedBytes) return joined(pieces, length);
	return { length, [Symbol.iterator]: () => pieces.values() };
}

function lengthOf(pieces: readonly Uint8Array[]): number {
	return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
	const bytes = new Uint8Array(length);
	let offset = 0;
	for (const piece of pieces) {
		bytes.set(piece, offset);
		offset += piece.length;
	}
	return bytes;
}
