import { decodeSegment, type Lang, parseLang, parseSmallkey } from "../registry/smallkey.ts";
import { targetOf } from "../registry/targets/table.ts";
import type { Target, TargetName } from "../registry/targets/target.ts";

export interface WantedDoc {
	kind: "doc";
	/** Name of the target: `v0.9`. */
	target: TargetName;
	lang: Lang;
	smallkey: string;
	/** The JSONP callback; null where JSON is requested. */
	callback: string | null;
}

export interface WantedDocs {
	kind: "docs";
	target: TargetName;
	lang: Lang;
	/** As requested, decoded and trimmed; may be invalid smallkeys. */
	items: string[];
	/** The JSONP callback; null where JSON is requested. */
	callback: string | null;
	/** Whether lang and keys came in the query, which has an answer of its own (`queryDoor`). */
	isQuery: boolean;
	/** Whether the items are sorted by drawing order, where it is known. */
	isSorted: boolean;
}

export type Wanted = WantedDoc | WantedDocs;

export interface ReadSettings {
	basePath: string;
	/** Most distinct keys of one `docs`; more is 414. */
	docsMaxKeys: number;
	targets: readonly TargetName[];
	/** Whether the catalogue is served: its pages, index and changes; absent: no. */
	site?: boolean;
}

/** Most items of one `docs`, and its longest target in bytes. */
const maxItems = 1000;
const maxTargetLength = 16_000;

/** Dotted JavaScript identifiers of ASCII letters, digits, `_` and `$`. */
const callbackPattern = /^[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*$/;
const maxCallbackLength = 128;

/** A path at which layers are read. */
interface ReadPath {
	/** The text between the base path and the lang: `/v0.9/doc/`; the whole path of a `query`. */
	prefix: string;
	/** `either`: a comma distinguishes several layers. `query`: lang and keys are in the query. */
	kind: "doc" | "docs" | "either" | "query";
	target: Target;
}

const pathsOfTargets = new WeakMap<readonly TargetName[], readonly ReadPath[]>();

/** The paths of targets, longest first, since one may be a prefix of another. */
export function readPaths(names: readonly TargetName[]): readonly ReadPath[] {
	const known = pathsOfTargets.get(names);
	if (known) return known;
	const paths = names
		.map(targetOf)
		.flatMap((target) => [
			...[target, ...target.aliases].flatMap((place) => pathsOf(place, target)),
			...(target.queryDoor ? [{ prefix: `/${target.queryDoor.path}`, kind: "query" as const, target }] : []),
		]);
	paths.sort((a, b) => b.prefix.length - a.prefix.length);
	pathsOfTargets.set(names, paths);
	return paths;
}

function pathsOf({ doc, docs }: Pick<Target, "doc" | "docs">, target: Target): ReadPath[] {
	if (doc === docs) return [{ prefix: `/${doc}/`, kind: "either", target }];
	return [
		{ prefix: `/${doc}/`, kind: "doc", target },
		{ prefix: `/${docs}/`, kind: "docs", target },
	];
}

/** The parts of a read's target, still encoded. */
interface Parts {
	path: ReadPath;
	lang: string;
	keys: string;
	/** Without its `?`; empty where there is none. */
	query: string;
	isSorted: boolean;
}

/** Follows the keys where they are to be sorted. */
const sortEnd = "/sort";

/** Splits `<basePath><prefix><lang>/<keys>?<query>`; null where the target is not a read's. */
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

/** Splits `<path>?lang=<lang>&id=<keys>`, in any order and among other parameters; a missing one is empty. */
function splitQuery(path: ReadPath, query: string): Parts {
	return { path, lang: parameterOf(query, "lang"), keys: parameterOf(query, "id"), query, isSorted: false };
}

/** The last value of a query parameter, still encoded: `+` in a smallkey is no space, unlike in form data. */
function parameterOf(query: string, name: string): string {
	const found = query.split("&").findLast((part) => part.startsWith(`${name}=`));
	return found?.slice(name.length + 1) ?? "";
}

function findPath(target: string, start: number, paths: readonly ReadPath[]): ReadPath | null {
	for (const path of paths) if (target.startsWith(path.prefix, start)) return path;
	return null;
}

/**
 * Parses a request target: `<basePath>/v0.9/doc/<lang>/<smallkey>` or `…/docs/<lang>/<smallkey>{,<smallkey>}`.
 * The language is checked before the keys (specification, "Endpoints").
 * @returns the read, the status of its refusal, or null where the path is not a read's
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
	// Decoded once, then split: a comma may arrive as %2C. A key that cannot be decoded is kept as sent.
	const decoded = decodeSegment(keys);
	const items = decoded === null ? keys.split(",").map(decodeItem) : decoded.split(",");
	if (items.length > maxItems) return 414;
	const trimmed = items.map(trimSpaces);
	const isTooMany = items.length > settings.docsMaxKeys && smallkeysOf(trimmed).length > settings.docsMaxKeys;
	if (isTooMany) return 414;
	const target = path.target.name;
	return { kind: "docs", target, lang, items: trimmed, callback, isQuery: path.kind === "query", isSorted };
}

function decodeItem(item: string): string {
	return decodeSegment(item) ?? item;
}

/** Trims spaces, not other white space. A regular expression would take quadratic time for spaces inside. */
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

/** The last `callback` of a query string, or null; other parameters are ignored. */
function lastCallback(query: string): string | null {
	if (!query.includes("callback") && !query.includes("%")) return null;
	return new URLSearchParams(query).getAll("callback").at(-1) ?? null;
}

function smallkeysOf(items: string[]): string[] {
	return [...new Set(items.filter(parseSmallkey))];
}

/** The distinct smallkeys of a read, for engines that fetch the fragments. */
export function keysOf(wanted: Wanted): string[] {
	return wanted.kind === "doc" ? [wanted.smallkey] : smallkeysOf(wanted.items);
}
