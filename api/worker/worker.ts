// The Cloudflare Worker. It answers all requests that are not for static assets (wrangler.jsonc, docs/hosting.md).
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { answerFailure, answerPlain, handleWrite, type Route, refuseTooMany, routeOf } from "../app.ts";
import type { Context } from "../context.ts";
import { etagOf, textOf } from "../etag.ts";
import { logText } from "../log.ts";
import { answerPage, type PageWanted } from "../pages.ts";
import { Rendered } from "../rendered.ts";
import { inLanguageOf, type Reply, refuseFile } from "../reply.ts";
import { answerStatus } from "../status.ts";
import type { ReadSettings } from "../wanted.ts";
import type { Write } from "../write.ts";
import { isWriteMethod } from "../write-routes.ts";
import { type Bindings, filesOf, handleFetchedRead } from "./reads.ts";
import { makeContext, readSettings } from "./settings.ts";

export interface Worker {
	fetch(request: Request, bindings: Bindings): Promise<Response>;
}

/** Makes a worker. It reads its environment once. */
export function createWorker(log: (fields: object) => void): Worker {
	const serving = new WeakMap<Bindings, ReadSettings>();
	const contexts = new WeakMap<Bindings, Context>();
	const errors = {
		error: (error: unknown) => log({ error: error instanceof Error ? error.message : String(error) }),
	};
	const contextOf = (bindings: Bindings) => once(contexts, bindings, () => makeContext(bindings, errors));

	/** Why the worker cannot serve; null where it can. */
	function problemOf(bindings: Bindings): string | null {
		try {
			filesOf(bindings);
			contextOf(bindings);
			return null;
		} catch (error) {
			errors.error(error);
			return "the configuration is wrong: see the log";
		}
	}

	async function answer(request: Request, target: string, bindings: Bindings): Promise<Reply> {
		let kind: Route["kind"] = "refused";
		try {
			// The body is always read first: the engine resets the connection if a body is left unread.
			const body = await readBody(request);
			const settings = once(serving, bindings, () => readSettings(bindings));
			const route = routeOf(request.method, target, settings);
			kind = route.kind;
			switch (route.kind) {
				case "page":
					return await handleFetchedPage(route, request.headers.get("If-None-Match"), bindings);
				case "records":
					// A search needs every chunk, more files than a request may fetch. A build has records as files (docs/catalogue.md).
					return refuseFile();
				case "status":
					return await answerStatus(route.segment, null, errors);
				case "write": {
					const write = writeOf(request, route.action, target, body);
					const tooMany = await refuseTooMany(write.address, contextOf(bindings));
					return tooMany ?? (await handleWrite(write, contextOf(bindings)));
				}
				case "doc":
				case "docs":
					return await handleFetchedRead(route, request.headers.get("If-None-Match"), bindings, errors);
				default: {
					const readiness = () => contextOf(bindings).readiness();
					return answerPlain(route, { readiness, commit: bundledCommit() }, () => problemOf(bindings));
				}
			}
		} catch (error) {
			return answerFailure(error, kind, errors);
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
 * Answers with a file of the catalogue that the hosting has, or with the page of a layer, rendered from the index, which
 * takes three fetches more. @throws {Error} where a binding fails
 */
async function handleFetchedPage(
	wanted: PageWanted,
	ifNoneMatch: string | null,
	bindings: Bindings,
): Promise<Reply> {
	const fetchFile = filesOf(bindings);
	const found = await fetchFile(wanted.file);
	if (found) return answerPage(wanted, found.body, { ifNoneMatch, isSecure: true, etag: textOf(found.etag) });
	const rendered = new Rendered(async (file) => {
		const read = await fetchFile(file);
		return read && new TextDecoder().decode(read.body);
	});
	// The plain list needs every chunk, more files than a request may fetch. A build has it as files.
	const page = layerPage.test(wanted.file) ? await rendered.page(wanted.file) : null;
	const body = page === null ? null : new TextEncoder().encode(page);
	return answerPage(wanted, body, { ifNoneMatch, isSecure: true, ...(body && { etag: etagOf(body) }) });
}

const layerPage = /^(?:en\/layer|fr\/couche)\//;

/** The commit of the bundle, a constant that `hosting/bundle.ts` defines; undefined without a bundle. */
declare const BUNDLED_COMMIT: string | null | undefined;

function bundledCommit(): string | null {
	return typeof BUNDLED_COMMIT === "string" ? BUNDLED_COMMIT : null;
}

function once<T>(made: WeakMap<Bindings, T>, bindings: Bindings, make: () => T): T {
	const value = made.get(bindings) ?? make();
	made.set(bindings, value);
	return value;
}

/** Logs a line for each write and for each answer from 400 up, and sets the answer's id. Signatures are not logged. */
function logAnswer(request: Request, target: string, reply: Reply, log: (fields: object) => void): void {
	const isWrite = isWriteMethod(request.method);
	if (reply.status < 400 && !isWrite) return;
	const id = request.headers.get("CF-Ray") ?? crypto.randomUUID();
	reply.headers["X-Request-Id"] = id;
	const path = target.split("?", 1)[0];
	const sender = isWrite ? request.headers.get("Sender") : null;
	log({ id, method: request.method, path, status: reply.status, sender });
}

/** Most bytes of a refused body that are read and discarded. */
const maxDiscardedBytes = 16 * 1024 * 1024;

/** Reads the body of a request. A body that is too large is read and discarded, so that the client can read the answer. */
async function readBody(request: Request): Promise<Write["body"]> {
	if (!request.body) return new Uint8Array(0);
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
		length += chunk.length;
		if (length > maxDiscardedBytes) break;
		if (length <= maxRegistrationBytes) chunks.push(chunk);
	}
	if (length > maxRegistrationBytes) return "too large";
	return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

function writeOf(request: Request, action: Write["action"], target: string, body: Write["body"]): Write {
	const text = (name: string) => request.headers.get(name) ?? "";
	const signed = { sender: text("Sender"), timestamp: text("TimeStamp"), signature: text("Authorization") };
	return { action, target, address: request.headers.get("CF-Connecting-IP"), ...signed, body };
}

/** The request target as it arrived; the engine leaves the path of `request.url` as it was sent. */
function targetOf(address: string): string {
	return address.slice(address.indexOf("/", address.indexOf("//") + 2));
}

/** Converts a reply to a Response; the engine omits the body for HEAD. Pieces are sent as the client reads them. */
function toResponse({ status, headers, body }: Reply): Response {
	if (body.length === 0) return new Response(null, { status, headers });
	if (body instanceof Uint8Array) return new Response(body as Uint8Array<ArrayBuffer>, { status, headers });
	const pieces = body[Symbol.iterator]();
	const stream = new ReadableStream<Uint8Array>({
		pull(controller) {
			const { done, value } = pieces.next();
			if (done) controller.close();
			else controller.enqueue(value);
		},
	});
	return new Response(stream, { status, headers });
}

export default createWorker((fields) => console.log(logText(fields)));
