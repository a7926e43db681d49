import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
	answerFailure,
	answerHealth,
	answerHealthz,
	answerRefused,
	answerVersion,
	handleRead,
	type Route,
	routeOf,
} from "../app.ts";
import { answerMoved } from "../pages.ts";
import { RecentReplies } from "../recent.ts";
import { allowReads, inLanguageOf, type Reply, refuseRead } from "../reply.ts";
import { answerStatus } from "../status.ts";
import type { Write } from "../write.ts";
import { isWriteMethod } from "../write-routes.ts";
import { type Client, Clients } from "./address.ts";
import { clientGone, type Exchange, hasGone, logOnceEnded, nextId, type RouteName } from "./exchange.ts";
import { type Answered, CountedLog, kindOfAnswer } from "./log.ts";
import type { NodeOptions, NodeTimes } from "./options.ts";
import { ConnectionOrder } from "./order.ts";
import { Outgoing } from "./outgoing.ts";
import type { Pages } from "./pages.ts";
import { Refusals } from "./refusals.ts";
import { discard, sendKept, sendReply } from "./send.ts";
import { copyBody, Slabs } from "./slabs.ts";
import { Writing } from "./writing.ts";

/** Answers the requests of one server. */
export class Answering {
	readonly #options: NodeOptions;
	readonly #times: NodeTimes;
	readonly #clients: Clients;
	readonly #recent: RecentReplies | null;
	readonly #order = new ConnectionOrder();
	readonly #writing: Writing;
	readonly #log: CountedLog<Answered>;
	readonly #refusals: Refusals;
	readonly #slabs = new Slabs();
	readonly #outgoing = new Outgoing(this.#slabs);
	#isClosing = false;

	constructor(options: NodeOptions, times: NodeTimes) {
		this.#options = options;
		this.#times = times;
		this.#clients = new Clients(options.trustedProxies ?? []);
		// Where each read has its line in the log, nothing is done without one.
		this.#recent = options.version && !options.allReads ? new RecentReplies(options.version, copyBody) : null;
		this.#writing = new Writing(options, times);
		this.#log = new CountedLog(options.log, times.logEveryMs, kindOfAnswer);
		this.#refusals = new Refusals(times.badWriteDelayMs);
	}

	/**
	 * Answers a request, after those before it on its connection.
	 * @param asksFirst whether its sender waits for `100 Continue` before it sends the body
	 */
	answer(request: IncomingMessage, response: ServerResponse, asksFirst = false): void {
		const { method = "GET", url: target = "/" } = request;
		if (method === "GET" && this.#sendKept(request, response, target)) return;
		const start = performance.now();
		const [route, reason] = ["docs" as const, undefined];
		const exchange: Exchange = { request, response, method, target, start, route, asksFirst, reason };
		if (!this.#order.mustWait(request.socket)) return void this.#answer(exchange, false);
		this.#order.inTurn(request.socket, () => this.#answer(exchange, true));
	}

	/** A connection has ended. */
	forget(socket: Socket): void {
		this.#order.forget(socket);
	}

	/** From now on connections end with their answers. */
	closeConnections(): void {
		this.#isClosing = true;
	}

	/** Logs what was counted. */
	end(): void {
		this.#log.end();
	}

	/** Sends the answer that is kept for a target; false where there is none, or something comes before. */
	#sendKept(request: IncomingMessage, response: ServerResponse, target: string): boolean {
		const { measure, count } = this.#options;
		const start = measure ? performance.now() : 0;
		const kept = this.#recent?.find(target);
		if (!kept || ifNoneMatchOf(request) !== null || this.#order.mustWait(request.socket)) return false;
		count();
		this.#outgoing.add(kept.body.length, () => {
			if (this.#isClosing) response.shouldKeepAlive = false;
			if (!hasGone({ request, response })) sendKept(request, response, kept, this.#times);
			this.#order.countUnread(request.socket, response);
			measure?.(kept.kind, 200, performance.now() - start, undefined);
			return null;
		});
		return true;
	}

	#answer(exchange: Exchange, hasWaited: boolean): void | Promise<void> {
		const { request, method, target } = exchange;
		if (hasWaited && request.socket.destroyed) return;
		const ifNoneMatch = ifNoneMatchOf(request);
		const route = routeOf(method, target, this.#options.context.settings);
		exchange.route = nameOf(route);
		if (route.kind === "write") return this.#answerWrite(exchange, route.action, hasWaited);
		if (route.kind === "page" || route.kind === "records")
			return this.#answerPage(exchange, route, hasWaited);
		if (route.kind === "status") return this.#answerStatus(exchange, route.segment, hasWaited);
		const reply = this.#replyTo(route, ifNoneMatch);
		const isFragments = route.kind === "docs" || route.kind === "doc";
		if (isFragments && method === "GET") this.#recent?.keep(target, route.kind, reply);
		return this.#send(exchange, reply);
	}

	#replyTo(
		route: Exclude<Route, { kind: "write" | "page" | "records" | "status" }>,
		ifNoneMatch: string | null,
	): Reply {
		const { context, fragments } = this.#options;
		switch (route.kind) {
			case "refused":
				return answerRefused(route);
			case "moved":
				return answerMoved(route.location);
			case "version":
				return answerVersion();
			case "healthz":
				return answerHealthz(null, context.commit);
			case "preflight":
				return allowReads();
			case "readyz":
				return answerHealth(context.readiness());
			default:
				return handleRead(route, ifNoneMatch, fragments, context.report, this.#slabs.allocate);
		}
	}

	/** Answers a write, and keeps what comes behind it on its connection waiting until then. */
	#answerWrite(exchange: Exchange, action: Write["action"], hasWaited: boolean): void | Promise<void> {
		const { request, response } = exchange;
		const work = async () => {
			const client = this.#clients.of(request);
			const reply = await this.#writing.replyTo(exchange, action, client);
			if (reply) return this.#send(exchange, reply);
			// The sender went away in the middle of its body: there is nobody to answer.
			logOnceEnded(exchange, nextId(), client, this.#log);
			this.#measure(exchange, clientGone);
			response.destroy();
		};
		return this.#inTurn(exchange, work, hasWaited);
	}

	/** Answers with a file of the catalogue, which is read off the event loop. */
	#answerPage(exchange: Exchange, wanted: Parameters<Pages>[0], hasWaited: boolean): void | Promise<void> {
		const { pages, context } = this.#options;
		const { headers } = exchange.request;
		const ifNoneMatch = headers["if-none-match"] ?? null;
		const acceptEncoding = String(headers["accept-encoding"] ?? "");
		const work = async () => {
			const reply = await Promise.resolve(
				pages?.(wanted, { ifNoneMatch, acceptEncoding }) ?? refuseRead(404),
			).catch((error) => answerFailure(error, "page", context.report));
			return this.#send(exchange, reply);
		};
		return this.#inTurn(exchange, work, hasWaited);
	}

	#inTurn({ request }: Exchange, work: () => Promise<void>, hasWaited: boolean): void | Promise<void> {
		const safely = () => work().catch((error) => this.#options.context.report(error));
		return hasWaited ? safely() : this.#order.inTurn(request.socket, safely);
	}

	#answerStatus(exchange: Exchange, segment: string, hasWaited: boolean): void | Promise<void> {
		const { status = null, report } = this.#options.context;
		const { counted } = this.#clients.of(exchange.request);
		const work = async () => this.#send(exchange, await answerStatus(segment, status, report, counted));
		return this.#inTurn(exchange, work, hasWaited);
	}

	/** Sends an answer; a promise where what comes behind it on its connection waits for it. */
	#send(exchange: Exchange, answer: Reply): void | Promise<void> {
		const { request, method } = exchange;
		exchange.reason = answer.reason;
		const language = request.headers["accept-language"] ?? null;
		const reply = isWriteMethod(method) ? inLanguageOf(answer, language) : answer;
		if (method !== "GET" && method !== "HEAD") discard(request);
		const isNoted = reply.status >= 400 || isWriteMethod(method) || this.#options.allReads;
		if (!isNoted) {
			this.#options.count();
			if (!this.#order.mustWait(request.socket)) {
				return this.#outgoing.add(reply.body.length, () => this.#write(exchange, reply));
			}
			// At once: what waits behind it on its connection is asked for only when this is read.
			return this.#writeAndGiveBack(exchange, reply);
		}
		// Of a connection that has ended nobody knows its client any more.
		const client = this.#clients.of(request);
		if (!isRefusal(reply)) return this.#writeNoted(exchange, reply, client);
		const isBadWrite = isWriteMethod(method) && (reply.status === 401 || reply.status === 429);
		// This machine itself is not slowed, as it is not limited.
		const isSlowed = isBadWrite && client.counted !== null;
		if (isSlowed) return this.#refusals.sendSlowly(() => this.#writeNoted(exchange, reply, client));
		this.#refusals.send(() => this.#writeNoted(exchange, reply, client));
	}

	/** Writes an answer that has a line in the log, under the id that its headers have. */
	#writeNoted(exchange: Exchange, reply: Reply, client: Client): void {
		const id = nextId();
		reply.headers["X-Request-Id"] = id;
		this.#writeAndGiveBack(exchange, reply);
		logOnceEnded(exchange, id, client, this.#log);
	}

	#writeAndGiveBack(exchange: Exchange, reply: Reply): void {
		const body = this.#write(exchange, reply);
		if (body) this.#slabs.giveBack(body);
	}

	/** Writes an answer, and returns its body once nobody reads it any more. */
	#write(exchange: Exchange, reply: Reply): Uint8Array | null {
		const { request, response } = exchange;
		if (this.#isClosing) response.shouldKeepAlive = false;
		const body = hasGone(exchange) ? null : sendReply(request, response, reply, this.#times);
		this.#order.countUnread(request.socket, response);
		this.#measure(exchange, reply.status);
		return body;
	}

	#measure({ route, start, reason }: Exchange, status: number): void {
		this.#options.measure?.(route, status, performance.now() - start, reason);
	}
}

/** The header `If-None-Match`, or null. */
function ifNoneMatchOf({ headers }: IncomingMessage): string | null {
	return headers["if-none-match"] ?? null;
}

/** Whether an answer says that its client asked for something wrong. */
function isRefusal({ status }: Reply): boolean {
	return status >= 400 && status < 500;
}

function nameOf(route: Route): RouteName {
	return route.kind === "write" ? route.action : route.kind;
}
