import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ReadFragment } from "../../registry/targets/target.ts";
import { answerFailure, answerPlain, answerStatus, isWriteMethod, type Route, routeOf } from "../app.ts";
import type { Context } from "../context.ts";
import { answerRead } from "../read.ts";
import { inLanguageOf, type Reply } from "../reply.ts";
import { answerGone, clientGone, clientOf, createWriter, originOf, type TrustedProxies } from "./address.ts";
import { countedLog, createSend } from "./send.ts";

/** Time limits and intervals of the server. */
export const defaultTimes = {
	/** Longest time for a request's head, from its first byte. */
	headTimeoutMs: 10_000,
	/** Longest time for a request's body, from the end of its head. */
	bodyTimeoutMs: 20_000,
	/** Longest time for the client to read an answer, in addition to the time at `readerBytesPerSecond`. */
	readerTimeoutMs: 30_000,
	/** The rate at which a slow client may read an answer. */
	readerBytesPerSecond: 64_000,
	/** Delay of the answer to a wrong signature, or to a write that exceeds a limit. */
	badWriteDelayMs: 100,
	/** Interval at which the time-outs of heads and bodies are checked. */
	checkEveryMs: 1_000,
	/** Interval within which similar refusals of one address are combined into one log line. */
	logEveryMs: 1_000,
};

/** The handlers' context, and what else the server needs. */
export interface NodeOptions {
	context: Context;
	/** Reads a fragment. */
	file: ReadFragment;
	/** Called for each write and for each answer from 400 up; for every answer with `allReads`. */
	log: (answered: Answered) => void;
	allReads: boolean;
	/** Called for each answer that is not logged. */
	count: () => void;
	/**
	 * Called for every answer after it was passed to Node, with the route (its kind, or the action of a write), the status,
	 * the milliseconds since the request's head, and the reason why a write was refused.
	 */
	measure?: ((route: string, status: number, ms: number, reason: string | undefined) => void) | undefined;
	/** Proxies whose `X-Forwarded-For` is trusted; none by default. */
	trustedProxies?: TrustedProxies;
	/** The times that differ from the defaults. */
	times?: Partial<typeof defaultTimes>;
	/** Most bytes of bodies that are in memory at once, including those of writes that are being made. */
	maxHeldBytes?: number;
}

/** What the exchanges of one server share. */
export function shareOf(options: NodeOptions, isClosing: () => boolean) {
	const times = { ...defaultTimes, ...options.times };
	return {
		...options,
		times,
		isClosing,
		send: createSend(times.readerTimeoutMs, times.readerBytesPerSecond),
		write: createWriter(options.context, times.bodyTimeoutMs, options.maxHeldBytes),
		// Refusals are counted by address, method and status, with any path.
		answered: countedLog(options.log, times.logEveryMs, ({ address, method, status }) =>
			status < 400 ? null : `${address} ${method} ${status}`,
		),
	};
}

/** Longest text that is kept for the log, in characters. */
const maxTextLength = 1_000;

/** One request and its answer. */
export class Exchange {
	/** When the request's head was received. */
	readonly #startMs = performance.now();
	#route = "";
	#client: ReturnType<typeof clientOf> | undefined;
	/** Why a write was refused. */
	#reason: string | undefined;

	constructor(
		readonly request: IncomingMessage,
		readonly response: ServerResponse,
		readonly server: ReturnType<typeof shareOf>,
	) {}

	/** Whether the connection ended before the answer. */
	get hasGone(): boolean {
		return this.response.socket?.destroyed ?? true;
	}

	get #isWrite(): boolean {
		return isWriteMethod(this.request.method ?? "");
	}

	/** The client. It is known only while the connection lasts: read it for the first time before its end. */
	get #knownClient() {
		this.#client ??= clientOf(this.request, this.server.trustedProxies ?? []);
		return this.#client;
	}

	/** Answers the request. It is called once the requests before it on the same connection are answered. */
	answer(): void {
		const { method = "GET", url = "/" } = this.request;
		const { context } = this.server;
		const route = routeOf(method, url, context.settings, context.routes);
		this.#route = nameOf(route);
		if (this.hasGone) return this.#writeNoted(answerGone());
		const fail = (error: unknown) => this.#send(answerFailure(error, route.kind, context.log));
		try {
			const reply = this.#replyTo(route);
			if (reply instanceof Promise) void reply.then((made) => this.#send(made)).catch(fail);
			else this.#send(reply);
		} catch (error) {
			fail(error);
		}
	}

	#replyTo(route: Route): Reply | Promise<Reply> {
		const { request, response, server } = this;
		const { context, file } = server;
		const ifNoneMatch = request.headers["if-none-match"] ?? null;
		switch (route.kind) {
			case "docs":
			case "doc":
				return answerRead(route, ifNoneMatch, file);
			case "write":
				return server.write(response, route.action, this.#knownClient.shares);
			case "other": {
				const origin = originOf(request, server.trustedProxies ?? []);
				const { basePath } = context.settings;
				return route.route.answer({
					method: request.method ?? "GET",
					path: (request.url ?? "/").slice(basePath.length),
					basePath,
					ifNoneMatch,
					acceptEncoding: String(request.headers["accept-encoding"] ?? ""),
					address: origin && origin + request.url,
					client: this.#knownClient.shares,
				});
			}
			case "status":
				return answerStatus(route.segment, context.status ?? null, context.log, this.#knownClient.shares);
			default:
				return answerPlain(route, context);
		}
	}

	#send(answer: Reply): void {
		const { request, server } = this;
		const { headers, method } = request;
		this.#reason = answer.reason;
		// The rest of the body is read and discarded, so that the client can still read the answer.
		if (method !== "GET" && method !== "HEAD") request.resume();
		const isWrite = this.#isWrite;
		if (answer.status < 400 && !isWrite && !server.allReads) {
			server.count();
			return this.#write(answer);
		}
		const reply = inLanguageOf(answer, headers["accept-language"] ?? null);
		// The client's address is read here, since it is known only while the connection lasts.
		const { counted } = this.#knownClient;
		const isBadWrite = isWrite && (reply.status === 401 || reply.status === 429);
		// Writes from this machine are not delayed, just as they are not limited.
		if (!isBadWrite || counted === null) return this.#writeNoted(reply);
		// The answer is delayed: a client that guesses signatures or ignores its limit sends again as soon as it has an answer.
		setTimeout(() => this.#writeNoted(reply), server.times.badWriteDelayMs).unref();
	}

	/** Writes an answer and its log line, with the same id in both. */
	#writeNoted(reply: Reply): void {
		const id = randomUUID();
		reply.headers["X-Request-Id"] = id;
		this.#write(reply);
		const note = () => this.server.answered.add(this.describe(id));
		if (this.response.writableFinished || this.hasGone) note();
		else this.response.once("close", note);
	}

	#write(reply: Reply): void {
		const { response, server } = this;
		if (server.isClosing()) response.shouldKeepAlive = false;
		if (!this.hasGone) server.send(response, reply);
		server.measure?.(this.#route, reply.status, performance.now() - this.#startMs, this.#reason);
	}

	/** The log line of the exchange, after its end. It contains no secret and no signature. */
	describe(id: string) {
		const { method = "", url = "", headers } = this.request;
		const status = this.response.headersSent ? this.response.statusCode : clientGone;
		return {
			/** The answer's `X-Request-Id`. */
			id,
			method,
			path: cut(url.split("?", 1)[0] as string),
			status,
			/** From the request's head to the end of the answer. */
			milliseconds: Math.round((performance.now() - this.#startMs) * 10) / 10,
			/** The `Sender` header of a write, or null. */
			sender: this.#isWrite && typeof headers.sender === "string" ? cut(headers.sender) : null,
			...(status >= 400 && { address: this.#knownClient.address }),
			...(status >= 400 && this.#reason !== undefined && { reason: this.#reason }),
		};
	}
}

/** One answer, for the log; or the last one of `repeated` similar refusals in the last second. */
export type Answered = ReturnType<Exchange["describe"]> & { repeated?: number };

/** The name of a route in metrics. */
function nameOf(route: Route): string {
	if (route.kind === "write") return route.action;
	return route.kind === "other" ? route.route.name : route.kind;
}

function cut(text: string): string {
	return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
