import { decodeSegment, type Lang, parseLang, parseSmallkey } from "./smallkey.ts";

/** A fragment as it is sent. */
export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** Strong entity tag of the body, with its quotes (RFC 9110, section 8.8.3). */
	etag: string;
}

/** Where fragments are read from: one of a language and smallkey, or null. */
export type Fragments = (lang: Lang, smallkey: string) => Fragment | null;

/** An answer, to be written out as it is. `body` is what GET sends; its length is known for HEAD too. */
export interface Reply {
	status: number;
	headers: Record<string, string>;
	body: Uint8Array;
}

/** What a read asks for, before any fragment is looked up. */
export type Wanted =
	| { kind: "status"; status: 400 | 404 | 405 | 414 }
	| { kind: "doc"; lang: Lang; smallkey: string }
	| { kind: "docs"; lang: Lang; items: string[]; callback: string | null };

/** Bounds on one `docs` read. */
export interface ReadSettings {
	/** Prefix before every route. */
	basePath: string;
	/** Most different keys that one `docs` may look up; more is 414. */
	docsMaxKeys: number;
}

/** Most items that one `docs` may name, and the longest target in bytes. */
const mostItems = 1000;
const longestTarget = 16_000;

/** Dotted JavaScript identifiers of ASCII letters, digits, `_` and `$`. */
const callbackPattern = /^[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*$/;
const longestCallback = 128;

/** Cached a minute everywhere, and longer while it is fetched again or the origin is away (RFC 5861). */
export const readCaching = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400";
/** Short, so that no cache hides a layer that was just registered. */
const refusalCaching = "public, max-age=5";

const empty = new Uint8Array(0);
const encoder = new TextEncoder();

/** FNV-1a of 64 bits over `bytes` (RFC 9923), as an entity tag: 16 hex digits in quotes. */
export function etagOf(bytes: Uint8Array): string {
	// The 64-bit prime is 2^40 + 0x1b3; the state is kept in two halves of 32 bits.
	let high = 0xcbf29ce4;
	let low = 0x84222325;
	for (let index = 0; index < bytes.length; index += 1) {
		low = (low ^ (bytes[index] as number)) >>> 0;
		const product = low * 0x1b3;
		high = (Math.imul(high, 0x1b3) + (low << 8) + Math.floor(product / 0x1_0000_0000)) >>> 0;
		low = product >>> 0;
	}
	return `"${high.toString(16).padStart(8, "0")}${low.toString(16).padStart(8, "0")}"`;
}

/**
 * Reads a request target: `<basePath>/v0.9/doc/<lang>/<smallkey>` or `…/docs/<lang>/<smallkey>{,<smallkey>}`.
 * The language is checked before the keys (specification, "Endpoints").
 */
export function parseRead(method: string, target: string, settings: ReadSettings): Wanted {
	if (!target.startsWith(settings.basePath)) return { kind: "status", status: 404 };
	const question = target.indexOf("?");
	const path = target.slice(settings.basePath.length, question < 0 ? undefined : question);
	const [root, version, route, langText, keyText, ...rest] = path.split("/");
	const known = root === "" && version === "v0.9" && (route === "doc" || route === "docs");
	if (!known || langText === undefined || keyText === undefined || rest.length > 0) {
		return { kind: "status", status: 404 };
	}
	if (method !== "GET" && method !== "HEAD") return { kind: "status", status: 405 };
	const lang = parseLang(decodeSegment(langText) ?? "");
	if (!lang) return { kind: "status", status: 400 };
	if (route === "doc") return parseDoc(lang, keyText);
	if (target.length > longestTarget) return { kind: "status", status: 414 };
	return parseDocs(lang, keyText, question < 0 ? "" : target.slice(question + 1), settings);
}

function parseDoc(lang: Lang, keyText: string): Wanted {
	const smallkey = parseSmallkey(decodeSegment(keyText) ?? "");
	return smallkey ? { kind: "doc", lang, smallkey } : { kind: "status", status: 404 };
}

function parseDocs(lang: Lang, keyText: string, query: string, settings: ReadSettings): Wanted {
	const callback = lastCallback(query);
	if (callback !== null && !isCallback(callback)) return { kind: "status", status: 400 };
	// Decoded once, then split: a comma may arrive as %2C. What cannot be decoded is a key as it was sent.
	const decoded = decodeSegment(keyText);
	const items = decoded === null ? keyText.split(",").map(decodeItem) : decoded.split(",");
	if (items.length > mostItems) return { kind: "status", status: 414 };
	const trimmed = items.map((item) => item.replace(/^ +| +$/g, ""));
	if (new Set(trimmed.filter(parseSmallkey)).size > settings.docsMaxKeys) {
		return { kind: "status", status: 414 };
	}
	return { kind: "docs", lang, items: trimmed, callback };
}

function decodeItem(item: string): string {
	return decodeSegment(item) ?? item;
}

function isCallback(text: string): boolean {
	return text.length <= longestCallback && callbackPattern.test(text);
}

/** The last `callback` of a query string, or null; other parameters mean nothing here. */
function lastCallback(query: string): string | null {
	if (!query.includes("callback") && !query.includes("%")) return null;
	return new URLSearchParams(query).getAll("callback").at(-1) ?? null;
}

/** The different smallkeys that `wanted` looks up: what has to be fetched where fragments are not in memory. */
export function keysOf(wanted: Wanted): string[] {
	if (wanted.kind === "doc") return [wanted.smallkey];
	if (wanted.kind === "docs") return [...new Set(wanted.items.filter(parseSmallkey))];
	return [];
}

/**
 * Answers a read. Pure: the same answer on every engine.
 * @param ifNoneMatch the `If-None-Match` header, or null (RFC 9110, section 13.1.2)
 */
export function answerRead(wanted: Wanted, ifNoneMatch: string | null, fragments: Fragments): Reply {
	if (wanted.kind === "status") return refuseRead(wanted.status);
	if (wanted.kind === "docs") return answerDocs(wanted, ifNoneMatch, fragments);
	const fragment = fragments(wanted.lang, wanted.smallkey);
	return fragment ? answer(fragment, jsonType, ifNoneMatch) : refuseRead(404);
}

const jsonType = "application/json; charset=utf-8";
const scriptType = "application/javascript; charset=utf-8";

/** Headers of every fragment, however it is served; its `ETag` stands beside them. */
export const fragmentHeaders = {
	"Content-Type": jsonType,
	"Access-Control-Allow-Origin": "*",
	"Cache-Control": readCaching,
	"X-Content-Type-Options": "nosniff",
} as const;

function answer(fragment: Fragment, type: string, ifNoneMatch: string | null): Reply {
	const unchanged = ifNoneMatch !== null && matches(ifNoneMatch, fragment.etag);
	const headers = { ...fragmentHeaders, "Content-Type": type, ETag: fragment.etag };
	return unchanged ? { status: 304, headers, body: empty } : { status: 200, headers, body: fragment.body };
}

/** Weak comparison, as If-None-Match asks for: a cache that compressed the body has made the tag weak. */
function matches(ifNoneMatch: string, etag: string): boolean {
	if (ifNoneMatch.trim() === "*") return true;
	return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}

/** An answer without a body. */
export function refuseRead(status: number): Reply {
	const headers: Record<string, string> = {
		"Access-Control-Allow-Origin": "*",
		"Cache-Control": refusalCaching,
		"X-Content-Type-Options": "nosniff",
	};
	if (status === 405) headers.Allow = "GET, HEAD";
	return { status, headers, body: empty };
}

function answerDocs(
	wanted: Extract<Wanted, { kind: "docs" }>,
	ifNoneMatch: string | null,
	fragments: Fragments,
): Reply {
	const { lang, items, callback } = wanted;
	const parts: Uint8Array[] = [];
	let tags = callback ?? "";
	for (const item of items) {
		const fragment = parseSmallkey(item) ? fragments(lang, item) : null;
		parts.push(fragment ? fragment.body : encoder.encode(missing(item)));
		tags += fragment ? fragment.etag : missing(item);
	}
	const open = callback === null ? "[" : `/**/${callback}([`;
	const close = callback === null ? "]" : "]);";
	const body = callback === null ? join(open, parts, close) : join(open, parts.map(scriptSafe), close);
	// The tags of the parts stand for the parts: no body is hashed anew for each request.
	const etag = etagOf(encoder.encode(tags));
	return answer({ body, etag }, callback === null ? jsonType : scriptType, ifNoneMatch);
}

/** The missing-key fragment (specification, "Missing-key fragment"). */
function missing(item: string): string {
	return JSON.stringify({ error_code: 404, smallkey: item });
}

/** The parts between `open` and `close`, with commas: bytes are joined, never parsed. */
function join(open: string, parts: Uint8Array[], close: string): Uint8Array {
	const before = encoder.encode(open);
	const after = encoder.encode(close);
	let length = before.length + after.length + parts.length - 1;
	for (const part of parts) length += part.length;
	const joined = new Uint8Array(length);
	joined.set(before);
	let offset = before.length;
	for (const part of parts) {
		if (offset > before.length) joined[offset++] = 0x2c;
		joined.set(part, offset);
		offset += part.length;
	}
	joined.set(after, offset);
	return joined;
}

/** JSON as part of a script: U+2028 and U+2029 end a line in JavaScript before ES2019, so they are escaped. */
function scriptSafe(json: Uint8Array): Uint8Array {
	// In UTF-8 both start with E2 80.
	if (!json.includes(0xe2)) return json;
	const text = new TextDecoder().decode(json);
	return encoder.encode(text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
}
