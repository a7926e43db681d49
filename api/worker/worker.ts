import { maxRegistrationBytes } from "../../registry/registration.ts";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { answerFailure, answerPlain, answerStatus, isWriteMethod, type Route, routeOf } from "../app.ts";
import type { Context, OtherRoute } from "../context.ts";
import { answerRead, maxJoinedBytes } from "../read.ts";
import { inLanguageOf, type Reply } from "../reply.ts";
import { answerWrite, type WriteBody, writeHeaders } from "../write.ts";
import { type Bindings, filesOf, makeContext, readSettings } from "./bindings.ts";

type LogFields = (fields: object) => void;

type RoutesOf = (bindings: Bindings) => readonly OtherRoute[];

export class FragmentWorker {
	readonly #log: LogFields;
	readonly #errors: Context["log"];
	readonly #routesOf: RoutesOf;
	readonly #settingsOf = once(readSettings);
	readonly #contextOf = once((bindings) => makeContext(bindings, this.#errors));

	constructor(log: LogFields, routesOf: RoutesOf = () => []) {
		this.#log = log;
		this.#errors = {
			error: (error) => log({ error: error instanceof Error ? error.message : String(error) }),
		};
		this.#routesOf = routesOf;
	}

	readonly fetch = async (request: Request, bindings: Bindings): Promise<Response> => {
		// As it was sent.
		const target = request.url.slice(request.url.indexOf("/", request.url.indexOf("//") + 2));
		const language = request.headers.get("Accept-Language");
		const reply = inLanguageOf(await this.#answer(request, target, bindings), language);
		logAnswer(request, target, reply, this.#log);
		return toResponse(reply);
	};

	async #answer(request: Request, target: string, bindings: Bindings): Promise<Reply> {
		let kind: Route["kind"] = "refused";
		try {
			// The engine resets the connection if a body is left unread.
			const body = await readBody(request);
			const settings = this.#settingsOf(bindings);
			const routes = settings.site ? this.#routesOf(bindings) : [];
			const route = routeOf(request.method, target, settings, routes);
			kind = route.kind;
			const ifNoneMatch = request.headers.get("If-None-Match");
			switch (route.kind) {
				case "other": {
					const { basePath } = settings;
					const question = { method: request.method, path: target.slice(basePath.length), basePath };
					const none = { acceptEncoding: "", address: null, client: [] };
					return await route.route.answer({ ...question, ...none, ifNoneMatch });
				}
				case "status":
					return await answerStatus(route.segment, null);
				case "write": {
					const signed = writeHeaders((name) => request.headers.get(name));
					const address = request.headers.get("CF-Connecting-IP");
					const length = body === "too large" ? Number.POSITIVE_INFINITY : body.length;
					const { method } = request;
					const write = { action: route.action, method, target, address, length, ...signed };
					return await answerWrite(write, async () => body, this.#contextOf(bindings));
				}
				case "doc":
				case "docs": {
					const find = filesOf(bindings);
					const file: ReadFragment = (folder, smallkey) => find(`${folder}/${smallkey}`);
					return await answerRead(route, ifNoneMatch, file);
				}
				default: {
					const readiness = () => this.#contextOf(bindings).readiness();
					const commit = typeof BUNDLED_COMMIT === "string" ? BUNDLED_COMMIT : null;
					return answerPlain(route, { readiness, commit }, () => this.#problemOf(bindings));
				}
			}
		} catch (error) {
			return answerFailure(error, kind, this.#errors);
		}
	}

	#problemOf(bindings: Bindings): string | null {
		try {
			filesOf(bindings);
			this.#contextOf(bindings);
			return null;
		} catch (error) {
			this.#errors.error(error);
			return "the configuration is wrong: see the log";
		}
	}
}

/** `extensions/hosting/deployment.ts` defines it in a bundle. */
declare const BUNDLED_COMMIT: string | null | undefined;

function once<T>(make: (bindings: Bindings) => T): (bindings: Bindings) => T {
	const values = new WeakMap<Bindings, T>();
	return (bindings) => {
		const value = values.get(bindings) ?? make(bindings);
		values.set(bindings, value);
		return value;
	};
}

function logAnswer(request: Request, target: string, reply: Reply, log: LogFields): void {
	const isWrite = isWriteMethod(request.method);
	if (reply.status < 400 && !isWrite) return;
	const id = request.headers.get("CF-Ray") ?? crypto.randomUUID();
	reply.headers["X-Request-Id"] = id;
	const path = target.split("?", 1)[0];
	const sender = isWrite ? request.headers.get("Sender") : null;
	log({ id, method: request.method, path, status: reply.status, sender, cause: reply.cause });
}

const maxDiscardedBytes = 16 * 1024 * 1024;

async function readBody(request: Request): Promise<WriteBody> {
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

function toResponse({ status, headers, body }: Reply): Response {
	if (body.length === 0) return new Response(null, { status, headers });
	if (body instanceof Uint8Array) return new Response(body as Uint8Array<ArrayBuffer>, { status, headers });
	if (body.length <= maxJoinedBytes)
		return new Response(new Blob([...body] as BlobPart[]), { status, headers });
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
