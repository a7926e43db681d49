import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { Answering } from "./answering.ts";
import { type NodeOptions, timesOf } from "./options.ts";

/** Larger than any target that is answered, so that a long one gets 414 and not 431. */
const maxHeadBytes = 64 * 1024;

/** A server, and its end. */
export interface NodeServer {
	server: Server;
	/** Finishes the requests under way; what still hangs at their time-outs' bound is cut off. */
	end(): Promise<void>;
}

/** A server of reads and writes on Node; it does not listen yet. */
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
	// A sender that says no more still waits for its answer (RFC 9112, section 9.6); without this Node ends it first.
	Object.assign(server, { httpAllowHalfOpen: true });
	server.on("connection", (socket) => {
		silent.add(socket);
		socket.once("close", () => silent.delete(socket));
	});
	// A body that its sender asks about first is refused before it is sent.
	server.on("checkContinue", (request, response) => {
		silent.delete(request.socket);
		answering.answer(request, response, true);
	});
	const end = async () => {
		answering.closeConnections();
		// Node's own time-outs no longer count once it closes.
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
