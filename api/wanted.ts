import { decodeSegment, type Lang, parseLang, parseSmallkey } from "../registry/smallkey.ts";
import type { Envelope, Target, TargetName } from "../registry/targets/target.ts";
import { type ReadPath, readPaths } from "./targets.ts";

/** One fragment. */
export interface WantedDoc {
	kind: "doc";
	/** Name of the target: `v0.9`. */
	target: TargetName;
	lang: Lang;
	smallkey: string;
	/** The script's function, or null where JSON is asked for. */
	callback: string | null;
}

/** Several fragments. */
export interface WantedDocs {
	kind: "docs";
	target: TargetName;
	lang: Lang;
	/** As asked for, decoded and trimmed; not each has to be a smallkey. */
	items: string[];
	/** The script's function, or null where JSON is asked for. */
	callback: string | null;
	/** The element of an item that is not found among `count` items, as JSON; null where it is left out. */
	absent: Target["absent"];
	/** Whether a fragment is answered as if it were not found; null where none is. */
	isUnlisted: ((body: Uint8Array) => boolean) | null;
	/** What stands around the array; null where it is the whole answer. */
	envelope: Envelope | null;
	/** Whether the items are to be put in the order in which they are drawn, where what they are is known. */
	isSorted: boolean;
}

/** What a read asks for, before any fragment is looked up. */
export type Wanted = WantedDoc | WantedDocs;

/** Where reads are, and bounds on one `docs` read. */
export interface ReadSettings {
	/** Prefix before every route. */
	basePath: string;
	/** Most different keys that one `docs` may look up; more is 414. */
	docsMaxKeys: number;
	/** The forms that can be read. */
	targets: readonly TargetName[];
	/** Whether the catalogue is served: its pages, its index and what changed; not where it is left out. */
	site?: boolean;
}

/** Most items that one `docs` may name, and the longest target in bytes. */
const maxItems = 1000;
const maxTargetLength = 16_000;

/** Dotted JavaScript identifiers of ASCII letters, digits, `_` and `$`. */
const callbackPattern = /^[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*$/;
const maxCallbackLength = 128;

/** The parts of a read's target, still encoded. */
interface Parts {
	path: ReadPath;
	lang: string;
	keys: string;
	/** Without its `?`; empty where there is none. */
	query: string;
	isSorted: boolean;
}

/** What stands behind the keys where they are to be sorted. */
const sortEnd = "/sort";

/** `<basePath><prefix><lang>/<keys>?<query>`, or null where a target is no read's. */
function splitTarget(target: string, { basePath, targets }: ReadSettings): Parts | null {
	if (!target.startsWith(basePath)) return null;
	const path = findPath(target, basePath.length, readPaths(targets));
	if (!path) return null;
	const langStart = basePath.length + path.prefix.length;
	const question = target.indexOf("?");
	const end = question < 0 ? target.length : question;
	if (path.kind === "query") return langStart === end ? splitQuery(path, target.slice(end + 1)) : null;
	const langEnd = target.indexOf("/", langStart);
	if (langEnd < 0 || langEnd >= end) return null;
	const rest = target.slice(langEnd + 1, end);
	const isSorted = path.kind === "docs" && path.target.canSort === true && rest.endsWith(sortEnd);
	const keys = isSorted ? rest.slice(0, -sortEnd.length) : rest;
	if (keys.includes("/")) return null;
	return { path, lang: target.slice(langStart, langEnd), keys, query: target.slice(end + 1), isSorted };
}

/** `<path>?lang=<lang>&id=<keys>`, in any order and among others; what is not there is empty. */
function splitQuery(path: ReadPath, query: string): Parts {
	return { path, lang: parameterOf(query, "lang"), keys: parameterOf(query, "id"), query, isSorted: false };
}

/** A parameter of a query, still encoded: a smallkey's + is no space, as it would be in form data. The last counts. */
function parameterOf(query: string, name: string): string {
	const found = query.split("&").findLast((part) => part.startsWith(`${name}=`));
	return found?.slice(name.length + 1) ?? "";
}

function findPath(target: string, start: number, paths: readonly ReadPath[]): ReadPath | null {
	for (const path of paths) if (target.startsWith(path.prefix, start)) return path;
	return null;
}

/**
 * Reads a request target: `<basePath>/v0.9/doc/<lang>/<smallkey>` or `…/docs/<lang>/<smallkey>{,<smallkey>}`.
 * The language is checked before the keys (specification, "Endpoints").
 * @returns what is wanted, the status of its refusal, or null where the path is no read's
 */
export function parseRead(method: string, target: string, settings: ReadSettings): Wanted | number | null {
	const parts = splitTarget(target, settings);
	if (!parts) return null;
	if (method !== "GET" && method !== "HEAD") return 405;
	const lang = parseLang(decodeSegment(parts.lang) ?? "");
	if (!lang) return 400;
	if (isDocs(parts)) return target.length > maxTargetLength ? 414 : parseDocs(lang, parts, settings);
	const callback = lastCallback(parts.query);
	if (callback !== null && !isCallback(callback)) return 400;
	const smallkey = parseSmallkey(decodeSegment(parts.keys) ?? "");
	return smallkey ? { kind: "doc", target: parts.path.target.name, lang, smallkey, callback } : 404;
}

function isDocs({ path, keys }: Parts): boolean {
	if (path.kind === "either") return /,|%2c/i.test(keys);
	return path.kind !== "doc";
}

function parseDocs(
	lang: Lang,
	{ path, keys, query, isSorted }: Parts,
	settings: ReadSettings,
): Wanted | number {
	const callback = lastCallback(query);
	if (callback !== null && !isCallback(callback)) return 400;
	// Decoded once, then split: a comma may arrive as %2C. What cannot be decoded is a key as it was sent.
	const decoded = decodeSegment(keys);
	const items = decoded === null ? keys.split(",").map(decodeItem) : decoded.split(",");
	if (items.length > maxItems) return 414;
	const trimmed = items.map(trimSpaces);
	const isTooMany = items.length > settings.docsMaxKeys && smallkeysOf(trimmed).length > settings.docsMaxKeys;
	if (isTooMany) return 414;
	const { name, queryDoor, absent, isUnlisted = null, envelope = null } = path.target;
	const wanted = { kind: "docs" as const, target: name, lang, items: trimmed, callback, isSorted };
	return path.kind === "query" && queryDoor
		? { ...wanted, absent: leaveOut, isUnlisted: null, envelope: queryDoor.envelope(lang) }
		: { ...wanted, absent, isUnlisted, envelope };
}

function leaveOut(): null {
	return null;
}

function decodeItem(item: string): string {
	return decodeSegment(item) ?? item;
}

/** An item without the spaces around it. Not by a regular expression: spaces inside would cost their square. */
function trimSpaces(item: string): string {
	if (!item.includes(" ")) return item;
	let start = 0;
	let end = item.length;
	while (start < end && item.charCodeAt(start) === 0x20) start += 1;
	while (end > start && item.charCodeAt(end - 1) === 0x20) end -= 1;
	return item.slice(start, end);
}

function isCallback(text: string): boolean {
	return text.length <= maxCallbackLength && callbackPattern.test(text);
}

/** The last `callback` of a query string, or null; other parameters mean nothing here. */
function lastCallback(query: string): string | null {
	if (!query.includes("callback") && !query.includes("%")) return null;
	return new URLSearchParams(query).getAll("callback").at(-1) ?? null;
}

function smallkeysOf(items: string[]): string[] {
	return [...new Set(items.filter(parseSmallkey))];
}

/** The different smallkeys that `wanted` looks up: what has to be fetched where fragments are not in memory. */
export function keysOf(wanted: Wanted): string[] {
	return wanted.kind === "doc" ? [wanted.smallkey] : smallkeysOf(wanted.items);
}
