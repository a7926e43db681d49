import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { answerFailure, answerPlain, answerStatus, isWriteMethod, type Route, routeOf } from "../app.ts";
import type { Context } from "../context.ts";
import { answerRead, maxJoinedBytes } from "../read.ts";
import { inLanguageOf, type Reply } from "../reply.ts";
import { clientGone, clientOf, createWriter, originOf, type TrustedProxies } from "./address.ts";

export const defaultTimes = {
	headTimeoutMs: 10_000,
	bodyTimeoutMs: 20_000,
	readerTimeoutMs: 30_000,
	readerBytesPerSecond: 64_000,
	checkEveryMs: 1_000,
};

export interface NodeOptions {
	context: Context;
	file: ReadFragment;
	log: (answered: Answered) => void;
	allReads: boolean;
	/** `route`: its kind, or the action of a write. `ms`: since the request's head. */
	measure?: ((route: string, status: number, ms: number, reason: string | undefined) => void) | undefined;
	trustedProxies?: TrustedProxies;
	times?: Partial<typeof defaultTimes>;
	maxHeldBytes?: number;
}

/** `log` gets each answer that is not a plain read. */
export function shareOf(options: NodeOptions & { times: typeof defaultTimes; isClosing: () => boolean }) {
	const { times, trustedProxies = [] } = options;
	return {
		...options,
		trustedProxies,
		send: createSend(times.readerTimeoutMs, times.readerBytesPerSecond),
		write: createWriter(options.context, times.bodyTimeoutMs, options.maxHeldBytes),
	};
}

export class Exchange {
	readonly #startMs = performance.now();
	readonly #isWrite: boolean;
	#route = "";
	#clientOnce: ReturnType<typeof clientOf> | undefined;

	constructor(
		readonly request: IncomingMessage,
		readonly response: ServerResponse,
		readonly server: ReturnType<typeof shareOf>,
	) {
		this.#isWrite = isWriteMethod(request.method ?? "");
	}

	get hasGone(): boolean {
		return this.response.socket?.destroyed ?? true;
	}

	/** First read before the connection ends: later, it is unknown. */
	get #client() {
		this.#clientOnce ??= clientOf(this.request, this.server.trustedProxies);
		return this.#clientOnce;
	}

	answer(): void {
		const { method = "GET", url = "/" } = this.request;
		const { context } = this.server;
		const route = routeOf(method, url, context.settings, context.routes);
		this.#route = nameOf(route);
		const fail = (error: unknown) => this.#send(answerFailure(error, route.kind, context.log));
		try {
			const reply = this.#replyTo(route);
			if (!(reply instanceof Promise)) return this.#send(reply);
			void reply.then((made) => this.#send(made)).catch(fail);
		} catch (error) {
			fail(error);
		}
	}

	#replyTo(route: Route): Reply | Promise<Reply> {
		const { request, server } = this;
		const { context, file, trustedProxies } = server;
		const ifNoneMatch = request.headers["if-none-match"] ?? null;
		switch (route.kind) {
			case "docs":
			case "doc":
				return answerRead(route, ifNoneMatch, file);
			case "write":
				return server.write(request, route.action, this.#client.shares);
			case "other": {
				const origin = originOf(request, trustedProxies);
				const { basePath } = context.settings;
				return route.route.answer({
					method: request.method ?? "GET",
					path: (request.url ?? "/").slice(basePath.length),
					basePath,
					ifNoneMatch,
					acceptEncoding: String(request.headers["accept-encoding"] ?? ""),
					address: origin && origin + request.url,
					client: this.#client.shares,
				});
			}
			case "status":
				return answerStatus(route.segment, context.status ?? null, this.#client.shares);
			default:
				return answerPlain(route, context);
		}
	}

	#send(answer: Reply): void {
		const { request, response, server } = this;
		const { headers, method } = request;
		// The client can then still read the answer.
		if (method !== "GET" && method !== "HEAD") request.resume();
		if (server.isClosing()) response.shouldKeepAlive = false;
		const isNoted = answer.status >= 400 || this.#isWrite || server.allReads;
		const reply = isNoted ? inLanguageOf(answer, headers["accept-language"] ?? null) : answer;
		const id = isNoted ? randomUUID() : "";
		if (isNoted) reply.headers["X-Request-Id"] = id;
		if (!this.hasGone) server.send(response, reply);
		server.measure?.(this.#route, reply.status, performance.now() - this.#startMs, answer.reason);
		if (!isNoted) return;
		const { address } = this.#client;
		const note = () => server.log(this.describe(id, answer, address));
		if (response.writableFinished || this.hasGone) note();
		else response.once("close", note);
	}

	describe(id: string, { reason, cause }: Reply, address: string) {
		const { method = "", url = "", headers } = this.request;
		const status = this.response.headersSent ? this.response.statusCode : clientGone;
		return {
			id,
			method,
			path: url.split("?", 1)[0] as string,
			status,
			milliseconds: Math.round((performance.now() - this.#startMs) * 10) / 10,
			sender: this.#isWrite && typeof headers.sender === "string" ? headers.sender : null,
			...(status >= 400 && { address, reason, cause }),
		};
	}
}

export type Answered = ReturnType<Exchange["describe"]>;

function nameOf(route: Route): string {
	if (route.kind === "write") return route.action;
	return route.kind === "other" ? route.route.name : route.kind;
}

const maxUnreadBytes = 256 * 1024 * 1024;

/**
 * Closes the connection of a client that does not read in time. @param timeoutMs beside the time at
 * `bytesPerSecond`
 */
function createSend(timeoutMs: number, bytesPerSecond: number) {
	const unread = new Map<ServerResponse, number>();
	let unreadBytes = 0;

	function watch(response: ServerResponse, length: number): void {
		const close = () => response.socket?.destroy();
		const timer = setTimeout(close, timeoutMs + (length / bytesPerSecond) * 1000);
		const bytes = response.writableLength;
		unread.set(response, bytes);
		unreadBytes += bytes;
		response.once("close", () => {
			clearTimeout(timer);
			unread.delete(response);
			unreadBytes -= bytes;
		});
		const [oldest] = unread.keys();
		if (unreadBytes > maxUnreadBytes) oldest?.socket?.destroy();
	}

	return (response: ServerResponse, { status, headers, body }: Reply): void => {
		if (status !== 304 && status !== 204) headers["Content-Length"] = String(body.length);
		response.writeHead(status, headers);
		const { req: request } = response;
		const isSending = request.method !== "GET" && !request.complete;
		const isStream = !(body instanceof Uint8Array) && body.length > maxJoinedBytes;
		if (request.method === "HEAD" || body.length === 0) response.end();
		else if (isStream) pipeline(Readable.from(body), response, () => undefined);
		else if (isSending && !response.shouldKeepAlive && headers.Connection !== "close") {
			// The client wants the connection closed. Closed before its whole body was read, it could lose
			// the answer (RFC 9112, section 9.6).
			response.write(joined(body), "latin1");
			finished(request, () => response.end());
		} else response.end(joined(body), "latin1");
		// The operating system's buffer takes most answers at once.
		if (response.writableLength > 0 || isStream) watch(response, body.length);
	};
}

/**
 * As a text with one character for each byte: a new buffer for each answer takes twice as long (row `docs-50`
 * of `npm run bench`).
 */
function joined(body: Reply["body"]): Uint8Array | string {
	if (body instanceof Uint8Array) return body;
	let text = "";
	for (const { buffer, byteOffset, length } of body)
		text += Buffer.from(buffer, byteOffset, length).toString("latin1");
	return text;
}
