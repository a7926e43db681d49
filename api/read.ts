import pMap from "p-map";
import { middleRank } from "../registry/description.ts";
import { parseSmallkey } from "../registry/smallkey.ts";
import type { Envelope, Fragment, ReadFragment } from "../registry/targets/facts.ts";
import { targetOf } from "../registry/targets/table.ts";
import { concat, etagOf } from "../store/hashes.ts";
import type { ReadRequest } from "./read-request.ts";
import { answerTagged, fragmentHeaders, type Reply, refusalCaching, refuseRead } from "./reply.ts";

const maxDocsBytes = 32_000_000;

const scriptType = "application/javascript; charset=utf-8";

const encoder = new TextEncoder();
const comma = encoder.encode(",");

const maxConcurrent = 24;

type Fragments = readonly (Fragment | null)[];

export async function answerRead(
	request: ReadRequest,
	ifNoneMatch: string | null,
	readFragment: ReadFragment,
): Promise<Reply> {
	const { callback, items } = request;
	const folder = `${targetOf(request.target).doc}/${request.lang}`;
	const isDoc = request.kind === "doc";
	const fragments = isDoc
		? [await readFragment(folder, items[0] as string)]
		: await readAll(items, (smallkey) => readFragment(folder, smallkey));
	if (!fragments) return refuseRead(414);
	const [first] = fragments;
	if (isDoc && !first) return refuseRead(404);
	const { etag, json } = isDoc && first ? docOf(first, callback) : listOf(request, fragments);
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
	return answerTagged(headers, ifNoneMatch, () => (callback === null ? json() : scriptOf(json(), callback)));
}

/** Null if the answer would be too large. */
async function readAll(
	items: readonly string[],
	readFragment: (smallkey: string) => ReturnType<ReadFragment>,
): Promise<Fragments | null> {
	const readings = new Map<string, ReturnType<ReadFragment>>();
	let bytes = 0;
	const read = async (item: string) => {
		if (bytes > maxDocsBytes || !parseSmallkey(item)) return null;
		const reading = readings.get(item) ?? readFragment(item);
		readings.set(item, reading);
		const fragment = await reading;
		bytes += fragment?.body.length ?? 0;
		return fragment;
	};
	const fragments = await pMap(items, read, { concurrency: maxConcurrent });
	return bytes > maxDocsBytes ? null : fragments;
}

function docOf({ body, etag }: Fragment, callback: string | null) {
	return { json: () => body, etag: callback === null ? etag : etagOfTags([etag, callback]) };
}

function listOf(request: ReadRequest, fragments: Fragments) {
	const { target, lang, callback, isQuery } = request;
	const { envelope, absent, isUnlisted, queryDoor } = targetOf(target);
	const rules =
		isQuery && queryDoor
			? { envelope: queryDoor.envelope(lang), absent: () => null }
			: { envelope, absent, isUnlisted };
	const { open, close } = rules.envelope ?? { open: "", close: "" };
	const pieces: Uint8Array[] = [encoder.encode(`${open}[`)];
	const tags: string[] = [];
	for (const index of request.isSorted ? inDrawingOrder(fragments) : request.items.keys()) {
		const stored = fragments[index] ?? null;
		const fragment = stored && rules.isUnlisted?.(stored.body) ? null : stored;
		const missing = fragment ? "" : rules.absent(request.items[index] as string, request.items.length);
		if (missing === null) continue;
		if (tags.length > 0) pieces.push(comma);
		pieces.push(fragment ? layerIn(fragment.body, envelope) : encoder.encode(missing));
		tags.push(fragment ? fragment.etag : missing);
	}
	pieces.push(encoder.encode(`]${close}`));
	if (callback !== null) tags.push(callback);
	if (rules.envelope) tags.push(open);
	return { json: () => concat(pieces), etag: etagOfTags(tags) };
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

/** U+2028 and U+2029 end a line in JavaScript before ES2019. */
function scriptOf(json: Uint8Array, callback: string): Uint8Array {
	const text = new TextDecoder().decode(json).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
	return encoder.encode(`/**/${callback}(${text});`);
}
