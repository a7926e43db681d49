import type { Context } from "./context.ts";
import { handleDelete, handlePut, refuse } from "./register.ts";
import { StoreBusy } from "./store.ts";

type Handler = (request: Request, target: string, context: Context) => Promise<Response>;

/** One path segment of a write's target, whatever it holds: its rule is checked after the signature. */
const writePath = /^(?:\/v1)?\/register\/[^/]*$/;

const writeHandlers: ReadonlyMap<string, Handler> = new Map([
	["PUT", handlePut],
	["DELETE", handleDelete],
]);

/** Whether a target belongs to the writes: everything below `<base>/register` and `<base>/v1/register`. */
export function isWriteTarget(target: string, basePath: string): boolean {
	const path = target.startsWith(basePath) ? target.slice(basePath.length) : target;
	return /^(?:\/v1)?\/register(?:[/?]|$)/.test(path);
}

/**
 * Answers a write.
 * @param target the request target as it arrived: what is signed is this text, not what a URL parser makes of it
 * @returns never a stack trace: a broken world is a 500 with a plain error
 */
export async function handleWrite(request: Request, target: string, context: Context): Promise<Response> {
	try {
		return await route(request, target, context);
	} catch (error) {
		if (error instanceof StoreBusy) {
			const refusal = { status: 503, errors: [`the layers cannot be changed now: ${error.message}`] };
			return refuse(refusal, { "Retry-After": String(error.retryAfter) });
		}
		context.report(error);
		return refuse({ status: 500, errors: ["the service failed; nothing is known to be stored"] });
	}
}

async function route(request: Request, target: string, context: Context): Promise<Response> {
	const { basePath } = context.settings;
	if (target.includes("?")) {
		return refuse({ status: 400, errors: ["path: a write must have no query"] });
	}
	if (!isLiteralPath(target)) {
		const rule = "must start with one / and hold nothing that a URL parser would change";
		return refuse({ status: 400, errors: [`path: ${rule}`] });
	}
	const path = target.startsWith(basePath) ? target.slice(basePath.length) : "";
	if (!writePath.test(path)) {
		return refuse({ status: 404, errors: [`path: must be ${basePath}/register/<smallkey>`] });
	}
	const handler = writeHandlers.get(request.method);
	if (handler) return handler(request, target, context);
	const errors = [`method: must be PUT or DELETE, not ${request.method}`];
	return refuse({ status: 405, errors }, { Allow: "DELETE, PUT" });
}

/** Whether a URL parser leaves the path as it is: no `..`, no `\`, no second `/` at the start, no raw space. */
function isLiteralPath(target: string): boolean {
	if (!target.startsWith("/") || target.startsWith("//")) return false;
	return URL.canParse(target, "http://host") && new URL(target, "http://host").pathname === target;
}
