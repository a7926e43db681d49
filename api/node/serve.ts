import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Exchange, type NodeOptions, shareOf } from "./exchange.ts";

const maxWaiting = 1_000;

/**
 * Does not listen yet. `end` answers the requests that have begun, and closes what is open after all
 * time-outs.
 */
export function createNodeServer(options: NodeOptions) {
	const shared = shareOf(options, () => !server.listening);
	const { headTimeoutMs, bodyTimeoutMs, checkEveryMs } = shared.times;
	const connections = new Map<Socket, Connection>();
	const answer = (request: IncomingMessage, response: ServerResponse) => {
		connections.get(request.socket)?.add(new Exchange(request, response, shared));
	};
	const settings = {
		headersTimeout: headTimeoutMs,
		requestTimeout: headTimeoutMs + bodyTimeoutMs,
		connectionsCheckingInterval: checkEveryMs,
		// More than the longest target, so that a target that is too long gets 414 and not 431.
		maxHeaderSize: 64 * 1024,
	};
	const server = createServer(settings, answer);
	// With `Expect: 100-continue`, a body can be refused before the client sends it.
	server.on("checkContinue", answer);
	// A client that has closed its half of a connection still waits for its answer (RFC 9112, section 9.6).
	// By default, Node closes the other half first.
	Object.assign(server, { httpAllowHalfOpen: true });
	server.on("connection", (socket) => {
		connections.set(socket, new Connection());
		socket.once("close", () => connections.delete(socket));
	});
	const end = async () => {
		// Node's own time-outs have no effect on a server that is closing.
		const bound = setTimeout(() => server.closeAllConnections(), headTimeoutMs + bodyTimeoutMs);
		const closed = once(server, "close");
		server.close();
		// Node waits for the first request of a connection.
		for (const [socket, { hasBegun }] of connections) if (!hasBegun) socket.destroy();
		await closed;
		clearTimeout(bound);
		shared.answered.end();
	};
	return { server, end };
}

/**
 * A pipelined request is answered only after the answer before it is written (RFC 9112, section 9.3.2): it
 * sees the state after an earlier write, and waits for the client to read. It starts in the next iteration of
 * the event loop, so that other connections are answered in between.
 */
class Connection {
	hasBegun = false;
	readonly #exchanges: Exchange[] = [];

	add(exchange: Exchange): void {
		this.hasBegun = true;
		const count = this.#exchanges.push(exchange);
		if (count === 1) this.#answerFirst();
		else if (count > maxWaiting + 1) exchange.request.socket.destroy();
	}

	readonly #answerFirst = (): void => {
		const [exchange] = this.#exchanges as [Exchange];
		if (exchange.hasGone) this.#next();
		else exchange.response.on("close", this.#next);
		exchange.answer();
	};

	readonly #next = (): void => {
		this.#exchanges.shift();
		if (this.#exchanges.length > 0) setImmediate(this.#answerFirst);
	};
}

/**
 * @param settings names of the settings of host and port, for the error
 * @param advice a sentence at the end of the error
 * @returns the address, such as `http://127.0.0.1:8080`
 * @throws {Error} that names the settings, if the server cannot listen
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
