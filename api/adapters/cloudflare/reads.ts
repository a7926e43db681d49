import pMap from "p-map";
import {
	answerRead,
	type Fragment,
	keysOf,
	parseRead,
	type ReadSettings,
	type Reply,
	type Wanted,
} from "../../read.ts";
import { type Bindings, fragmentsOf } from "./bindings.ts";

/** Most fragments that one request fetches at the same time. */
const atOnce = 24;

/** Answers a read from the hosting's files. @throws {Error} where a binding is missing or fails */
export async function handleRead(
	request: Request,
	target: string,
	bindings: Bindings,
	settings: ReadSettings,
): Promise<Response> {
	const wanted = parseRead(request.method, target, settings);
	const fetched = await fetchWanted(wanted, bindings);
	const find = (_target: unknown, _lang: unknown, smallkey: string) => fetched.get(smallkey) ?? null;
	return toResponse(answerRead(wanted, request.headers.get("If-None-Match"), find));
}

/** Each different fragment that is wanted, fetched once, a bounded number at a time. */
async function fetchWanted(wanted: Wanted, bindings: Bindings): Promise<Map<string, Fragment | null>> {
	const fetched = new Map<string, Fragment | null>();
	if (wanted.kind === "status") return fetched;
	const fetchFragment = fragmentsOf(bindings);
	const fetchKey = async (key: string) => fetched.set(key, await fetchFragment(wanted.lang, key));
	await pMap(keysOf(wanted), fetchKey, { concurrency: atOnce });
	return fetched;
}

/** A reply as a Response; the engine leaves the body out for HEAD. */
export function toResponse({ status, headers, body }: Reply): Response {
	return new Response(body.length > 0 ? (body as Uint8Array<ArrayBuffer>) : null, { status, headers });
}
