import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { answer, answerFailure, isWriteMethod, type Route, routeOf } from "../app.ts";
import type { Context } from "../context.ts";
import { maxJoinedBytes } from "../read.ts";
import { inLanguageOf, type Reply } from "../reply.ts";
import { clientOf, originOf, type TrustedProxies } from "./address.ts";
import { clientGone, createWriter } from "./body.ts";

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
	/** Gets each answer that is not a plain read. */
	log: (answered: Answered) => void;
	allReads: boolean;
	observe?: (event: AnswerEvent) => void;
	trustedProxies?: TrustedProxies;
	times?: Partial<typeof defaultTimes>;
	maxHeldBytes?: number;
}

export interface AnswerEvent {
	kind: "answer";
	/** Its kind, or the action of a write. */
	route: string;
	status: number;
	/** Since the request's head. */
	milliseconds: number;
	reason: string | undefined;
}

/** A line of the log; a refusal's has the client's address, a reason and a cause. */
export type Answered = { status: number; address?: string; [member: string]: unknown };

export function hasGone({ socket }: ServerResponse): boolean {
	return socket?.destroyed ?? true;
}

/** What all exchanges of a server share. */
export function prepareExchanges(options: NodeOptions, times: typeof defaultTimes, isClosing: () => boolean) {
	const isTrusted = options.trustedProxies ?? (() => false);
	const send = createSend(times.readerTimeoutMs, times.readerBytesPerSecond);
	const write = createWriter(options.context, times.bodyTimeoutMs, options.maxHeldBytes);
	return { ...options, isTrusted, send, write, isClosing };
}

/** One request and its answer. @param startMs when the request's head came */
export class Exchange {
	readonly #method: string;
	readonly #route: Route;
	#client: ReturnType<typeof clientOf> | undefined;

	constructor(
		readonly server: ReturnType<typeof prepareExchanges>,
		readonly request: IncomingMessage,
		readonly response: ServerResponse,
		readonly startMs: number,
	) {
		const { settings, routes } = server.context;
		const { method = "GET", url = "/" } = request;
		this.#method = method;
		this.#route = routeOf(method, url, settings, routes);
	}

	answer(): void {
		const { server, request } = this;
		const { context, file, isTrusted } = server;
		const { headers, url } = request;
		const client = () => this.#connectedClient().shares;
		const fail = (error: unknown) => this.#finish(answerFailure(error, this.#route.kind, context.log));
		try {
			const reply = answer(this.#route, context.settings.basePath, {
				context,
				file,
				ifNoneMatch: headers["if-none-match"] ?? null,
				write: (action) => server.write(request, action, client()),
				client,
				question: () => {
					const origin = originOf(request, isTrusted);
					const acceptEncoding = String(headers["accept-encoding"] ?? "");
					return { acceptEncoding, address: origin && origin + url };
				},
			});
			if (reply instanceof Promise) void reply.then((made) => this.#finish(made)).catch(fail);
			else this.#finish(reply);
		} catch (error) {
			fail(error);
		}
	}

	/** First called before the connection ends: later, the client is unknown. */
	#connectedClient() {
		this.#client ??= clientOf(this.request, this.server.isTrusted);
		return this.#client;
	}

	#finish(made: Reply): void {
		const { server, request, response } = this;
		// The client can then still read the answer.
		if (this.#method !== "GET" && this.#method !== "HEAD") request.resume();
		if (server.isClosing()) response.shouldKeepAlive = false;
		const reply = inLanguageOf(made, request.headers["accept-language"] ?? null);
		const { status, reason } = reply;
		const isLogged = status >= 400 || isWriteMethod(this.#method) || server.allReads;
		const id = isLogged ? randomUUID() : "";
		if (isLogged) reply.headers["X-Request-Id"] = id;
		if (!hasGone(response)) server.send(response, reply);
		const milliseconds = performance.now() - this.startMs;
		server.observe?.({ kind: "answer", route: nameOf(this.#route), status, milliseconds, reason });
		if (isLogged) this.#logAtEnd(id, reply);
	}

	/** Once the client has the answer, or is gone. */
	#logAtEnd(id: string, { reason, cause }: Reply): void {
		const { server, response, startMs } = this;
		const { address } = this.#connectedClient();
		const log = () => {
			const line = lineOf(response, startMs);
			server.log({ id, ...line, ...(line.status >= 400 && { address, reason, cause }) });
		};
		if (response.writableFinished || hasGone(response)) log();
		else response.once("close", log);
	}
}

function nameOf(route: Route): string {
	if ("action" in route) return route.action;
	return route.kind === "other" ? route.route.name : route.kind;
}

function lineOf(response: ServerResponse, startMs: number) {
	const { method = "", url = "", headers } = response.req;
	return {
		method,
		path: url.split("?", 1)[0],
		status: response.headersSent ? response.statusCode : clientGone,
		milliseconds: Math.round((performance.now() - startMs) * 10) / 10,
		sender: isWriteMethod(method) && typeof headers.sender === "string" ? headers.sender : null,
	};
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
