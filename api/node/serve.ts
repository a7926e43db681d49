import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Log } from "../../store/store.ts";
import { logText } from "../context.ts";
import { defaultTimes, Exchange, type NodeOptions, shareOf } from "./exchange.ts";

const maxWaiting = 1_000;

/** In the log, of one address in a second. */
const maxRefusals = 20;

/**
 * Does not listen yet. `end` answers the requests that have begun, and closes what is open after all
 * time-outs.
 */
export function createNodeServer(options: NodeOptions) {
	const times = { ...defaultTimes, ...options.times };
	const { headTimeoutMs, bodyTimeoutMs, checkEveryMs } = times;
	const log = limitedLog(options.log, maxRefusals, ({ address = "", status }) =>
		status < 400 ? null : address,
	);
	const shared = shareOf({ ...options, times, log, isClosing: () => !server.listening });
	const connections = new Map<Socket, Connection>();
	const answer = (request: IncomingMessage, response: ServerResponse) => {
		connections.get(request.socket)?.add(new Exchange(request, response, shared));
	};
	const settings = {
		headersTimeout: headTimeoutMs,
		requestTimeout: headTimeoutMs + bodyTimeoutMs,
		connectionsCheckingInterval: checkEveryMs,
		// A target that is too long gets 414, and not 431.
		maxHeaderSize: 64 * 1024,
	};
	const server = createServer(settings, answer);
	// A client that has closed its half of a connection still waits for its answer (RFC 9112, section 9.6).
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
	};
	return { server, end };
}

/**
 * A pipelined request is answered only after the answer before it is written (RFC 9112, section 9.3.2), and
 * sees the state after it. It starts in the next iteration of the event loop, so that other connections are
 * answered in between.
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
		if (exchange.hasGone) return this.#next();
		exchange.response.on("close", this.#next);
		exchange.answer();
	};

	readonly #next = (): void => {
		this.#exchanges.shift();
		if (this.#exchanges.length > 0) setImmediate(this.#answerFirst);
	};
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

/** JSON lines on standard output. */
function logLine(fields: object): void {
	process.stdout.write(`${logText({ time: new Date().toISOString(), ...fields })}\n`);
}

// The stack without the message, which may vary.
const errors = limitedLog(logLine, 1, ({ error }: { error: string }) => stackOf(error));

export function stackOf(error: string): string {
	return error.match(/^ {4}at .*$/gm)?.join("\n") ?? error;
}

export const serviceLog: Log = {
	info: logLine,
	warn: (warning) => logLine({ warning }),
	error: (error) =>
		errors({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
};

const windowMs = 1_000;
const maxKinds = 1_000;

/**
 * Refusals must not fill a disk: of each kind, `maxLines` are written in a second. `skipped`: how many lines
 * were left out before a line.
 * @param kindOf null for a line that is always written
 */
export function limitedLog<Line extends object>(
	write: (line: Line & { skipped?: number }) => void,
	maxLines: number,
	kindOf: (line: Line) => string | null,
	now = () => performance.now(),
) {
	const kinds = new Map<string, number>();
	let endMs = 0;
	let skipped = 0;
	return (line: Line): void => {
		const kind = kindOf(line);
		if (kind === null) return write(line);
		if (now() >= endMs) {
			kinds.clear();
			endMs = now() + windowMs;
		}
		const count = kinds.get(kind) ?? (kinds.size < maxKinds ? 0 : maxLines);
		if (count === maxLines) {
			skipped += 1;
			return;
		}
		kinds.set(kind, count + 1);
		write(skipped > 0 ? { ...line, skipped } : line);
		skipped = 0;
	};
}
