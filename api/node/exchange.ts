import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { answerFailure, answerPlain, answerStatus, isWriteMethod, type Route, routeOf } from "../app.ts";
import type { Context } from "../context.ts";
import { answerRead } from "../read.ts";
import { inLanguageOf, type Reply } from "../reply.ts";
import { answerGone, clientGone, clientOf, createWriter, originOf, type TrustedProxies } from "./address.ts";
import { countedLog, createSend } from "./send.ts";

export const defaultTimes = {
	headTimeoutMs: 10_000,
	bodyTimeoutMs: 20_000,
	/** For the client to read an answer, in addition to the time at `readerBytesPerSecond`. */
	readerTimeoutMs: 30_000,
	readerBytesPerSecond: 64_000,
	/** Of the answer to a wrong signature, or to a write that exceeds a limit. */
	badWriteDelayMs: 100,
	checkEveryMs: 1_000,
	/** Similar refusals of one address within it share a log line. */
	logEveryMs: 1_000,
};

export interface NodeOptions {
	context: Context;
	file: ReadFragment;
	/** For each write and each answer from 400 up; for every answer with `allReads`. */
	log: (answered: Answered) => void;
	allReads: boolean;
	count: () => void;
	/**
	 * For every answer after it was passed to Node. `route`: its kind, or the action of a write; `ms`: since
	 * the request's head; the reason why a write was refused.
	 */
	measure?: ((route: string, status: number, ms: number, reason: string | undefined) => void) | undefined;
	trustedProxies?: TrustedProxies;
	times?: Partial<typeof defaultTimes>;
	/** Of bodies in memory, including those of writes that are being made. */
	maxHeldBytes?: number;
}

export function shareOf(options: NodeOptions, isClosing: () => boolean) {
	const times = { ...defaultTimes, ...options.times };
	return {
		...options,
		times,
		isClosing,
		send: createSend(times.readerTimeoutMs, times.readerBytesPerSecond),
		write: createWriter(options.context, times.bodyTimeoutMs, options.maxHeldBytes),
		// By address, method and status, with any path.
		answered: countedLog(options.log, times.logEveryMs, ({ address, method, status }) =>
			status < 400 ? null : `${address} ${method} ${status}`,
		),
	};
}

const maxTextLength = 1_000;

export class Exchange {
	readonly #startMs = performance.now();
	#route = "";
	#client: ReturnType<typeof clientOf> | undefined;
	#reason: string | undefined;

	constructor(
		readonly request: IncomingMessage,
		readonly response: ServerResponse,
		readonly server: ReturnType<typeof shareOf>,
	) {}

	get hasGone(): boolean {
		return this.response.socket?.destroyed ?? true;
	}

	get #isWrite(): boolean {
		return isWriteMethod(this.request.method ?? "");
	}

	/** Read it for the first time before the connection ends: later, it is unknown. */
	get #knownClient() {
		this.#client ??= clientOf(this.request, this.server.trustedProxies ?? []);
		return this.#client;
	}

	/** Called once the earlier requests of the connection are answered. */
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
		// The rest of the body is discarded, so that the client can still read the answer.
		if (method !== "GET" && method !== "HEAD") request.resume();
		const isWrite = this.#isWrite;
		if (answer.status < 400 && !isWrite && !server.allReads) {
			server.count();
			return this.#write(answer);
		}
		const reply = inLanguageOf(answer, headers["accept-language"] ?? null);
		const { counted } = this.#knownClient;
		const isBadWrite = isWrite && (reply.status === 401 || reply.status === 429);
		// Writes from this machine are neither delayed nor limited.
		if (!isBadWrite || counted === null) return this.#writeNoted(reply);
		// A client that guesses signatures or ignores its limit sends again as soon as it has an answer.
		setTimeout(() => this.#writeNoted(reply), server.times.badWriteDelayMs).unref();
	}

	/** The answer and its log line have the same id. */
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

	/** After the end of the exchange. It contains no secret and no signature. */
	describe(id: string) {
		const { method = "", url = "", headers } = this.request;
		const status = this.response.headersSent ? this.response.statusCode : clientGone;
		return {
			id,
			method,
			path: cut(url.split("?", 1)[0] as string),
			status,
			milliseconds: Math.round((performance.now() - this.#startMs) * 10) / 10,
			sender: this.#isWrite && typeof headers.sender === "string" ? cut(headers.sender) : null,
			...(status >= 400 && { address: this.#knownClient.address }),
			...(status >= 400 && this.#reason !== undefined && { reason: this.#reason }),
		};
	}
}

/** For the log; or the last one of `repeated` similar refusals. */
export type Answered = ReturnType<Exchange["describe"]> & { repeated?: number };

function nameOf(route: Route): string {
	if (route.kind === "write") return route.action;
	return route.kind === "other" ? route.route.name : route.kind;
}

function cut(text: string): string {
	return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
