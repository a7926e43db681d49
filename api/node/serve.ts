import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { answer, answerFailure, isWriteMethod, type Route, routeOf } from "../app.ts";
import type { Context } from "../context.ts";
import { Room } from "../limits.ts";
import type { WriteRoute } from "../register.ts";
import { inLanguageOf, type Reply } from "../reply.ts";
import { answerWrite, writeHeaders } from "../write.ts";
import { clientOf, createSend, originOf, readBody, type TrustedProxies } from "./client.ts";

export const defaultTimes = {
	headTimeoutMs: 10_000,
	/** Of the head and the body. */
	requestTimeoutMs: 30_000,
	/** Without a byte in either direction. */
	idleTimeoutMs: 120_000,
	checkEveryMs: 1_000,
};

const defaultHeldBytes = 32 * 1024 * 1024;

export interface NodeOptions {
	context: Context;
	file: ReadFragment;
	observe: (event: AnswerEvent) => void;
	logReads?: boolean;
	trustedProxies?: TrustedProxies;
	times?: Partial<typeof defaultTimes>;
	maxHeldBytes?: number;
}

export interface AnswerEvent {
	kind: "answer";
	/** The route's kind, or the name of a write's. */
	route: string;
	/** Null if the answer is not logged. */
	id: string | null;
	method: string;
	path: string;
	/** 499: the body was cut. */
	status: number;
	milliseconds: number;
	sender: string | null;
	/** Of a refusal only. */
	address?: string;
	reason?: string | undefined;
	cause?: string | undefined;
}

/** Does not listen yet. `end` answers begun requests, and closes connections after all time-outs. */
export function createNodeServer(options: NodeOptions) {
	const times = { ...defaultTimes, ...options.times };
	const exchanges = prepareExchanges(options, () => !server.listening);
	const settings = {
		headersTimeout: times.headTimeoutMs,
		requestTimeout: times.requestTimeoutMs,
		connectionsCheckingInterval: times.checkEveryMs,
		// A long target gets 414, and not 431.
		maxHeaderSize: 64 * 1024,
	};
	const silent = new Set<Socket>();
	const answering = new WeakSet<Socket>();
	const server = createServer(settings, (request, response) => {
		const { socket } = request;
		silent.delete(socket);
		// The client can send pipelined requests again (RFC 9112, section 9.3.2).
		if (answering.has(socket)) return void socket.destroy();
		answering.add(socket);
		response.on("close", () => answering.delete(socket));
		void answerExchange(openExchange(exchanges, request, response));
	});
	server.setTimeout(times.idleTimeoutMs);
	// A client may close its half and wait for the answer (RFC 9112, section 9.6).
	Object.assign(server, { httpAllowHalfOpen: true });
	server.on("connection", (socket) => {
		silent.add(socket);
		socket.once("close", () => silent.delete(socket));
	});
	const end = async () => {
		// Node's own time-outs have no effect on a server that is closing.
		const bound = setTimeout(() => server.closeAllConnections(), times.requestTimeoutMs);
		const closed = once(server, "close");
		server.close();
		// Node waits for the first request of a connection.
		for (const socket of silent) socket.destroy();
		await closed;
		clearTimeout(bound);
	};
	return { server, end };
}

function prepareExchanges(options: NodeOptions, isClosing: () => boolean) {
	const isTrusted = options.trustedProxies ?? (() => false);
	const bodies = new Room(options.maxHeldBytes ?? defaultHeldBytes);
	return { ...options, isTrusted, bodies, send: createSend(), isClosing };
}

type Exchange = ReturnType<typeof openExchange>;

function openExchange(
	server: ReturnType<typeof prepareExchanges>,
	request: IncomingMessage,
	response: ServerResponse,
) {
	const { method = "GET", url = "/" } = request;
	const route = routeOf(method, url, server.context.settings, server.context);
	let connected: ReturnType<typeof clientOf> | undefined;
	return {
		server,
		request,
		response,
		startMs: performance.now(),
		method,
		url,
		route,
		/** Must first be called before the connection ends. */
		client: () => (connected ??= clientOf(request, server.isTrusted)),
	};
}

async function answerExchange(exchange: Exchange): Promise<void> {
	const { request, url, route, client } = exchange;
	const { context, file, isTrusted } = exchange.server;
	const { headers } = request;
	try {
		const reply = await answer(route, context.settings.basePath, {
			context,
			file,
			ifNoneMatch: headers["if-none-match"] ?? null,
			write: (route) => answerSigned(exchange, route),
			client: () => client().shares,
			question: () => {
				const origin = originOf(request, isTrusted);
				const acceptEncoding = String(headers["accept-encoding"] ?? "");
				return { acceptEncoding, address: origin && origin + url };
			},
		});
		finishExchange(exchange, reply);
	} catch (error) {
		finishExchange(exchange, answerFailure(error, route.kind, context.log));
	}
}

async function answerSigned(exchange: Exchange, route: WriteRoute): Promise<Reply> {
	const { server, request, method, url: target } = exchange;
	const { shares } = exchange.client();
	const room = server.bodies.hold(shares);
	try {
		const body = await readBody(request, room.take);
		const signed = writeHeaders((name) => request.headersDistinct[name]?.join(", "));
		const write = { route, method, target, address: shares[0] ?? null, body, ...signed };
		return await answerWrite(write, server.context);
	} finally {
		room.end();
	}
}

function finishExchange(exchange: Exchange, made: Reply): void {
	const { server, request, response, startMs, method, url, route } = exchange;
	// So that the client can read the answer.
	if (method !== "GET" && method !== "HEAD") request.resume();
	if (server.isClosing()) response.shouldKeepAlive = false;
	const { headers } = request;
	const reply = inLanguageOf(made, headers["accept-language"] ?? null);
	const { status, reason, cause } = reply;
	const isWrite = isWriteMethod(method);
	const isRefused = status >= 400;
	const id = isRefused || isWrite || server.logReads ? randomUUID() : null;
	if (id !== null) reply.headers["X-Request-Id"] = id;
	server.send(response, reply);
	server.observe({
		kind: "answer",
		route: nameOf(route),
		id,
		method,
		path: url.split("?", 1)[0] as string,
		status,
		milliseconds: Math.round((performance.now() - startMs) * 100) / 100,
		sender: isWrite && typeof headers.sender === "string" ? headers.sender : null,
		...(isRefused && { address: exchange.client().address, reason, cause }),
	});
}

function nameOf(route: Route): string {
	if (route.kind === "write") return route.write.name;
	return route.kind === "other" ? route.route.name : route.kind;
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
