import { smallkeyProblem } from "../registry/judge.ts";
import { decodeSegment, parseSmallkey } from "../registry/smallkey.ts";
import type { ReadFragment } from "../registry/targets/facts.ts";
import { type Problem, problemAt, shownValue, type Text, type TextCode } from "../registry/texts.ts";
import { StoreBusy } from "../store/store.ts";
import type { Context, OtherRoute, Question, ReadStatus } from "./context.ts";
import type { Client } from "./limits.ts";
import { answerRead } from "./read.ts";
import { parseRead, type ReadRequest, type ReadSettings } from "./read-request.ts";
import { coreWrites, type WriteRoute } from "./register.ts";
import {
	allowReads,
	fragmentHeaders,
	jsonReply,
	type Reply,
	refuse,
	refuseRead,
	textReply,
	uncachedHeaders,
} from "./reply.ts";

/** As in package.json, which a worker cannot read. */
export const version = "0.2.0";

const writePaths = new WeakMap<readonly WriteRoute[], RegExp>();

function pathsOf(writes: readonly WriteRoute[]): RegExp {
	const cached = writePaths.get(writes);
	if (cached) return cached;
	const paths = new RegExp(`^(?:${writes.map(({ folder }) => folder).join("|")})(?:[/?]|$)`);
	writePaths.set(writes, paths);
	return paths;
}

export function isWriteMethod(method: string): boolean {
	return method === "PUT" || method === "DELETE" || method === "POST";
}

export type Route =
	| ReadRequest
	| { kind: "write"; write: WriteRoute }
	| { kind: "status"; segment: string }
	| { kind: "version" | "healthz" | "readyz" }
	| { kind: "other"; route: OtherRoute; path: string }
	| { kind: "refused" | "preflight"; reply: Reply };

const operationPaths: ReadonlyMap<string, "healthz" | "readyz" | "version"> = new Map([
	["/healthz", "healthz"],
	["/readyz", "readyz"],
	["/v2/version/", "version"],
	["/v2/version", "version"],
]);

const statusPath = /^\/status\/([^/?]*)(?:\?.*)?$/;

/** @param target as it arrived: it is signed @param routes the last that are asked */
export function routeOf(
	method: string,
	target: string,
	settings: ReadSettings,
	{ writes = coreWrites, routes = [] }: Pick<Context, "writes" | "routes"> = {},
): Route {
	const { basePath } = settings;
	const isBelow = target.startsWith(basePath);
	const path = isBelow ? target.slice(basePath.length) : "";
	if (pathsOf(writes).test(path)) return routeWrite(method, target, path, basePath, writes);
	const route = routeRead(target, path, settings);
	// Fetch Standard, "CORS-preflight fetch".
	if (method === "OPTIONS" && route && hasPreflight.has(route.kind))
		return { kind: "preflight", reply: allowReads() };
	// A PUT or DELETE of any other path is refused as a write.
	if (!route && (method === "PUT" || method === "DELETE"))
		return routeWrite(method, target, path, basePath, writes);
	const last = route ?? routeOther(path, isBelow ? routes : []);
	if (!last) return refused(refuseRead(404));
	return method === "GET" || method === "HEAD" ? last : refused(refuseRead(405));
}

const hasPreflight: ReadonlySet<Route["kind"]> = new Set(["doc", "docs", "refused", "status"]);

/** Null for a path that is neither of layers nor of the service. */
function routeRead(target: string, path: string, settings: ReadSettings): Route | null {
	const read = parseRead(target, settings);
	if (read !== null) return typeof read === "number" ? refused(refuseRead(read)) : read;
	const operation = operationPaths.get(path);
	if (operation)
		return operation === "version" && !settings.targets.includes("v2") ? null : { kind: operation };
	const segment = statusPath.exec(path)?.[1];
	return segment === undefined ? null : { kind: "status", segment };
}

function routeOther(path: string, routes: readonly OtherRoute[]): Route | null {
	const route = routes.find((other) => other.matches(path));
	return route ? { kind: "other", route, path } : null;
}

function refused(reply: Reply): Route {
	return { kind: "refused", reply };
}

/** A smallkey takes 192 when encoded. */
const maxWritePathLength = 256;

/**
 * What a URL parser leaves unchanged (WHATWG URL Standard, "path percent-encode set"): one `/` at the start,
 * no segment `.` or `..` in any spelling, nothing that it encodes or reads as `/`. It reads `//name/` as a
 * host, and takes a tenth of a second for a long one.
 */
const literalPath = /^(?!\/\/)(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[\w!$%&'()*+,.:;=@[\]|~-]*)+$/i;

function routeWrite(
	method: string,
	target: string,
	path: string,
	basePath: string,
	writes: readonly WriteRoute[],
): Route {
	const refusedPath = (status: number, code: TextCode, ...values: Text["values"]) =>
		refused(refuse({ status, errors: [problemAt("path", code, ...values)] }));
	if (target.length > basePath.length + maxWritePathLength)
		return refusedPath(400, "maxLength", maxWritePathLength);
	if (!literalPath.test(target)) return refusedPath(400, "path", basePath, shownValue(target));
	const matches = writes.filter(({ folder }) => new RegExp(`^${folder}/[^/]*$`).test(path));
	if (matches.length === 0) return refusedPath(404, "path", basePath, shownValue(target));
	const write = matches.find((match) => match.method === method);
	if (write) return { kind: "write", write };
	const methods = matches.map((match) => match.method);
	const error = problemAt("method", "method", methods.toReversed().join(" | "), method);
	return refused(refuse({ status: 405, errors: [error] }, { Allow: methods.join(", ") }));
}

export interface Engine {
	context: Pick<Context, "readiness" | "commit" | "status">;
	file: ReadFragment;
	ifNoneMatch: string | null;
	write: (route: WriteRoute) => Promise<Reply>;
	client: () => Client;
	question: () => Pick<Question, "acceptEncoding" | "address">;
}

export function answer(route: Route, basePath: string, engine: Engine): Reply | Promise<Reply> {
	const { context, ifNoneMatch } = engine;
	switch (route.kind) {
		case "doc":
		case "docs":
			return answerRead(route, ifNoneMatch, engine.file);
		case "write":
			return engine.write(route.write);
		case "other": {
			const question = { path: route.path, basePath, ifNoneMatch, client: engine.client() };
			return route.route.answer({ ...question, ...engine.question() });
		}
		case "status":
			return answerStatus(route.segment, context.status ?? null, engine.client());
		case "version":
			// A list, as in the older service.
			return jsonReply(200, [version], { ...fragmentHeaders, "Cache-Control": "no-store" });
		case "healthz":
			return answerHealth(null, ["ok", version, context.commit ?? ""].join(" ").trimEnd());
		case "readyz":
			return answerHealth(context.readiness(), "ok");
		default:
			return route.reply;
	}
}

function answerHealth(problem: string | null, ok: string): Reply {
	const line = problem?.replace(/\s+/g, " ").slice(0, 500) ?? ok;
	const headers = { "Content-Type": "text/plain; charset=utf-8", ...uncachedHeaders };
	return { status: problem === null ? 200 : 503, headers, body: new TextEncoder().encode(`${line}\n`) };
}

export function answerFailure(error: unknown, kind: Route["kind"], log: Context["log"]): Reply {
	if (error instanceof StoreBusy) {
		const { code, retryAfter, message } = error;
		const headers = kind === "status" ? anySite : {};
		return { ...refuse({ status: 503, errors: [problemAt("", code)], retryAfter }, headers), cause: message };
	}
	log.error(error);
	if (kind === "write") return refuse({ status: 500, errors: [problemAt("", "failed")] });
	if (kind === "healthz" || kind === "readyz")
		return answerHealth("the configuration is wrong: see the log", "");
	if (kind !== "status") return refuseRead(500);
	return refuse({ status: 500, errors: [problemAt("", "read-only")] }, anySite);
}

/** GET <base>/status/<smallkey> @param read null if the layers are not on this machine */
export async function answerStatus(
	segment: string,
	read: ReadStatus | null,
	client: Client = [],
): Promise<Reply> {
	const refuseStatus = (status: number, error: Problem) => refuse({ status, errors: [error] }, anySite);
	const text = decodeSegment(segment) ?? segment;
	const smallkey = parseSmallkey(text);
	if (!smallkey) return refuseStatus(400, smallkeyProblem(text));
	if (!read) return refuseStatus(404, problemAt("status", "status-elsewhere"));
	const status = await read(smallkey, client);
	if (!status) return refuseStatus(404, problemAt("smallkey", "not-registered", smallkey));
	const { etag } = status("en");
	return textReply(200, status, { ...anySite, ...(etag !== null && { ETag: etag }) });
}

const anySite = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag" };
