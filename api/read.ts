import { middleRank } from "../registry/description.ts";
import { etagOfTags } from "../registry/etag.ts";
import type { Fragments } from "../registry/fragment.ts";
import { parseSmallkey } from "../registry/smallkey.ts";
import { targetOf } from "../registry/targets/table.ts";
import type { Envelope } from "../registry/targets/target.ts";
import { answerTagged, fragmentHeaders, type Reply, refusalCaching, refuseRead } from "./reply.ts";
import type { Wanted } from "./wanted.ts";

/** Largest answer to one `docs` in bytes, repeated layers included. */
export const maxDocsBytes = 32_000_000;

/** Larger answers are sent in pieces, and never joined. */
const maxJoinedBytes = 1_000_000;

const scriptType = "application/javascript; charset=utf-8";

const encoder = new TextEncoder();
const comma = encoder.encode(",");

/** An answer; its pieces are joined only if it is sent. */
interface Found {
	etag: string;
	pieces: readonly Uint8Array[];
	/** Whether a requested key is unknown. Then the answer is cached briefly, so that no cache hides a new layer. */
	isIncomplete?: boolean;
}

/**
 * Answers a read. Pure, and the same on every engine.
 * @param ifNoneMatch the `If-None-Match` header, or null (RFC 9110, section 13.1.2)
 */
export function answerRead(wanted: Wanted, ifNoneMatch: string | null, fragments: Fragments): Reply {
	const found = wanted.kind === "docs" ? findDocs(wanted, fragments) : findDoc(wanted, fragments);
	if (typeof found === "number") return refuseRead(found);
	// The headers are listed: copying `fragmentHeaders` for each request takes longer than finding the fragment.
	const headers = {
		"Content-Type": wanted.callback === null ? fragmentHeaders["Content-Type"] : scriptType,
		"Access-Control-Allow-Origin": fragmentHeaders["Access-Control-Allow-Origin"],
		"Access-Control-Expose-Headers": fragmentHeaders["Access-Control-Expose-Headers"],
		"Cache-Control": found.isIncomplete ? refusalCaching : fragmentHeaders["Cache-Control"],
		"X-Content-Type-Options": fragmentHeaders["X-Content-Type-Options"],
		ETag: found.etag,
	};
	return answerTagged(headers, ifNoneMatch, () => bodyOf(found.pieces));
}

/** The fragment, as a function call if the request names a callback (JSONP); else the status of the refusal. */
function findDoc({ target, lang, items, callback }: Wanted, fragments: Fragments): Found | number {
	const found = fragments(target, lang, items[0] ?? "");
	if (!found) return 404;
	if (callback === null) return { etag: found.etag, pieces: [found.body] };
	const pieces = [encoder.encode(`/**/${callback}(`), escapeSeparators(found.body), encoder.encode(");")];
	return { etag: etagOfTags([found.etag, callback]), pieces };
}

function findDocs(wanted: Wanted, fragments: Fragments): Found | number {
	const { target, lang, callback, isQuery } = wanted;
	const { envelope, absent, isUnlisted, queryDoor } = targetOf(target);
	const leaveOut = () => null;
	const rules =
		isQuery && queryDoor
			? { envelope: queryDoor.envelope(lang), absent: leaveOut }
			: { envelope, absent, isUnlisted };
	const elements: Uint8Array[] = [];
	const tags: string[] = [];
	let bytes = 0;
	let isIncomplete = false;
	const items = wanted.isSorted ? inDrawingOrder(wanted, fragments) : wanted.items;
	for (const item of items) {
		const found = parseSmallkey(item) ? fragments(target, lang, item) : null;
		isIncomplete ||= found === null;
		const fragment = found && rules.isUnlisted?.(found.body) ? null : found;
		const missing = fragment ? null : rules.absent(item, items.length);
		if (!fragment && missing === null) continue;
		const json = fragment ? layerIn(fragment.body, envelope) : encoder.encode(missing as string);
		const element = callback === null ? json : escapeSeparators(json);
		elements.push(element);
		tags.push(fragment ? fragment.etag : (missing as string));
		bytes += element.length;
		if (bytes > maxDocsBytes) return 414;
	}
	const { open, close } = rules.envelope ?? { open: "", close: "" };
	const pieces = [
		encoder.encode(`${callback === null ? "" : `/**/${callback}(`}${open}[`),
		...elements.flatMap((element, index) => (index === 0 ? [element] : [comma, element])),
		encoder.encode(`]${close}${callback === null ? "" : ");"}`),
	];
	if (lengthOf(pieces) > maxDocsBytes) return 414;
	if (callback !== null) tags.push(callback);
	if (rules.envelope) tags.push(open);
	return { etag: etagOfTags(tags), pieces, isIncomplete };
}

function inDrawingOrder({ target, lang, items }: Wanted, fragments: Fragments): string[] {
	const rankOf = (item: string) => (parseSmallkey(item) ? fragments(target, lang, item)?.rank : undefined);
	const ranked = items.map((item) => ({ item, rank: rankOf(item) ?? middleRank }));
	return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

/** The layer itself, from a fragment that wraps it in an envelope and an array of one. */
function layerIn(body: Uint8Array, envelope: Envelope | undefined): Uint8Array {
	return envelope ? body.subarray(envelope.open.length + 1, body.length - envelope.close.length - 1) : body;
}

function bodyOf(pieces: readonly Uint8Array[]): Reply["body"] {
	if (pieces.length === 1) return pieces[0] as Uint8Array;
	const length = lengthOf(pieces);
	if (length > maxJoinedBytes) return { length, [Symbol.iterator]: () => pieces.values() };
	const bytes = new Uint8Array(length);
	let offset = 0;
	for (const piece of pieces) {
		bytes.set(piece, offset);
		offset += piece.length;
	}
	return bytes;
}

function lengthOf(pieces: readonly Uint8Array[]): number {
	return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/**
 * Escapes U+2028 and U+2029 in UTF-8 JSON, since they end a line in JavaScript before ES2019. Returns the same array if
 * there are none.
 */
function escapeSeparators(json: Uint8Array): Uint8Array {
	if (!json.includes(0xe2)) return json;
	const text = new TextDecoder().decode(json);
	if (!/[\u2028\u2029]/.test(text)) return json;
	return encoder.encode(text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
}
