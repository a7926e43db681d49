import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { answer, answerFailure, isWriteMethod, type Route, routeOf, type WriteAction } from "../app.ts";
import type { Context } from "../context.ts";
import { inLanguageOf, type Reply } from "../reply.ts";
import { answerWrite, writeHeaders } from "../write.ts";
import { clientGone, clientOf, createReceiver, createSend, originOf, type TrustedProxies } from "./client.ts";

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
	/** Gets writes and refusals. */
	log: (answered: Answered) => void;
	allReads: boolean;
	observe?: (event: AnswerEvent) => void;
	trustedProxies?: TrustedProxies;
	times?: Partial<typeof defaultTimes>;
	maxHeldBytes?: number;
}

export interface AnswerEvent {
	kind: "answer";
	/** The route's kind, or the action of a write. */
	route: string;
	status: number;
	milliseconds: number;
	method: string;
	reason: string | undefined;
}

export type Answered = { status: number; address?: string; [member: string]: unknown };

const maxWaiting = 1_000;

/** Does not listen yet. `end` answers begun requests, and closes connections after all time-outs. */
export function createNodeServer(options: NodeOptions) {
	const times = { ...defaultTimes, ...options.times };
	const requestTimeout = times.headTimeoutMs + times.bodyTimeoutMs;
	const exchanges = prepareExchanges(options, times, () => !server.listening);
	const settings = {
		headersTimeout: times.headTimeoutMs,
		requestTimeout,
		connectionsCheckingInterval: times.checkEveryMs,
		// A long target gets 414, and not 431.
		maxHeaderSize: 64 * 1024,
	};
	/** Unanswered requests; null before the first one. */
	const connections = new Map<Socket, (() => void)[] | null>();
	/**
	 * A pipelined request starts after the earlier answer (RFC 9112, section 9.3.2), in the next iteration of
	 * the event loop, so that other connections are answered in between.
	 */
	const server = createServer(settings, (request, response) => {
		const { socket } = request;
		const waiting = connections.get(socket) ?? [];
		connections.set(socket, waiting);
		const startMs = performance.now();
		const next = () => {
			waiting.shift();
			if (waiting[0]) setImmediate(waiting[0]);
		};
		const begin = () => {
			if (hasGone(response)) return next();
			response.on("close", next);
			answerExchange(openExchange(exchanges, request, response, startMs));
		};
		const count = waiting.push(begin);
		if (count === 1) begin();
		else if (count > maxWaiting + 1) socket.destroy();
	});
	// A client may close its half and wait for the answer (RFC 9112, section 9.6).
	Object.assign(server, { httpAllowHalfOpen: true });
	server.on("connection", (socket) => {
		connections.set(socket, null);
		socket.once("close", () => connections.delete(socket));
	});
	const end = async () => {
		// Node's own time-outs have no effect on a server that is closing.
		const bound = setTimeout(() => server.closeAllConnections(), requestTimeout);
		const closed = once(server, "close");
		server.close();
		// Node waits for the first request of a connection.
		for (const [socket, waiting] of connections) if (!waiting) socket.destroy();
		await closed;
		clearTimeout(bound);
	};
	return { server, end };
}

function prepareExchanges(options: NodeOptions, times: typeof defaultTimes, isClosing: () => boolean) {
	const isTrusted = options.trustedProxies ?? (() => false);
	const receive = createReceiver(times.bodyTimeoutMs, options.maxHeldBytes);
	const send = createSend(times.readerTimeoutMs, times.readerBytesPerSecond);
	return { ...options, isTrusted, receive, send, isClosing };
}

type Exchange = ReturnType<typeof openExchange>;

/** @param startMs when the request's head came */
function openExchange(
	server: ReturnType<typeof prepareExchanges>,
	request: IncomingMessage,
	response: ServerResponse,
	startMs: number,
) {
	const { settings, routes } = server.context;
	const { method = "GET", url = "/" } = request;
	const route = routeOf(method, url, settings, routes);
	let connected: ReturnType<typeof clientOf> | undefined;
	// Must first be called before the connection ends.
	const client = () => (connected ??= clientOf(request, server.isTrusted));
	return { server, request, response, startMs, method, url, route, client };
}

function answerExchange(exchange: Exchange): void {
	const { request, url, route, client } = exchange;
	const { context, file, isTrusted } = exchange.server;
	const { headers } = request;
	const finish = (reply: Reply) => finishExchange(exchange, reply);
	const fail = (error: unknown) => finish(answerFailure(error, route.kind, context.log));
	try {
		const reply = answer(route, context.settings.basePath, {
			context,
			file,
			ifNoneMatch: headers["if-none-match"] ?? null,
			write: (action) => answerSigned(exchange, action),
			client: () => client().shares,
			question: () => {
				const origin = originOf(request, isTrusted);
				const acceptEncoding = String(headers["accept-encoding"] ?? "");
				return { acceptEncoding, address: origin && origin + url };
			},
		});
		if (reply instanceof Promise) void reply.then(finish).catch(fail);
		else finish(reply);
	} catch (error) {
		fail(error);
	}
}

async function answerSigned(exchange: Exchange, action: WriteAction): Promise<Reply> {
	const { server, request, method, url: target } = exchange;
	const { headers, headersDistinct } = request;
	const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : null;
	const { shares } = exchange.client();
	const address = shares[0] ?? null;
	const { read, end } = server.receive(request, shares);
	const readBody = async () => {
		const body = await read();
		// Costs as much as a wrong signature.
		const isMissing = "status" in body && [408, clientGone].includes(body.status);
		if (isMissing && address !== null) server.context.limiter?.punish(address);
		return body;
	};
	try {
		const signed = writeHeaders((name) => headersDistinct[name]?.join(", "));
		const write = { action, method, target, address, length, ...signed };
		return await answerWrite(write, readBody, server.context);
	} finally {
		end();
	}
}

function finishExchange(exchange: Exchange, made: Reply): void {
	const { server, request, response, startMs, method, route } = exchange;
	// So that the client can read the answer.
	if (method !== "GET" && method !== "HEAD") request.resume();
	if (server.isClosing()) response.shouldKeepAlive = false;
	const reply = inLanguageOf(made, request.headers["accept-language"] ?? null);
	const { status, reason, cause } = reply;
	const isLogged = status >= 400 || isWriteMethod(method) || server.allReads;
	const id = isLogged ? randomUUID() : "";
	if (isLogged) reply.headers["X-Request-Id"] = id;
	if (!hasGone(response)) server.send(response, reply);
	const milliseconds = performance.now() - startMs;
	server.observe?.({ kind: "answer", method, route: nameOf(route), status, milliseconds, reason });
	if (!isLogged) return;
	const { address } = exchange.client();
	const log = () => {
		const line = lineOf(exchange);
		server.log({ id, ...line, ...(line.status >= 400 && { address, reason, cause }) });
	};
	if (response.writableFinished || hasGone(response)) log();
	else response.once("close", log);
}

function hasGone({ socket }: ServerResponse): boolean {
	return socket?.destroyed ?? true;
}

function nameOf(route: Route): string {
	if ("action" in route) return route.action;
	return route.kind === "other" ? route.route.name : route.kind;
}

function lineOf({ request, response, startMs, method, url }: Exchange) {
	const { sender } = request.headers;
	return {
		method,
		path: url.split("?", 1)[0],
		status: response.headersSent ? response.statusCode : clientGone,
		milliseconds: Math.round((performance.now() - startMs) * 10) / 10,
		sender: isWriteMethod(method) && typeof sender === "string" ? sender : null,
	};
}

/**
 * @param settings names for the error
 * @returns such as `http://127.0.0.1:8080`
 * @throws {Error} if the server cannot listen
 */
export async function listen(
	server: Server,
	{ host, port }: { host: string; port: number },
	settings: string,
	advice = "",
): Promise<string> {
	server.listen(port, host);
	await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
		const reason = error.code === "EADDRINUSE" ? "another process listens there" : error.message;
		throw new Error(`${settings}: cannot listen on ${host}:${port}: ${reason}${advice}`);
	});
	const { port: listening } = server.address() as AddressInfo;
	return `http://${host.includes(":") ? `[${host}]` : host}:${listening}`;
}
