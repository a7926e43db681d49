import { smallkeyProblem } from "../registry/judge.ts";
import { decodeSegment, parseSmallkey } from "../registry/smallkey.ts";
import { oneOf, type Problem, problemAt } from "../registry/texts.ts";
import { StoreBusy } from "../store/store.ts";
import type { Client, Context, OtherRoute, ReadStatus } from "./context.ts";
import { parseRead, type ReadRequest, type ReadSettings } from "./read-request.ts";
import {
	allowReads,
	fragmentHeaders,
	jsonReply,
	type Reply,
	refuse,
	refuseRead,
	refuseWrite,
	textReply,
	uncachedHeaders,
} from "./reply.ts";

/** As in package.json, which a worker cannot read. */
export const version = "0.2.0";

const registerPath = /^(?:\/v[12])?\/register\/[^/]*$/;

/** The last segment is checked after the signature. */
const writeRoutes = [
	{ action: "remove", method: "DELETE", path: registerPath },
	{ action: "register", method: "PUT", path: registerPath },
	// Of the older service, whose publishers still use these.
	{ action: "updateFeature", method: "PUT", path: /^\/v1\/updatefeature\/[^/]*$/ },
	{ action: "simplify", method: "PUT", path: /^\/v1\/simplification\/[^/]*$/ },
	{ action: "update", method: "PUT", path: /^\/v2\/update\/(?:2\.0\/)?[^/]*$/ },
	{
		action: "refresh",
		method: "POST",
		path: /^(?:\/v1\/update\/[^/]*|\/v2\/refresh\/[^/]*(?:\/[^/]*)?)$/,
	},
] as const;

export type WriteAction = (typeof writeRoutes)[number]["action"];

const writePaths =
	/^(?:(?:\/v[12])?\/register|\/v1\/(?:updatefeature|simplification|update)|\/v2\/(?:update|refresh))(?:[/?]|$)/;

export function isWriteMethod(method: string): boolean {
	return method === "PUT" || method === "DELETE" || method === "POST";
}

export type Route =
	| ReadRequest
	| { kind: "write"; action: WriteAction }
	| { kind: "status"; segment: string }
	| { kind: "version" | "healthz" | "readyz" }
	| { kind: "other"; route: OtherRoute }
	| { kind: "refused" | "preflight"; reply: Reply };

/** @param target as it arrived: this text is signed @param routes asked after the core's */
export function routeOf(
	method: string,
	target: string,
	settings: ReadSettings,
	routes: readonly OtherRoute[] = [],
): Route {
	const path = target.startsWith(settings.basePath) ? target.slice(settings.basePath.length) : "";
	// No target is both a read's and a write's.
	if (isWriteMethod(method) && writePaths.test(path)) return routeWrite(method, target, settings.basePath);
	const read = parseRead(method, target, settings);
	// Routed by its path; any headers are allowed (Fetch Standard, "CORS-preflight fetch").
	if (read === 405 && method === "OPTIONS") return { kind: "preflight", reply: allowReads() };
	if (typeof read === "number") return refused(refuseRead(read));
	return read ?? routeOther(method, target, path, settings, routes);
}

const operationPaths: ReadonlyMap<string, "healthz" | "readyz" | "version"> = new Map([
	["/healthz", "healthz"],
	["/readyz", "readyz"],
	["/v2/version/", "version"],
	["/v2/version", "version"],
]);

const statusPath = /^\/status\/([^/?]*)(?:\?.*)?$/;

function routeOther(
	method: string,
	target: string,
	path: string,
	{ basePath, targets }: ReadSettings,
	routes: readonly OtherRoute[],
): Route {
	const isRead = method === "GET" || method === "HEAD";
	const page = operationPaths.get(path);
	if (page === "version" && !targets.includes("v2")) return refused(refuseRead(404));
	if (page) return isRead ? { kind: page } : refused(refuseRead(405));
	const [, segment] = statusPath.exec(path) ?? [];
	if (segment !== undefined && method === "OPTIONS") return { kind: "preflight", reply: allowReads() };
	if (segment !== undefined) return isRead ? { kind: "status", segment } : refused(refuseRead(405));
	// A PUT or DELETE of any path is refused as a write, with its reason.
	const isForWrites = method === "PUT" || method === "DELETE" || writePaths.test(path);
	if (isForWrites) return routeWrite(method, target, basePath);
	const isBelow = target.startsWith(basePath);
	const route = routes.find((route) => isBelow && (isRead || !route.isFallback) && route.matches(path));
	if (!route) return refused(refuseRead(404));
	return isRead ? { kind: "other", route } : refused(refuseRead(405));
}

function refused(reply: Reply): Route {
	return { kind: "refused", reply };
}

/** Three for each character of a smallkey, when encoded. */
const maxWritePathLength = 256;

/**
 * What a URL parser leaves unchanged (WHATWG URL Standard, "path percent-encode set"): one `/` at the start,
 * no segment `.` or `..` in any spelling, no character that would be encoded or read as a `/`. It reads
 * `//name/` as a host, and takes a tenth of a second for a long one.
 */
const literalPath = /^(?!\/\/)(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[\w!$%&'()*+,.:;=@[\]|~-]*)+$/i;

function routeWrite(method: string, target: string, basePath: string): Route {
	if (target.includes("?")) return refusedPath(400, problemAt("path", "query"));
	if (target.length > basePath.length + maxWritePathLength)
		return refusedPath(400, problemAt("path", "maxLength", maxWritePathLength));
	if (!literalPath.test(target)) return refusedPath(400, problemAt("path", "path-characters"));
	const path = target.startsWith(basePath) ? target.slice(basePath.length) : "";
	const matches = writeRoutes.filter((route) => route.path.test(path));
	if (matches.length === 0) return refusedPath(404, problemAt("path", "path", basePath));
	const route = matches.find((candidate) => candidate.method === method);
	if (route) return { kind: "write", action: route.action };
	const methods = matches.map((candidate) => candidate.method);
	const error = problemAt("method", "method", oneOf(methods.toReversed()), method);
	return refused(refuseWrite({ status: 405, errors: [error] }, { Allow: methods.join(", ") }));
}

function refusedPath(status: number, error: Problem): Route {
	return refused(refuseWrite({ status, errors: [error], reason: "path" }));
}

/** @param problem why nothing is served, in one line; null if it is */
export function answerPlain(
	route: Extract<Route, { kind: "version" | "healthz" | "readyz" } | { reply: Reply }>,
	{ readiness, commit }: Pick<Context, "readiness" | "commit">,
	problem: () => string | null = () => null,
): Reply {
	switch (route.kind) {
		case "version":
			// A list, as in the older service.
			return jsonReply(200, [version], { ...fragmentHeaders, "Cache-Control": "no-store" });
		case "healthz":
			return answerHealth(problem(), ["ok", version, commit ?? ""].join(" ").trimEnd());
		case "readyz":
			return answerHealth(problem() ?? readiness(), "ok");
		default:
			return route.reply;
	}
}

function answerHealth(problem: string | null, ok: string): Reply {
	const line = problem === null ? ok : problem.replace(/\s+/g, " ").slice(0, 500);
	const headers = { "Content-Type": "text/plain; charset=utf-8", ...uncachedHeaders };
	return { status: problem === null ? 200 : 503, headers, body: new TextEncoder().encode(`${line}\n`) };
}

export function answerFailure(error: unknown, kind: Route["kind"], log: Context["log"]): Reply {
	if (error instanceof StoreBusy) {
		const { code, retryAfter, message } = error;
		const refusal = { status: 503, errors: [problemAt("", code)], retryAfter };
		const reply = kind === "status" ? refuse(refusal, anySite) : refuseWrite({ ...refusal, reason: code });
		return { ...reply, cause: message };
	}
	log.error(error);
	if (kind === "write") return refuseWrite({ status: 500, errors: [problemAt("", "failed")] });
	return kind === "status"
		? refuse({ status: 500, errors: [problemAt("", "read-failed")] }, anySite)
		: refuseRead(500);
}

/**
 * GET <base>/status/<smallkey>
 * @param segment still encoded @param read null if the layers are not on this machine @param client for the
 * limit of look-ups
 */
export async function answerStatus(
	segment: string,
	read: ReadStatus | null,
	client: Client = [],
): Promise<Reply> {
	const refused = (status: number, error: Problem, retryAfter?: number) =>
		refuse({ status, errors: [error], retryAfter }, anySite);
	const text = decodeSegment(segment) ?? segment;
	const smallkey = parseSmallkey(text);
	if (!smallkey) return refused(400, smallkeyProblem(text));
	if (!read) return refused(404, problemAt("status", "status-elsewhere"));
	const status = await read(smallkey, client);
	if (status === "too many") return refused(429, problemAt("", "status-limit"), 2);
	if (!status) return refused(404, problemAt("smallkey", "not-registered", smallkey));
	const { etag } = status("en");
	return textReply(200, status, { ...anySite, ...(etag !== null && { ETag: etag }) });
}

const anySite = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag" };
