import pMap from "p-map";
import { middleRank } from "../registry/description.ts";
import { parseSmallkey } from "../registry/smallkey.ts";
import type { Envelope, Fragment, ReadFragment } from "../registry/targets/facts.ts";
import { targetOf } from "../registry/targets/table.ts";
import { etagOf } from "../store/hashes.ts";
import { type ReadRequest, smallkeysOf } from "./read-request.ts";
import { answerTagged, fragmentHeaders, type Reply, refusalCaching, refuseRead } from "./reply.ts";

const maxDocsBytes = 32_000_000;

const scriptType = "application/javascript; charset=utf-8";

const encoder = new TextEncoder();
const comma = encoder.encode(",");

const maxConcurrent = 24;

type Fragments = readonly (Fragment | null)[];

/** No promise if all fragments are in memory. */
export function answerRead(
	request: ReadRequest,
	ifNoneMatch: string | null,
	readFragment: ReadFragment,
): Reply | Promise<Reply> {
	const folder = `${targetOf(request.target).doc}/${request.lang}`;
	const fragments: (Fragment | null)[] = [];
	for (const item of request.items) {
		const fragment = parseSmallkey(item) ? readFragment(folder, item) : null;
		if (fragment instanceof Promise) {
			const read = (smallkey: string) => (smallkey === item ? fragment : readFragment(folder, smallkey));
			return readAll(request.items, read).then((all) => replyWith(request, all, ifNoneMatch));
		}
		fragments.push(fragment);
	}
	return replyWith(request, fragments, ifNoneMatch);
}

/** Null if the answer would be too large. */
async function readAll(
	items: readonly string[],
	readFragment: (smallkey: string) => ReturnType<ReadFragment>,
): Promise<Fragments | null> {
	const fragments = new Map<string, Fragment | null>();
	let bytes = 0;
	const read = async (smallkey: string) => {
		if (bytes > maxDocsBytes) return;
		const fragment = await readFragment(smallkey);
		bytes += fragment?.body.length ?? 0;
		fragments.set(smallkey, fragment);
	};
	await pMap(smallkeysOf(items), read, { concurrency: maxConcurrent });
	return bytes > maxDocsBytes ? null : items.map((item) => fragments.get(item) ?? null);
}

function replyWith(request: ReadRequest, fragments: Fragments | null, ifNoneMatch: string | null): Reply {
	if (!fragments) return refuseRead(414);
	const { callback } = request;
	const isDoc = request.kind === "doc";
	const [first] = fragments;
	if (isDoc && !first) return refuseRead(404);
	const { etag, json } = isDoc && first ? docOf(first, callback) : listOf(request, fragments);
	const pieces =
		callback === null
			? json
			: [encoder.encode(`/**/${callback}(`), ...json.map(escapeSeparators), encoder.encode(");")];
	const length = lengthOf(pieces);
	if (length > maxDocsBytes) return refuseRead(414);
	// No cache may hide a new layer.
	const isIncomplete = fragments.includes(null);
	// A copy of `fragmentHeaders` takes longer than finding the fragment (row `doc` of `npm run bench`).
	const headers = {
		"Content-Type": callback === null ? fragmentHeaders["Content-Type"] : scriptType,
		"Access-Control-Allow-Origin": fragmentHeaders["Access-Control-Allow-Origin"],
		"Access-Control-Expose-Headers": fragmentHeaders["Access-Control-Expose-Headers"],
		"Cache-Control": isIncomplete ? refusalCaching : fragmentHeaders["Cache-Control"],
		"X-Content-Type-Options": fragmentHeaders["X-Content-Type-Options"],
		ETag: etag,
	};
	return answerTagged(headers, ifNoneMatch, () =>
		pieces.length > 1 ? { length, [Symbol.iterator]: () => pieces.values() } : (pieces[0] as Uint8Array),
	);
}

function docOf({ body, etag }: Fragment, callback: string | null) {
	return { json: [body], etag: callback === null ? etag : etagOfTags([etag, callback]) };
}

function listOf(request: ReadRequest, fragments: Fragments) {
	const { target, lang, callback, isQuery } = request;
	const { envelope, absent, isUnlisted, queryDoor } = targetOf(target);
	const rules =
		isQuery && queryDoor
			? { envelope: queryDoor.envelope(lang), absent: () => null }
			: { envelope, absent, isUnlisted };
	const { open, close } = rules.envelope ?? { open: "", close: "" };
	const json: Uint8Array[] = [encoder.encode(`${open}[`)];
	const tags: string[] = [];
	for (const index of request.isSorted ? inDrawingOrder(fragments) : request.items.keys()) {
		const stored = fragments[index] ?? null;
		const fragment = stored && rules.isUnlisted?.(stored.body) ? null : stored;
		const missing = fragment ? "" : rules.absent(request.items[index] as string, request.items.length);
		if (missing === null) continue;
		if (tags.length > 0) json.push(comma);
		json.push(fragment ? layerIn(fragment.body, envelope) : encoder.encode(missing));
		tags.push(fragment ? fragment.etag : missing);
	}
	json.push(encoder.encode(`]${close}`));
	if (callback !== null) tags.push(callback);
	if (rules.envelope) tags.push(open);
	return { etag: etagOfTags(tags), json };
}

/** Avoids hashing bodies. */
function etagOfTags(tags: readonly string[]): string {
	return etagOf(encoder.encode(tags.join("\n")));
}

function inDrawingOrder(fragments: Fragments): number[] {
	const ranked = fragments.map((fragment, index) => ({ index, rank: fragment?.rank ?? middleRank }));
	return ranked.sort((a, b) => a.rank - b.rank).map(({ index }) => index);
}

function layerIn(body: Uint8Array, envelope: Envelope | undefined): Uint8Array {
	return envelope ? body.subarray(envelope.open.length + 1, body.length - envelope.close.length - 1) : body;
}

function lengthOf(pieces: readonly Uint8Array[]): number {
	let length = 0;
	for (const piece of pieces) length += piece.length;
	return length;
}

/** U+2028 and U+2029 end a line in JavaScript before ES2019. */
function escapeSeparators(json: Uint8Array): Uint8Array {
	if (!json.includes(0xe2)) return json;
	const text = new TextDecoder().decode(json);
	if (!/[\u2028\u2029]/.test(text)) return json;
	return encoder.encode(text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
}
