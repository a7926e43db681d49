import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { Answering } from "./answering.ts";
import { type NodeOptions, timesOf } from "./options.ts";

/** Most bytes of a request's head: more than the longest target, so that a target that is too long gets 414 and not 431. */
const maxHeadBytes = 64 * 1024;

/** A server, and the function that ends it. */
export interface NodeServer {
	server: Server;
	/** Answers the requests that have begun, and closes the connections that are still open after all time-outs. */
	end(): Promise<void>;
}

/** Makes a server of reads and writes on Node; it does not listen yet. */
export function createNodeServer(options: NodeOptions): NodeServer {
	const times = timesOf(options);
	const answering = new Answering(options, times);
	/** Connections that have sent no request yet. */
	const silent = new Set<Socket>();
	const settings = {
		headersTimeout: times.headTimeoutMs,
		requestTimeout: times.headTimeoutMs + times.bodyTimeoutMs,
		connectionsCheckingInterval: times.checkEveryMs,
		maxHeaderSize: maxHeadBytes,
	};
	const server = createServer(settings, (request, response) => {
		if (silent.size > 0) silent.delete(request.socket);
		answering.answer(request, response);
	});
	// A client that has closed its half of a connection still waits for its answer (RFC 9112, section 9.6). By default, Node
	// closes the other half first.
	Object.assign(server, { httpAllowHalfOpen: true });
	server.on("connection", (socket) => {
		silent.add(socket);
		socket.once("close", () => silent.delete(socket));
	});
	// With `Expect: 100-continue`, a body can be refused before the client sends it.
	server.on("checkContinue", (request, response) => {
		silent.delete(request.socket);
		answering.answer(request, response, true);
	});
	const end = async () => {
		answering.closeConnections();
		// Node's own time-outs have no effect on a server that is closing.
		const boundMs = times.headTimeoutMs + times.bodyTimeoutMs;
		const bound = setTimeout(() => server.closeAllConnections(), boundMs);
		const closed = once(server, "close");
		server.close();
		for (const socket of silent) socket.destroy();
		await closed;
		clearTimeout(bound);
		answering.end();
	};
	return { server, end };
}
