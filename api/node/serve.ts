import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Exchange, type NodeOptions, shareOf } from "./exchange.ts";

/** Most bytes of a request's head: more than the longest target, so that a target that is too long gets 414 and not 431. */
const maxHeadBytes = 64 * 1024;
/** Most requests that may wait on one connection; with more, the connection is closed. */
const maxWaiting = 1_000;

/** A server, and the function that ends it. */
export interface NodeServer {
	server: Server;
	/** Answers the requests that have begun, and closes the connections that are still open after all time-outs. */
	end(): Promise<void>;
}

/** Makes a server of reads and writes on Node; it does not listen yet. */
export function createNodeServer(options: NodeOptions): NodeServer {
	const shared = shareOf(options, () => !server.listening);
	const { headTimeoutMs, bodyTimeoutMs, checkEveryMs } = shared.times;
	const settings = {
		headersTimeout: headTimeoutMs,
		requestTimeout: headTimeoutMs + bodyTimeoutMs,
		connectionsCheckingInterval: checkEveryMs,
		maxHeaderSize: maxHeadBytes,
	};
	const answerNext = createOrder();
	/** Connections without the head of a request so far. */
	const silent = new Set<Socket>();
	const answer = (asksFirst: boolean) => (request: IncomingMessage, response: ServerResponse) => {
		silent.delete(request.socket);
		answerNext(new Exchange(request, response, asksFirst, shared));
	};
	const server = createServer(settings, answer(false));
	// With `Expect: 100-continue`, a body can be refused before the client sends it.
	server.on("checkContinue", answer(true));
	// A client that has closed its half of a connection still waits for its answer (RFC 9112, section 9.6). By default, Node
	// closes the other half first.
	Object.assign(server, { httpAllowHalfOpen: true });
	server.on("connection", (socket) => {
		silent.add(socket);
		socket.once("close", () => silent.delete(socket));
	});
	const end = async () => {
		// Node's own time-outs have no effect on a server that is closing.
		const bound = setTimeout(() => server.closeAllConnections(), headTimeoutMs + bodyTimeoutMs);
		const closed = once(server, "close");
		server.close();
		// Node waits for the first request of a connection.
		for (const socket of silent) socket.destroy();
		await closed;
		clearTimeout(bound);
		shared.answered.end();
	};
	return { server, end };
}

/**
 * Returns a function that keeps the order of requests on each connection. A pipelined request is answered only after the
 * answer to the request before it is written (RFC 9112, section 9.3.2): it sees the state after an earlier write, and
 * waits for the client to read. It then starts in the next iteration of the event loop, so that other connections are
 * answered in between.
 */
function createOrder(): (exchange: Exchange) => void {
	/** Connection on which a request is being answered → the requests that wait for it. */
	const waiting = new Map<Socket, Exchange[]>();

	function answer(exchange: Exchange): void {
		const { socket } = exchange.request;
		const next = () => {
			const following = waiting.get(socket)?.shift();
			if (following) setImmediate(answer, following);
			else waiting.delete(socket);
		};
		if (exchange.hasGone) next();
		else exchange.response.once("close", next);
		exchange.answer();
	}

	return (exchange) => {
		const { socket } = exchange.request;
		const before = waiting.get(socket);
		if (before) {
			if (before.push(exchange) > maxWaiting) socket.destroy();
			return;
		}
		waiting.set(socket, []);
		answer(exchange);
	};
}
