import { decodeSegment, parseLang, parseSmallkey } from "../registry/smallkey.ts";
import type { Target, TargetName } from "../registry/targets/facts.ts";
import { targetOf } from "../registry/targets/table.ts";

export type ReadRequest = Exclude<ReturnType<typeof parseRead>, number | null>;

export interface ReadSettings {
	basePath: string;
	/** A request with more smallkeys gets 414. */
	docsMaxKeys: number;
	targets: readonly TargetName[];
	site?: boolean;
}

export const maxItems = 1000;
const maxTargetLength = 16_000;

const callbackPattern = /^[A-Za-z_$][A-Za-z0-9_$]*(?:\.[A-Za-z_$][A-Za-z0-9_$]*)*$/;
const maxCallbackLength = 128;

interface ReadPath {
	/** Such as `/v0.9/doc/`; the whole path if `kind` is `query`. */
	prefix: string;
	/** `either`: several layers if the keys have a comma. `query`: lang and keys are parameters. */
	kind: "doc" | "docs" | "either" | "query";
	target: Target;
}

const pathsOfTargets = new WeakMap<readonly TargetName[], readonly ReadPath[]>();

export function readPaths(names: readonly TargetName[]): readonly ReadPath[] {
	const cached = pathsOfTargets.get(names);
	if (cached) return cached;
	const paths: ReadPath[] = [];
	for (const target of names.map(targetOf)) {
		for (const { doc, docs } of [target, ...target.aliases]) {
			paths.push({ prefix: `/${doc}/`, kind: doc === docs ? "either" : "doc", target });
			if (doc !== docs) paths.push({ prefix: `/${docs}/`, kind: "docs", target });
		}
		if (target.queryDoor) paths.push({ prefix: `/${target.queryDoor.path}`, kind: "query", target });
	}
	paths.sort((a, b) => b.prefix.length - a.prefix.length);
	pathsOfTargets.set(names, paths);
	return paths;
}

/** Still encoded: in a smallkey `+` is not a space. */
function parameterOf(query: string, name: string): string {
	const match = query.split("&").findLast((part) => part.startsWith(`${name}=`));
	return match?.slice(name.length + 1) ?? "";
}

/**
 * `<basePath><prefix><lang>/<keys>[/sort]?<query>`, or `<basePath><path>?lang=<lang>&id=<keys>`. The language
 * is checked first (RCS specification, "Endpoints").
 * @returns the read, the status of its refusal, or null for another path
 */
export function parseRead(target: string, { basePath, targets, docsMaxKeys }: ReadSettings) {
	if (!target.startsWith(basePath)) return null;
	const path = readPaths(targets).find(({ prefix }) => target.startsWith(prefix, basePath.length));
	if (!path) return null;
	const end = target.includes("?") ? target.indexOf("?") : target.length;
	const query = target.slice(end + 1);
	const tail = target.slice(basePath.length + path.prefix.length, end);
	const isQuery = path.kind === "query";
	const [langText = "", keys, ...suffix] = isQuery
		? [parameterOf(query, "lang"), parameterOf(query, "id")]
		: tail.split("/", 4);
	const isSorted = path.kind === "docs" && path.target.canSort === true && suffix[0] === "sort";
	if (keys === undefined || suffix.length !== (isSorted ? 1 : 0) || (isQuery && tail !== "")) return null;
	const lang = parseLang(decodeSegment(langText) ?? "");
	if (!lang) return 400;
	const isDocs = path.kind === "either" ? /,|%2c/i.test(keys) : path.kind !== "doc";
	if (isDocs && target.length > maxTargetLength) return 414;
	const callback = lastCallback(query);
	if (callback !== null && (callback.length > maxCallbackLength || !callbackPattern.test(callback)))
		return 400;
	const common = { target: path.target.name, lang, callback, isQuery, isSorted };
	if (!isDocs) {
		const smallkey = parseSmallkey(decodeSegment(keys) ?? "");
		return smallkey ? { kind: "doc" as const, ...common, items: [smallkey] } : 404;
	}
	// A key that cannot be decoded is kept as sent.
	const texts = decodeSegment(keys)?.split(",") ?? keys.split(",").map((item) => decodeSegment(item) ?? item);
	if (texts.length > maxItems) return 414;
	const items = texts.map(trimSpaces);
	const isOver = items.length > docsMaxKeys && new Set(items.filter(parseSmallkey)).size > docsMaxKeys;
	return isOver ? 414 : { kind: "docs" as const, ...common, items };
}

/** At both ends. The lookbehind keeps the time linear. */
function trimSpaces(item: string): string {
	return item.includes(" ") ? item.replace(/^ +|(?<! ) +$/g, "") : item;
}

function lastCallback(query: string): string | null {
	if (!query.includes("callback") && !query.includes("%")) return null;
	return new URLSearchParams(query).getAll("callback").at(-1) ?? null;
}
