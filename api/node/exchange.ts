import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { answer, answerFailure, isWriteMethod, type Route, routeOf } from "../app.ts";
import type { Context } from "../context.ts";
import { maxJoinedBytes } from "../read.ts";
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
	/** Gets each answer that is not a plain read. */
	log: (answered: Answered) => void;
	allReads: boolean;
	/** `route`: its kind, or the action of a write. `milliseconds`: since the request's head. */
	observe?: (answered: {
		kind: "answer";
		route: string;
		status: number;
		milliseconds: number;
		reason: string | undefined;
	}) => void;
	trustedProxies?: TrustedProxies;
	times?: Partial<typeof defaultTimes>;
	maxHeldBytes?: number;
}

/** A line of the log; a refusal's has the client's address, a reason and a cause. */
export type Answered = { status: number; address?: string; [member: string]: unknown };

export function hasGone({ socket }: ServerResponse): boolean {
	return socket?.destroyed ?? true;
}

export function createAnswer(options: NodeOptions, times: typeof defaultTimes, isClosing: () => boolean) {
	const { context, file, log, allReads, observe, trustedProxies = () => false } = options;
	const { settings } = context;
	const send = createSend(times.readerTimeoutMs, times.readerBytesPerSecond);
	const write = createWriter(context, times.bodyTimeoutMs, options.maxHeldBytes);

	/** @param startMs when the request's head came */
	return (request: IncomingMessage, response: ServerResponse, startMs: number): void => {
		const { method = "GET", url = "/", headers } = request;
		const isWrite = isWriteMethod(method);
		const route = routeOf(method, url, settings, context.routes);
		let first: ReturnType<typeof clientOf> | undefined;
		// First read before the connection ends: later, it is unknown.
		const client = () => {
			first ??= clientOf(request, trustedProxies);
			return first;
		};
		const finish = (made: Reply) => {
			// The client can then still read the answer.
			if (method !== "GET" && method !== "HEAD") request.resume();
			if (isClosing()) response.shouldKeepAlive = false;
			const isNoted = made.status >= 400 || isWrite || allReads;
			const reply = inLanguageOf(made, headers["accept-language"] ?? null);
			const id = isNoted ? randomUUID() : "";
			if (isNoted) reply.headers["X-Request-Id"] = id;
			if (!hasGone(response)) send(response, reply);
			const { reason, cause } = made;
			const milliseconds = performance.now() - startMs;
			observe?.({ kind: "answer", route: nameOf(route), status: reply.status, milliseconds, reason });
			if (!isNoted) return;
			const { address } = client();
			const note = () => {
				const line = lineOf(response, startMs);
				log({ id, ...line, ...(line.status >= 400 && { address, reason, cause }) });
			};
			if (response.writableFinished || hasGone(response)) note();
			else response.once("close", note);
		};
		const fail = (error: unknown) => finish(answerFailure(error, route.kind, context.log));
		try {
			const reply = answer(route, settings.basePath, {
				context,
				file,
				ifNoneMatch: headers["if-none-match"] ?? null,
				write: (action) => write(request, action, client().shares),
				client: () => client().shares,
				question: () => {
					const origin = originOf(request, trustedProxies);
					const acceptEncoding = String(headers["accept-encoding"] ?? "");
					return { acceptEncoding, address: origin && origin + request.url };
				},
			});
			if (reply instanceof Promise) void reply.then(finish).catch(fail);
			else finish(reply);
		} catch (error) {
			fail(error);
		}
	};
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
