// The worker: it answers all requests that are not for static assets (wrangler.jsonc, docs/hosting.md).
import {
	answerFailure,
	answerHealth,
	answerHealthz,
	answerRefused,
	answerVersion,
	handleWrite,
	type Route,
	refuseTooMany,
	routeOf,
} from "../app.ts";
import type { Context } from "../context.ts";
import { etagOf, textOf } from "../etag.ts";
import { logText } from "../log.ts";
import { answerMoved, answerPage, type PageWanted } from "../pages.ts";
import { Rendered } from "../rendered.ts";
import { allowReads, inLanguageOf, type Reply, refuseRead } from "../reply.ts";
import { answerStatus } from "../status.ts";
import type { ReadSettings } from "../wanted.ts";
import { isWriteMethod } from "../write-routes.ts";
import { readBody, targetOf, toResponse, writeOf } from "./messages.ts";
import { type Bindings, fetchPage, fragmentsOf, handleFetchedRead } from "./reads.ts";
import { makeContext, readSettings } from "./settings.ts";

/** A worker, as the engine calls it. */
export interface Worker {
	fetch(request: Request, bindings: Bindings): Promise<Response>;
}

/** Makes a worker, which reads its environment once. */
export function createWorker(log: (fields: object) => void): Worker {
	const serving = new WeakMap<Bindings, ReadSettings>();
	const contexts = new WeakMap<Bindings, Context>();
	const report = (error: unknown) => log({ error: error instanceof Error ? error.message : String(error) });
	const contextOf = (bindings: Bindings) => once(contexts, bindings, () => makeContext(bindings, report));

	/** Why the worker cannot serve; null where it can. */
	function problemOf(bindings: Bindings): string | null {
		try {
			fragmentsOf(bindings);
			contextOf(bindings);
			return null;
		} catch (error) {
			report(error);
			return "the configuration is wrong: see the log";
		}
	}

	async function answer(request: Request, target: string, bindings: Bindings): Promise<Reply> {
		let kind: Route["kind"] = "refused";
		try {
			// The body is always read first: the engine resets a connection with an unread body.
			const body = await readBody(request);
			const settings = once(serving, bindings, () => readSettings(bindings));
			const route = routeOf(request.method, target, settings);
			kind = route.kind;
			switch (route.kind) {
				case "refused":
					return answerRefused(route);
				case "version":
					return answerVersion();
				case "healthz":
					return answerHealthz(problemOf(bindings), bundledCommit());
				case "preflight":
					return allowReads();
				case "readyz":
					return answerHealth(problemOf(bindings) ?? contextOf(bindings).readiness());
				case "moved":
					return answerMoved(route.location);
				case "page":
					return await handleFetchedPage(route, request.headers.get("If-None-Match"), bindings);
				case "records":
					// A search takes every chunk; a build has the records as files (docs/catalogue.md).
					return refuseRead(404);
				case "status":
					return await answerStatus(route.segment, null, report);
				case "write": {
					const write = writeOf(request, route.action, target, body);
					const tooMany = await refuseTooMany(write.address, contextOf(bindings));
					return tooMany ?? (await handleWrite(write, contextOf(bindings)));
				}
				default:
					return await handleFetchedRead(route, request.headers.get("If-None-Match"), bindings, report);
			}
		} catch (error) {
			return answerFailure(error, kind, report);
		}
	}

	return {
		async fetch(request, bindings) {
			const target = targetOf(request.url);
			const answered = await answer(request, target, bindings);
			const language = request.headers.get("Accept-Language");
			const reply = isWriteMethod(request.method) ? inLanguageOf(answered, language) : answered;
			logAnswer(request, target, reply, log);
			return toResponse(reply);
		},
	};
}

/**
 * Answers with a file of the catalogue that the hosting has, or with the page of a layer, rendered from the index: that
 * takes three files more. @throws {Error} where a binding fails
 */
async function handleFetchedPage(
	wanted: PageWanted,
	ifNoneMatch: string | null,
	bindings: Bindings,
): Promise<Reply> {
	const found = await fetchPage(bindings, wanted.file);
	if (found) return answerPage(wanted, found.body, { ifNoneMatch, isSecure: true, etag: textOf(found.etag) });
	const rendered = new Rendered(async (file) => {
		const read = await fetchPage(bindings, file);
		return read && new TextDecoder().decode(read.body);
	});
	// The plain list takes every chunk, more files than a request may fetch; a build has it as files.
	const page = layerPage.test(wanted.file) ? await rendered.page(wanted.file) : null;
	const body = page === null ? null : new TextEncoder().encode(page);
	return answerPage(wanted, body, { ifNoneMatch, isSecure: true, ...(body && { etag: etagOf(body) }) });
}

const layerPage = /^(?:en\/layer|fr\/couche)\//;

/** The bundle's commit, which `hosting/bundle.ts` puts in its place; not known without a bundle. */
declare const BUNDLED_COMMIT: string | null | undefined;

function bundledCommit(): string | null {
	return typeof BUNDLED_COMMIT === "string" ? BUNDLED_COMMIT : null;
}

/** Makes a value once for each environment of the worker. */
function once<T>(made: WeakMap<Bindings, T>, bindings: Bindings, make: () => T): T {
	const value = made.get(bindings) ?? make();
	made.set(bindings, value);
	return value;
}

/** Logs a line for each write and each answer from 400 up, and gives the answer its id. Signatures are not logged. */
function logAnswer(request: Request, target: string, reply: Reply, log: (fields: object) => void): void {
	const isWrite = isWriteMethod(request.method);
	if (reply.status < 400 && !isWrite) return;
	const id = request.headers.get("CF-Ray") ?? crypto.randomUUID();
	reply.headers["X-Request-Id"] = id;
	const path = target.split("?", 1)[0];
	const sender = isWrite ? request.headers.get("Sender") : null;
	log({ id, method: request.method, path, status: reply.status, sender });
}

export default createWorker((fields) => console.log(logText(fields)));
