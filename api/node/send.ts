import type { IncomingMessage, ServerResponse } from "node:http";
import type { KeptReply } from "../recent.ts";
import type { Pieces, Reply } from "../reply.ts";
import type { NodeTimes } from "./options.ts";

/**
 * Writes an answer out. A reader that does not take it in time is cut off.
 * @returns the body where the operating system has all of it; null where it is read yet
 */
export function sendReply(
	request: IncomingMessage,
	response: ServerResponse,
	{ status, headers, body }: Reply,
	times: NodeTimes,
): Uint8Array | null {
	// Nobody else reads a reply's headers: they are added to, not copied.
	if (status !== 304 && status !== 204) headers["Content-Length"] = String(body.length);
	response.writeHead(status, headers);
	if (request.method === "HEAD" || body.length === 0) response.end();
	else if (body instanceof Uint8Array) response.end(body);
	else void sendPieces(response, body);
	// Most answers are the operating system's at once.
	if (response.writableLength === 0 && body instanceof Uint8Array) return body;
	watchReader(request, response, body, times);
	return null;
}

/** Writes an answer out that was kept. A reader that does not take it in time is cut off. */
export function sendKept(
	request: IncomingMessage,
	response: ServerResponse,
	{ headers, body }: KeptReply,
	times: NodeTimes,
): void {
	response.writeHead(200, headers);
	response.end(body);
	if (response.writableLength > 0) watchReader(request, response, body, times);
}

async function sendPieces(response: ServerResponse, pieces: Pieces): Promise<void> {
	for (const piece of pieces) {
		if (response.destroyed) return;
		if (!response.write(piece)) await drained(response);
	}
	response.end();
}

/** Waits until an answer takes more, or has ended. */
function drained(response: ServerResponse): Promise<void> {
	return new Promise((resolve) => {
		const end = () => {
			response.off("drain", end);
			response.off("close", end);
			resolve();
		};
		response.on("drain", end);
		response.on("close", end);
	});
}

/** Cuts a reader off that takes longer than the answer's bytes may take. */
function watchReader(
	request: IncomingMessage,
	response: ServerResponse,
	{ length }: { length: number },
	{ readerTimeoutMs, readerBytesPerSecond }: NodeTimes,
): void {
	const patienceMs = readerTimeoutMs + (length / readerBytesPerSecond) * 1000;
	// An answer that still waits behind another one never hears that its connection has ended: its timer stays until its
	// time, and must not keep a process that has nothing else to do.
	const timer = setTimeout(() => request.socket.destroy(), patienceMs).unref();
	response.once("close", () => clearTimeout(timer));
}

/** Reads and drops what is left of a body, until the request's own time is up: its sender can still read the answer. */
export function discard(request: IncomingMessage): void {
	request.on("error", () => undefined);
	request.resume();
}
