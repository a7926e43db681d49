import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { defaultTimes, Exchange, hasGone, type NodeOptions, prepareExchanges } from "./exchange.ts";

const maxWaiting = 1_000;

/**
 * Does not listen yet. `end` answers the requests that have begun, and closes what is open after all
 * time-outs.
 */
export function createNodeServer(options: NodeOptions) {
	const times = { ...defaultTimes, ...options.times };
	const { headTimeoutMs, bodyTimeoutMs, checkEveryMs } = times;
	const exchanges = prepareExchanges(options, times, () => !server.listening);
	const settings = {
		headersTimeout: headTimeoutMs,
		requestTimeout: headTimeoutMs + bodyTimeoutMs,
		connectionsCheckingInterval: checkEveryMs,
		// A target that is too long gets 414, and not 431.
		maxHeaderSize: 64 * 1024,
	};
	/** The requests of each connection that are not answered; null before its first one. */
	const connections = new Map<Socket, (() => void)[] | null>();
	/**
	 * A pipelined request is answered only after the answer before it is written (RFC 9112, section 9.3.2), and
	 * sees the state after it. It starts in the next iteration of the event loop, so that other connections are
	 * answered in between.
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
			new Exchange(exchanges, request, response, startMs).answer();
		};
		const count = waiting.push(begin);
		if (count === 1) begin();
		else if (count > maxWaiting + 1) socket.destroy();
	});
	// A client that has closed its half of a connection still waits for its answer (RFC 9112, section 9.6).
	Object.assign(server, { httpAllowHalfOpen: true });
	server.on("connection", (socket) => {
		connections.set(socket, null);
		socket.once("close", () => connections.delete(socket));
	});
	const end = async () => {
		// Node's own time-outs have no effect on a server that is closing.
		const bound = setTimeout(() => server.closeAllConnections(), headTimeoutMs + bodyTimeoutMs);
		const closed = once(server, "close");
		server.close();
		// Node waits for the first request of a connection.
		for (const [socket, waiting] of connections) if (!waiting) socket.destroy();
		await closed;
		clearTimeout(bound);
	};
	return { server, end };
}

/**
 * @param settings names for the error @param advice a sentence at its end
 * @returns the address, such as `http://127.0.0.1:8080`
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
