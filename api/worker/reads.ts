import { handleRead } from "../app.ts";
import type { Context } from "../context.ts";
import { maxDocsBytes } from "../docs.ts";
import type { Fragment } from "../fragment.ts";
import { type Reply, refuseRead } from "../reply.ts";
import { keysOf, type Wanted } from "../wanted.ts";
import { type Bindings, fragmentsOf } from "./bindings.ts";

/** Most concurrent fetches of one request. */
const atOnce = 24;

/** Answers a read with fragments from the hosting. @throws {Error} where a binding is missing or fails */
export async function handleFetchedRead(
	wanted: Wanted,
	ifNoneMatch: string | null,
	bindings: Bindings,
	report: Context["report"],
): Promise<Reply> {
	const fetched = await fetchWanted(wanted, bindings);
	if (!fetched) return refuseRead(414);
	const find = (_target: unknown, _lang: unknown, smallkey: string) => fetched.get(smallkey) ?? null;
	return handleRead(wanted, ifNoneMatch, find, report);
}

/**
 * Fetches each distinct fragment of a read once, with bounded concurrency; null where they are larger than an answer may
 * be.
 */
async function fetchWanted(wanted: Wanted, bindings: Bindings): Promise<Map<string, Fragment | null> | null> {
	const fetched = new Map<string, Fragment | null>();
	const fetchFragment = fragmentsOf(bindings);
	const waiting = keysOf(wanted);
	let bytes = 0;
	const work = async () => {
		for (let key = waiting.pop(); key !== undefined && bytes <= maxDocsBytes; key = waiting.pop()) {
			const fragment = await fetchFragment(wanted.target, wanted.lang, key);
			bytes += fragment?.body.length ?? 0;
			fetched.set(key, fragment);
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, work));
	return bytes > maxDocsBytes ? null : fetched;
}
