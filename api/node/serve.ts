import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Log } from "../../store/store.ts";
import { logText } from "../context.ts";
import { defaultTimes, Exchange, type NodeOptions, shareOf } from "./exchange.ts";

const maxWaiting = 1_000;

/**
 * Does not listen yet. `end` answers the requests that have begun, and closes what is open after all
 * time-outs.
 */
export function createNodeServer(options: NodeOptions) {
	const times = { ...defaultTimes, ...options.times };
	const { headTimeoutMs, bodyTimeoutMs, checkEveryMs } = times;
	const answered = countedLog(options.log, times.logEveryMs, ({ address, method, status }) =>
		status < 400 ? null : `${address} ${method} ${status}`,
	);
	const shared = shareOf({ ...options, times, log: answered.add, isClosing: () => !server.listening });
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
	// With `Expect: 100-continue`, a body can be refused before the client sends it.
	server.on("checkContinue", answer);
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
		answered.end();
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

let waiting: string[] = [];

process.on("exit", () => {
	errors.end();
	writeWaiting();
});

/**
 * JSON lines on standard output, written once for each iteration of the event loop: a hundred writes would
 * delay answers.
 */
function logLine(fields: object): void {
	const line = `${logText({ time: new Date().toISOString(), ...fields })}\n`;
	if (waiting.push(line) === 1) setImmediate(writeWaiting);
	// A warning must be in the log before the answer that it explains.
	if ("warning" in fields) writeWaiting();
}

function writeWaiting(): void {
	if (waiting.length > 0) process.stdout.write(waiting.join(""));
	waiting = [];
}

const countErrorsMs = 1_000;

export function countedErrors(write: (line: { error: string; repeated?: number }) => void, windowMs: number) {
	// The stack without the message, which may vary.
	const placeOf = ({ error }: { error: string }) => error.match(/^ {4}at .*$/gm)?.join("\n") ?? error;
	const log = countedLog(write, windowMs, placeOf);
	return {
		add: (error: unknown) =>
			log.add({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
		end: () => log.end(),
	};
}

const errors = countedErrors(logLine, countErrorsMs);

export const serviceLog: Log = {
	info: logLine,
	warn: (warning) => logLine({ warning }),
	error: errors.add,
};

const maxKinds = 1_000;

/**
 * Refusals must not fill a disk: the first of a kind is written at once, and at the end of a window the last
 * one, with the number of all further ones.
 * @param kindOf null for a line that is always written
 */
export function countedLog<Line extends object>(
	write: (line: Line & { repeated?: number }) => void,
	windowMs: number,
	kindOf: (line: Line) => string | null,
) {
	const kinds = new Map<string, { last: Line; repeated: number }>();
	let timer: NodeJS.Timeout | undefined;
	const end = (): void => {
		clearTimeout(timer);
		for (const [kind, counted] of kinds) {
			if (counted.repeated > 0) write({ ...counted.last, repeated: counted.repeated });
			else kinds.delete(kind);
			counted.repeated = 0;
		}
		timer = kinds.size > 0 ? setTimeout(end, windowMs).unref() : undefined;
	};
	const add = (line: Line): void => {
		const name = kindOf(line);
		if (name === null) return write(line);
		const kind = kinds.size < maxKinds || kinds.has(name) ? name : "other";
		const counted = kinds.get(kind);
		if (counted) {
			counted.last = line;
			counted.repeated += 1;
			return;
		}
		kinds.set(kind, { last: line, repeated: 0 });
		write(line);
		timer ??= setTimeout(end, windowMs).unref();
	};
	return { add, end };
}
