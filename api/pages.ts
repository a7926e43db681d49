import { contentPolicy } from "../registry/content-policy.ts";
import { targets } from "../registry/targets/table.ts";
import type { Target } from "../registry/targets/target.ts";
import { etagOf, matchesEtag } from "./etag.ts";
import { emptyBody, exposedHeaders, fragmentHeaders, type Reply, readCaching, refuseRead } from "./reply.ts";

/**
 * The use of a path's first segment: `reads` and `writes` of layers, `operation` of the service, files of the catalogue
 * for `machines` and for `people`; `kept` is reserved for other versions.
 */
export type SegmentUse = "reads" | "writes" | "operation" | "machines" | "people" | "kept";

/**
 * All first segments in use. No route, page or file of another use may begin with one of them.
 */
export const reservedSegments: ReadonlyMap<string, SegmentUse> = new Map([
	...every("reads", ...targets.flatMap(firstSegments)),
	...every("writes", "register"),
	...every("operation", "healthz", "readyz"),
	...every("machines", "index", "changes", "schemas"),
	...every("people", "en", "fr", "list", "guide", "assets", "site.json"),
	...every("kept", "status"),
]);

/** The first segments of a target's paths. */
function firstSegments({ doc, docs, aliases, queryDoor }: Target): string[] {
	const paths = [
		doc,
		docs,
		...aliases.flatMap((one) => [one.doc, one.docs]),
		...(queryDoor ? [queryDoor.path] : []),
	];
	return paths.map((path) => path.split("/", 1)[0] as string);
}

function every(use: SegmentUse, ...segments: string[]): [string, SegmentUse][] {
	return segments.map((segment) => [segment, use]);
}

/** Folders of the catalogue, without the slash at the end, which their relative links need. */
const folders: ReadonlySet<string> = new Set(["en", "fr", "list", "guide", "guide/fr", "schemas"]);

/** A relative path of at most 200 characters, of plain names that do not begin with a dot. */
const filePath = /^(?=.{1,200}$)(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** A file of the catalogue, or a redirect to a folder with its missing slash. */
export type PageRoute = { kind: "page"; file: string } | { kind: "moved"; location: string };

/** The file of the catalogue at a request target; null where the path is not the catalogue's. */
export function parsePage(target: string, basePath: string): PageRoute | null {
	if (!target.startsWith(basePath)) return null;
	const end = target.indexOf("?") < 0 ? target.length : target.indexOf("?");
	const [path, query] = [target.slice(basePath.length, end), target.slice(end)];
	if (path === "") return { kind: "moved", location: `${basePath}/${query}` };
	if (path === "/") return { kind: "page", file: "index.html" };
	const below = path.slice(1);
	const use = path.startsWith("/") ? reservedSegments.get(below.split("/", 1)[0] ?? "") : undefined;
	if (use !== "machines" && use !== "people") return null;
	if (folders.has(below)) return { kind: "moved", location: `${basePath}${path}/${query}` };
	const file = below.endsWith("/") ? `${below}index.html` : below;
	return filePath.test(file) ? { kind: "page", file } : null;
}

/** Redirects to a folder of the catalogue. */
export function answerMoved(location: string): Reply {
	return { status: 301, headers: { Location: location, "Cache-Control": "no-cache" }, body: emptyBody };
}

/**
 * GET <base>/, /en/, /index/index.json and all other files of the catalogue
 * @param bytes the file as sent; null where there is none
 */
export function answerPage(
	file: string,
	bytes: Uint8Array | null,
	{ ifNoneMatch, isSecure, etag, headers: more }: PageRequest,
): Reply {
	if (!bytes) return refuseRead(404);
	const headers = { ...pageHeaders(file, isSecure), ...more, ETag: etag ?? etagOf(bytes) };
	const isUnchanged = ifNoneMatch !== null && matchesEtag(ifNoneMatch, headers.ETag);
	return isUnchanged ? { status: 304, headers, body: emptyBody } : { status: 200, headers, body: bytes };
}

/** What an answer depends on beside the file. */
export interface PageRequest {
	/** The `If-None-Match` header, or null. */
	ifNoneMatch: string | null;
	/** Whether the catalogue is served over https only. */
	isSecure: boolean;
	/** The hosting's tag of the file, if any. */
	etag?: string;
	/** Headers of these bytes, such as their coding. */
	headers?: Record<string, string>;
}

/** The `Content-Type` of the catalogue's files, by their ending. */
export const pageTypes: Readonly<Record<string, string>> = {
	html: "text/html; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	css: "text/css; charset=utf-8",
	svg: "image/svg+xml",
	xml: "application/atom+xml; charset=utf-8",
	json: fragmentHeaders["Content-Type"],
};

const nosniff = { "X-Content-Type-Options": "nosniff" };

/** Headers of a page for people. @param isSecure whether it is served over https only */
export function documentHeaders(isSecure: boolean): Record<string, string> {
	return {
		"Cache-Control": "no-cache",
		"Content-Security-Policy": `${contentPolicy(isSecure)}; frame-ancestors 'none'`,
		"Referrer-Policy": "strict-origin-when-cross-origin",
		...nosniff,
	};
}

/** Headers of files whose names contain a hash of their content. */
export const assetHeaders = { "Cache-Control": "public, max-age=31536000, immutable", ...nosniff };

/** Headers of files for machines: those of a fragment, each with its own type. */
export const machineHeaders = {
	"Access-Control-Allow-Origin": "*",
	"Access-Control-Expose-Headers": exposedHeaders,
	"Cache-Control": readCaching,
	...nosniff,
};

/** Headers of `site.json`, the operator's settings of the page. */
export const settingsHeaders = { "Cache-Control": "no-cache", ...nosniff };

/** Headers of any file of the catalogue. @param isSecure whether it is served over https only */
export function pageHeaders(file: string, isSecure: boolean): Record<string, string> {
	const type = {
		"Content-Type": pageTypes[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream",
	};
	if (file.endsWith(".html")) return { ...type, ...documentHeaders(isSecure) };
	if (file.startsWith("assets/")) return { ...type, ...assetHeaders };
	if (file === "site.json") return { ...type, ...settingsHeaders };
	return { ...type, ...machineHeaders };
}
