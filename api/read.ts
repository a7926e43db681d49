import { decodeSegment, type Lang, parseLang, parseSmallkey } from "../registry/smallkey.ts";

/** A fragment as it is sent. */
export interface Fragment {
	/** UTF-8 JSON. */
	body: Uint8Array;
	/** Strong entity tag of the body, with its quotes (RFC 9110, section 8.8.3). */
	etag: string;
}

/** Where fragments are read from: one of a target (`v0.9`), a language and a smallkey, or null. */
export type Fragments = (target: string, lang: Lang, smallkey: string) => Fragment | null;

/** Makes room for this many bytes; whatever is in it, all of it is written over. */
export type Allocate = (length: number) => Uint8Array;

/** An answer, to be written out as it is. `body` is what GET sends; its length is known for HEAD too. */
export interface Reply {
	status: number;
	headers: Record<string, string>;
	body: Uint8Array;
}

/** What a read asks for, before any fragment is looked up. */
export type Wanted =
	| { kind: "status"; status: 400 | 404 | 405 | 414 }
	| { kind: "doc"; target: string; lang: Lang; smallkey: string }
	| { kind: "docs"; target: string; lang: Lang; items: string[]; callback: string | null };

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
	// The 64-bit prime is 2^40 + 0x1b3. The state is kept in two halves of 32 bits, and the lower one is multiplied in
	// two of 16, so that every step stays in whole numbers of 32 bits.
	let high = 0xcbf29ce4;
	let low = 0x84222325;
	for (let index = 0; index < bytes.length; index += 1) {
		low ^= bytes[index] as number;
		const first = (low & 0xffff) * 0x1b3;
		const second = (low >>> 16) * 0x1b3 + (first >>> 16);
		high = (Math.imul(high, 0x1b3) + (low << 8) + (second >>> 16)) | 0;
		low = (second << 16) | (first & 0xffff);
	}
	return `"${hex(high)}${hex(low)}"`;
}

/** 32 bits as eight hex digits. */
function hex(bits: number): string {
	return (bits >>> 0).toString(16).padStart(8, "0");
}

/** The parts of a read's target, still encoded. */
interface Target {
	route: (typeof routes)[number];
	lang: string;
	keys: string;
	/** Without its `?`; empty where there is none. */
	query: string;
}

/** The one form in which layers are read now. */
const onlyTarget = "v0.9";

const routes = ["/v0.9/doc/", "/v0.9/docs/"] as const;

/** `<basePath><route><lang>/<keys>?<query>`, or null where a target is no read's. */
function splitTarget(target: string, basePath: string): Target | null {
	const route = routes.find((route) => target.startsWith(route, basePath.length));
	if (!route || !target.startsWith(basePath)) return null;
	const question = target.indexOf("?");
	const end = question < 0 ? target.length : question;
	const langStart = basePath.length + route.length;
	const langEnd = target.indexOf("/", langStart);
	if (langEnd < 0 || langEnd >= end) return null;
	const keys = target.slice(langEnd + 1, end);
	if (keys.includes("/")) return null;
	return { route, lang: target.slice(langStart, langEnd), keys, query: target.slice(end + 1) };
}

/**
 * Reads a request target: `<basePath>/v0.9/doc/<lang>/<smallkey>` or `…/docs/<lang>/<smallkey>{,<smallkey>}`.
 * The language is checked before the keys (specification, "Endpoints").
 */
export function parseRead(method: string, target: string, settings: ReadSettings): Wanted {
	const split = splitTarget(target, settings.basePath);
	if (!split) return { kind: "status", status: 404 };
	if (method !== "GET" && method !== "HEAD") return { kind: "status", status: 405 };
	const lang = parseLang(decodeSegment(split.lang) ?? "");
	if (!lang) return { kind: "status", status: 400 };
	if (split.route === "/v0.9/doc/") return parseDoc(lang, split.keys);
	if (target.length > longestTarget) return { kind: "status", status: 414 };
	return parseDocs(lang, split.keys, split.query, settings);
}

function parseDoc(lang: Lang, keyText: string): Wanted {
	const smallkey = parseSmallkey(decodeSegment(keyText) ?? "");
	return smallkey ? { kind: "doc", target: onlyTarget, lang, smallkey } : { kind: "status", status: 404 };
}

function parseDocs(lang: Lang, keyText: string, query: string, settings: ReadSettings): Wanted {
	const callback = lastCallback(query);
	if (callback !== null && !isCallback(callback)) return { kind: "status", status: 400 };
	// Decoded once, then split: a comma may arrive as %2C. What cannot be decoded is a key as it was sent.
	const decoded = decodeSegment(keyText);
	const items = decoded === null ? keyText.split(",").map(decodeItem) : decoded.split(",");
	if (items.length > mostItems) return { kind: "status", status: 414 };
	const wanted: Wanted = { kind: "docs", target: onlyTarget, lang, items: items.map(trimSpaces), callback };
	const tooMany = items.length > settings.docsMaxKeys && keysOf(wanted).length > settings.docsMaxKeys;
	return tooMany ? { kind: "status", status: 414 } : wanted;
}

function decodeItem(item: string): string {
	return decodeSegment(item) ?? item;
}

function trimSpaces(item: string): string {
	return item.includes(" ") ? item.replace(/^ +| +$/g, "") : item;
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
 * @param allocate where the body of a `docs` is put together; an engine may have cheaper room than a new array
 */
export function answerRead(
	wanted: Wanted,
	ifNoneMatch: string | null,
	fragments: Fragments,
	allocate: Allocate = (length) => new Uint8Array(length),
): Reply {
	if (wanted.kind === "status") return refuseRead(wanted.status);
	if (wanted.kind === "docs") return answerDocs(wanted, ifNoneMatch, fragments, allocate);
	const fragment = fragments(wanted.target, wanted.lang, wanted.smallkey);
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
	// Named one by one: copying `fragmentHeaders` for each request costs more than finding the fragment.
	const headers = {
		"Content-Type": type,
		"Access-Control-Allow-Origin": fragmentHeaders["Access-Control-Allow-Origin"],
		"Cache-Control": fragmentHeaders["Cache-Control"],
		"X-Content-Type-Options": fragmentHeaders["X-Content-Type-Options"],
		ETag: fragment.etag,
	};
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
	allocate: Allocate,
): Reply {
	const { target, lang, items, callback } = wanted;
	const parts: Uint8Array[] = [];
	const tags = callback === null ? [] : [callback];
	for (const item of items) {
		const fragment = parseSmallkey(item) ? fragments(target, lang, item) : null;
		const absent = fragment ? null : missing(item);
		parts.push(fragment ? fragment.body : encoder.encode(absent as string));
		tags.push(fragment ? fragment.etag : (absent as string));
	}
	const etag = etagOfTags(tags);
	if (callback === null)
		return answer({ body: join("[", parts, "]", allocate), etag }, jsonType, ifNoneMatch);
	const body = join(`/**/${callback}([`, parts.map(scriptSafe), "]);", allocate);
	return answer({ body, etag }, scriptType, ifNoneMatch);
}

/**
 * An entity tag of several parts, from their tags: no body is hashed anew for each request. FNV-1a and FNV-1 of 32 bits
 * (RFC 9923) side by side, over the texts' UTF-16 units.
 */
function etagOfTags(tags: string[]): string {
	let first = 0x811c9dc5;
	let second = 0xcbf29ce4;
	for (const tag of tags) {
		for (let index = 0; index < tag.length; index += 1) {
			const unit = tag.charCodeAt(index);
			first = Math.imul(first ^ unit, 0x01000193);
			second = Math.imul(second, 0x01000193) ^ unit;
		}
	}
	return `"${hex(first)}${hex(second)}"`;
}

/** The missing-key fragment (specification, "Missing-key fragment"). */
function missing(item: string): string {
	return JSON.stringify({ error_code: 404, smallkey: item });
}

/** The parts between `open` and `close`, both of ASCII, with commas: bytes are joined, never parsed. */
function join(open: string, parts: Uint8Array[], close: string, allocate: Allocate): Uint8Array {
	let length = open.length + close.length + parts.length - 1;
	for (const part of parts) length += part.length;
	const joined = allocate(length);
	let offset = putAscii(joined, 0, open);
	let isFirst = true;
	for (const part of parts) {
		if (!isFirst) joined[offset++] = 0x2c;
		isFirst = false;
		joined.set(part, offset);
		offset += part.length;
	}
	putAscii(joined, offset, close);
	return joined;
}

/** Writes a short text of ASCII and returns where it ends; for a few characters an encoder costs more. */
function putAscii(bytes: Uint8Array, start: number, text: string): number {
	for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index);
	return start + text.length;
}

/** JSON as part of a script: U+2028 and U+2029 end a line in JavaScript before ES2019, so they are escaped. */
function scriptSafe(json: Uint8Array): Uint8Array {
	// In UTF-8 both start with E2 80.
	if (!json.includes(0xe2)) return json;
	const text = new TextDecoder().decode(json);
	return encoder.encode(text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029"));
}
