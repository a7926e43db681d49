// The worker: what static assets do not answer (wrangler.jsonc, docs/hosting.md).

import { largestRegistration } from "../../registry/registration.ts";
import { handleWrite, isWriteTarget } from "../app.ts";
import type { Context } from "../context.ts";
import type { ReadSettings } from "../read.ts";
import { type Bindings, fragmentsOf } from "./cloudflare/bindings.ts";
import { handleRead } from "./cloudflare/reads.ts";
import { makeContext, readSettings } from "./cloudflare/settings.ts";

/** A worker, as the engine calls it. */
export interface Worker {
	fetch(request: Request, bindings: Bindings): Promise<Response>;
}

/** Makes a worker; what it reads from its environment, it reads once. */
export function createWorker(log: (fields: object) => void): Worker {
	const serving = new WeakMap<Bindings, ReadSettings>();
	const contexts = new WeakMap<Bindings, Context>();
	const report = (error: unknown) => log({ error: error instanceof Error ? error.message : String(error) });

	async function answer(request: Request, target: string, bindings: Bindings): Promise<Response> {
		const settings = once(serving, bindings, () => readSettings(bindings));
		const context = () => once(contexts, bindings, () => makeContext(bindings, report));
		const taken = await takeBody(request);
		if (isWriteTarget(target, settings.basePath)) return handleWrite(taken, target, context());
		if (target === `${settings.basePath}/healthz`) {
			const check = () => {
				fragmentsOf(bindings);
				context();
			};
			return answerHealth(request.method, check, report);
		}
		return handleRead(taken, target, bindings, settings);
	}

	return {
		async fetch(request, bindings) {
			const target = targetOf(request.url);
			const response = await answer(request, target, bindings).catch((error) => {
				report(error);
				return new Response(null, { status: 500, headers: { "Cache-Control": "no-store" } });
			});
			logAnswer(request, target, response.status, log);
			return response;
		},
	};
}

/** Bytes of a refused body that are read and dropped. */
const mostDiscarded = 16 * 1024 * 1024;

/**
 * The request with at most as much of its body as tells that it is too large. The rest is read and dropped: the
 * engine resets a connection whose body nobody reads, and its sender would not see the answer.
 */
async function takeBody(request: Request): Promise<Request> {
	const { method, headers } = request;
	if (!request.body) return request;
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
		if (length <= largestRegistration) chunks.push(chunk);
		length += chunk.length;
		if (length > mostDiscarded) break;
	}
	const body = await new Blob(chunks as BlobPart[]).arrayBuffer();
	const hasBody = method !== "GET" && method !== "HEAD";
	return new Request(request.url, { method, headers, body: hasBody ? body : null });
}

/** The request target as it arrived: the engine keeps the path of an address as it was sent. */
function targetOf(address: string): string {
	return address.slice(address.indexOf("/", address.indexOf("//") + 2));
}

function once<T>(made: WeakMap<Bindings, T>, bindings: Bindings, make: () => T): T {
	const value = made.get(bindings) ?? make();
	made.set(bindings, value);
	return value;
}

/** GET <base>/healthz: 200 where the bindings are there and the configuration is right, else 503 and a line in the log. */
function answerHealth(method: string, check: () => void, report: (error: unknown) => void): Response {
	const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
	if (method !== "GET" && method !== "HEAD") return new Response(null, { status: 405, headers });
	try {
		check();
	} catch (error) {
		report(error);
		return new Response(null, { status: 503, headers });
	}
	return new Response("ok\n", { headers });
}

/** One line for each write and each answer from 400 up; no signature is in it. */
function logAnswer(request: Request, target: string, status: number, log: (fields: object) => void): void {
	const isWrite = request.method === "PUT" || request.method === "DELETE";
	if (status < 400 && !isWrite) return;
	const path = target.split("?", 1)[0];
	log({ method: request.method, path, status, sender: isWrite ? request.headers.get("Sender") : null });
}

export default createWorker((fields) => console.log(JSON.stringify(fields)));
