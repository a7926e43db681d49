import type { IncomingMessage, ServerResponse } from "node:http";
import { answerFailure, answerPlain, handleRead, routeOf } from "../app.ts";
import { inLanguageOf, type Reply, refuseRead } from "../reply.ts";
import { answerStatus } from "../status.ts";
import { clientGone, Exchange, nextId } from "./exchange.ts";
import { type Answered, CountedLog, kindOfAnswer } from "./log.ts";
import type { NodeOptions, NodeTimes } from "./options.ts";
import { ConnectionOrder } from "./order.ts";
import { RecentReplies } from "./recent.ts";
import { Sending } from "./send.ts";
import { Writing } from "./writing.ts";

/** Answers the requests of one server. */
export class Answering {
	readonly #options: NodeOptions;
	readonly #times: NodeTimes;
	readonly #order = new ConnectionOrder();
	readonly #writing: Writing;
	readonly #sending: Sending;
	readonly #recent: RecentReplies | null;
	readonly #log: CountedLog<Answered>;
	#isClosing = false;

	constructor(options: NodeOptions, times: NodeTimes) {
		this.#options = options;
		this.#times = times;
		this.#writing = new Writing(options, times);
		this.#sending = new Sending(times);
		this.#recent = options.version ? new RecentReplies(options.version) : null;
		this.#log = new CountedLog(options.log, times.logEveryMs, kindOfAnswer);
	}

	/**
	 * Answers a request, after the requests before it on the same connection.
	 * @param asksFirst whether the client waits for `100 Continue` before it sends the body
	 */
	answer(request: IncomingMessage, response: ServerResponse, asksFirst = false): void {
		const { method = "GET", url: target = "/", socket } = request;
		const isPlainGet = method === "GET" && request.headers["if-none-match"] === undefined;
		const start = performance.now();
		this.#order.runInOrder(socket, (done) => {
			const kept = isPlainGet ? this.#recent?.find(target) : undefined;
			const route = kept?.route ?? routeOf(method, target, this.#options.context.settings);
			const exchange = new Exchange(request, response, route, start, asksFirst, this.#options.trustedProxies);
			if (exchange.hasGone) {
				this.#noteGone(exchange);
				return done();
			}
			response.once("close", done);
			const reply = kept?.reply ?? this.#replyTo(exchange);
			if (reply instanceof Promise) {
				const { log } = this.#options.context;
				const settled = reply.catch((error) => answerFailure(error, route.kind, log));
				return void settled.then((one) => this.#send(exchange, one));
			}
			if (isPlainGet && !kept) this.#recent?.keep(target, { route, reply });
			this.#send(exchange, reply);
		});
	}

	/** Makes each connection end after its next answer. */
	closeConnections(): void {
		this.#isClosing = true;
	}

	/** Logs the repeated refusals that are counted but not logged yet. */
	end(): void {
		this.#log.end();
	}

	/** The answer to a request; null where the client has disconnected. A read of fragments is answered without a promise. */
	#replyTo(exchange: Exchange): Reply | Promise<Reply | null> {
		const { route, request } = exchange;
		const { context, fragments, pages } = this.#options;
		const ifNoneMatch = request.headers["if-none-match"] ?? null;
		switch (route.kind) {
			case "docs":
			case "doc":
				return handleRead(route, ifNoneMatch, fragments, context.log);
			case "write":
				return this.#writing.replyTo(exchange, route.action);
			case "page":
			case "records": {
				const acceptEncoding = String(request.headers["accept-encoding"] ?? "");
				return pages ? pages(route, { ifNoneMatch, acceptEncoding }) : refuseRead(404);
			}
			case "status":
				return answerStatus(route.segment, context.status ?? null, context.log, exchange.client.counted);
			default:
				return answerPlain(route, context);
		}
	}

	#send(exchange: Exchange, answer: Reply | null): void {
		const { request, response, isWrite } = exchange;
		if (answer === null) {
			this.#noteGone(exchange);
			return void response.destroy();
		}
		exchange.reason = answer.reason;
		const reply = isWrite ? inLanguageOf(answer, request.headers["accept-language"] ?? null) : answer;
		// The rest of the body is read and discarded, so that the client can still read the answer.
		if (request.method !== "GET" && request.method !== "HEAD") request.resume();
		if (reply.status < 400 && !isWrite && !this.#options.allReads) {
			this.#options.count();
			return this.#write(exchange, reply);
		}
		// The client's address is read here, since it is known only while the connection lasts.
		const { client } = exchange;
		const isBadWrite = isWrite && (reply.status === 401 || reply.status === 429);
		// Writes from this machine are not delayed, just as they are not limited.
		if (!isBadWrite || client.counted === null) return this.#writeNoted(exchange, reply);
		// The answer is delayed: a client that guesses signatures or ignores its limit sends again as soon as it has an answer.
		setTimeout(() => this.#writeNoted(exchange, reply), this.#times.badWriteDelayMs).unref();
	}

	/** Writes an answer and its log line, with the same id in both. */
	#writeNoted(exchange: Exchange, reply: Reply): void {
		const id = nextId();
		reply.headers["X-Request-Id"] = id;
		this.#write(exchange, reply);
		const { response } = exchange;
		if (response.writableFinished || exchange.hasGone) this.#note(exchange, id);
		else response.once("close", () => this.#note(exchange, id));
	}

	#write(exchange: Exchange, reply: Reply): void {
		const { request, response } = exchange;
		if (this.#isClosing) response.shouldKeepAlive = false;
		if (!exchange.hasGone) this.#sending.send(request, response, reply);
		this.#measure(exchange, reply.status);
	}

	#noteGone(exchange: Exchange): void {
		this.#note(exchange, nextId());
		this.#measure(exchange, clientGone);
	}

	#note(exchange: Exchange, id: string): void {
		this.#log.add(exchange.describe(id));
	}

	#measure({ route, start, reason }: Exchange, status: number): void {
		const name = route.kind === "write" ? route.action : route.kind;
		this.#options.measure?.(name, status, performance.now() - start, reason);
	}
}
