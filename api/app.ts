import { StoreBusy } from "../store/store.ts";
import { answerWrite } from "./answer-write.ts";
import type { Context } from "./context.ts";
import type { Allocate } from "./docs.ts";
import type { Fragments } from "./fragment.ts";
import { answerErrorPage, type PageRoute, parsePage, siteRootOf } from "./pages.ts";
import { answerRead, fragmentHeaders } from "./read.ts";
import { plainText, type Reply, refuseLimited, refuseRead, refuseWrite } from "./reply.ts";
import { version } from "./version.ts";
import { parseRead, type ReadSettings, type Wanted } from "./wanted.ts";
import { judgeUnread, type Write } from "./write.ts";
import { actionsAt, isForWrites, type WriteAction } from "./write-routes.ts";

/** A request that its method and target alone refuse: a read without a body, a write with its errors. */
export interface Refused {
	kind: "refused";
	status: number;
	/** Null for a read. */
	errors: string[] | null;
	/** From the address to the site's root, where a page may have been meant. */
	root?: string;
	/** The methods that a write's path knows, where this is another one. */
	allow?: string;
}

/** Whom a request is for. */
export type Route =
	| Wanted
	| { kind: "write"; action: WriteAction }
	| { kind: "version" }
	| { kind: "healthz" }
	| { kind: "readyz" }
	| { kind: "preflight" }
	| PageRoute
	| { kind: "status"; segment: string }
	| Refused;

/**
 * The only routing, on every engine.
 * @param target the request target as it arrived: what is signed is this text, not what a URL parser makes of it
 */
export function routeOf(method: string, target: string, settings: ReadSettings): Route {
	// Reads first: they are nearly all of the requests, and no target is both a read's and a write's.
	const read = parseRead(method, target, settings);
	// Whatever a page wants to send along: a preflight asks for the path only (Fetch Standard, "CORS-preflight fetch").
	if (read === 405 && method === "OPTIONS") return { kind: "preflight" };
	if (typeof read === "number") return { kind: "refused", status: read, errors: null };
	return read ?? routeOther(method, target, settings);
}

/** Paths that are answered by themselves. */
const pages: ReadonlyMap<string, "healthz" | "readyz" | "version"> = new Map([
	["/healthz", "healthz"],
	["/readyz", "readyz"],
	["/v2/version/", "version"],
	["/v2/version", "version"],
]);

/** One path segment, whatever it holds, and any query. */
const statusPath = /^\/status\/([^/?]*)(?:\?.*)?$/;

function routeStatus(method: string, segment: string): Route {
	if (isRead(method)) return { kind: "status", segment };
	return method === "OPTIONS" ? { kind: "preflight" } : { kind: "refused", status: 405, errors: null };
}

function isRead(method: string): boolean {
	return method === "GET" || method === "HEAD";
}

function routeOther(method: string, target: string, { basePath, targets, site }: ReadSettings): Route {
	const path = target.startsWith(basePath) ? target.slice(basePath.length) : "";
	const page = pages.get(path);
	if (page === "version" && !targets.includes("v2")) return { kind: "refused", status: 404, errors: null };
	if (page) return isRead(method) ? { kind: page } : { kind: "refused", status: 405, errors: null };
	const status = statusPath.exec(path);
	if (status) return routeStatus(method, status[1] ?? "");
	// Another PUT or DELETE is refused as a write, too, with its reason.
	if (isForWrites(method, path)) return routeWrite(method, target, basePath);
	const found = site ? parsePage(target, basePath) : null;
	if (!found) {
		const isPage = site && isRead(method) && target.startsWith(`${basePath}/`);
		return {
			kind: "refused",
			status: 404,
			errors: null,
			...(isPage && { root: siteRootOf(target, basePath) }),
		};
	}
	return isRead(method) ? found : { kind: "refused", status: 405, errors: null };
}

/** Longer than any path of a write: a smallkey has at most 64 characters, each of them three when it is encoded. */
const maxWritePathLength = 256;

/**
 * A path that a URL parser leaves as it is (WHATWG URL Standard, "path percent-encode set"): one `/` at the start, no
 * segment `.` or `..` in any spelling, and no character that would be encoded or read as a `/`. A parser itself would
 * take `//name/` as a host, and converting a long host name takes a tenth of a second.
 */
const literalPath = /^(?!\/\/)(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[\w!$%&'()*+,.:;=@[\]|~-]*)+$/i;

function routeWrite(method: string, target: string, basePath: string): Route {
	if (target.includes("?")) return refused(400, "path: a write must have no query");
	if (target.length > basePath.length + maxWritePathLength) {
		return refused(400, `path: must have at most ${maxWritePathLength} characters after the base path`);
	}
	if (!literalPath.test(target)) {
		return refused(400, "path: must start with one / and hold nothing that a URL parser would change");
	}
	const path = target.startsWith(basePath) ? target.slice(basePath.length) : "";
	const actions = actionsAt(path);
	if (actions.size === 0) return refused(404, `path: must be ${basePath}/register/<smallkey>`);
	const action = actions.get(method);
	if (action) return { kind: "write", action };
	const methods = [...actions.keys()];
	const error = `method: must be ${methods.toReversed().join(" or ")}, not ${method}`;
	return { ...refused(405, error), allow: methods.join(", ") };
}

function refused(status: number, error: string): Refused {
	return { kind: "refused", status, errors: [error] };
}

/** The answer to a request that its route refuses. */
export function answerRefused({ status, errors, allow, root }: Refused): Reply {
	if (root !== undefined) return answerErrorPage(status === 400 ? "badRequest" : "notFound", status, root);
	if (errors === null) return refuseRead(status);
	if (allow !== undefined) return refuseWrite(status, errors, { Allow: allow });
	return refuseWrite(status, errors, {}, "path");
}

/**
 * GET <base>/readyz
 * @param problem why not all is well, in one line; null where it is
 */
export function answerHealth(problem: string | null): Reply {
	return problem === null ? plainText(200, "ok") : plainText(503, problem.replace(/\s+/g, " ").slice(0, 500));
}

/**
 * GET <base>/healthz: with the version that runs
 * @param problem why nothing is served, in one line; null where it is
 */
export function answerHealthz(problem: string | null): Reply {
	return problem === null ? plainText(200, `ok ${version}`) : answerHealth(problem);
}

/** GET <base>/v2/version/: as the older service does, a list. */
export function answerVersion(): Reply {
	const headers = { ...fragmentHeaders, "Cache-Control": "no-store" };
	return { status: 200, headers, body: new TextEncoder().encode(JSON.stringify([version])) };
}

/** Answers a read. A fragment that cannot be read is a 500. */
export function handleRead(
	wanted: Wanted,
	ifNoneMatch: string | null,
	fragments: Fragments,
	report: Context["report"],
	allocate?: Allocate,
): Reply {
	try {
		return answerRead(wanted, ifNoneMatch, fragments, allocate);
	} catch (error) {
		return answerFailure(error, "read", report);
	}
}

/**
 * The answer to a write of an address that writes too much; null where it may go on. Asked before the body is read.
 * @param address null: it is not limited
 */
export async function refuseTooMany(address: string | null, context: Context): Promise<Reply | null> {
	const waitSeconds = address === null ? 0 : ((await context.limiter?.address(address)) ?? 0);
	return waitSeconds > 0 ? refuseLimited("address", waitSeconds) : null;
}

/** The answer to a write whose signature the time or its shape refuses; null where its body has to tell. */
export function refuseUnsigned(write: Omit<Write, "body">, context: Context): Reply | null {
	const refusal = judgeUnread(write, context, context.now());
	return refusal && refuseWrite(refusal.status, refusal.errors, {}, refusal.reason);
}

/** Answers a write. */
export async function handleWrite(write: Write, context: Context): Promise<Reply> {
	try {
		return await answerWrite(write, context);
	} catch (error) {
		return answerFailure(error, "write", context.report);
	}
}

/** The answer where the world is broken: never a stack trace, and the report has the reason. */
export function answerFailure(
	error: unknown,
	kind: Route["kind"] | "read",
	report: Context["report"],
): Reply {
	if (error instanceof StoreBusy) {
		const reason = `the layers cannot be changed now: ${error.message}`;
		return refuseWrite(503, [reason], { "Retry-After": String(error.retryAfter) });
	}
	report(error);
	if (kind === "write") return refuseWrite(500, ["the service failed; nothing is known to be stored"]);
	return refuseRead(500);
}
