// The worker: what static assets do not answer (wrangler.jsonc, docs/hosting.md).
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
import { logText } from "../log.ts";
import { answerMoved } from "../pages.ts";
import { allowReads, type Reply, refuseRead } from "../reply.ts";
import { answerStatus } from "../status.ts";
import type { ReadSettings } from "../wanted.ts";
import { type Bindings, fragmentsOf } from "./bindings.ts";
import { logAnswer } from "./log.ts";
import { readBody, targetOf, toResponse, writeOf } from "./messages.ts";
import { once } from "./once.ts";
import { handleFetchedPage } from "./pages.ts";
import { handleFetchedRead } from "./reads.ts";
import { makeContext, readSettings } from "./settings.ts";

/** A worker, as the engine calls it. */
export interface Worker {
	fetch(request: Request, bindings: Bindings): Promise<Response>;
}

/** Makes a worker; what it reads from its environment, it reads once. */
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
			// First, whoever it is for: the engine resets a connection whose body nobody reads.
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
					return answerHealthz(problemOf(bindings));
				case "preflight":
					return allowReads();
				case "readyz":
					return answerHealth(problemOf(bindings) ?? contextOf(bindings).readiness());
				case "moved":
					return answerMoved(route.location);
				case "page":
					return await handleFetchedPage(route, request.headers.get("If-None-Match"), bindings);
				case "records":
					// A search would take every chunk; a build has the records as files (docs/catalogue.md).
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
			const reply = await answer(request, target, bindings);
			logAnswer(request, target, reply, log);
			return toResponse(reply);
		},
	};
}

export default createWorker((fields) => console.log(logText(fields)));
