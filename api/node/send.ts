import type { ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import { maxJoinedBytes } from "../read.ts";
import type { Reply } from "../reply.ts";

/** Most bytes of unread answers; beyond this number, the connection with the oldest unread answer is closed. */
const maxUnreadBytes = 256 * 1024 * 1024;

/**
 * Returns a function that writes the answers of one server. If a client does not read its answer in time, the connection
 * is closed.
 * @param timeoutMs longest time to read an answer, in addition to the time at `bytesPerSecond`
 */
export function createSend(timeoutMs: number, bytesPerSecond: number) {
	/** Unread answer → its bytes, the oldest answer first. */
	const unread = new Map<ServerResponse, number>();
	let unreadBytes = 0;

	function watch(response: ServerResponse, length: number): void {
		const close = () => response.socket?.destroy();
		const timer = setTimeout(close, timeoutMs + (length / bytesPerSecond) * 1000);
		const bytes = response.writableLength;
		unread.set(response, bytes);
		unreadBytes += bytes;
		response.once("close", () => {
			clearTimeout(timer);
			unread.delete(response);
			unreadBytes -= bytes;
		});
		const [oldest] = unread.keys();
		if (unreadBytes > maxUnreadBytes) oldest?.socket?.destroy();
	}

	return (response: ServerResponse, { status, headers, body }: Reply): void => {
		if (status !== 304 && status !== 204) headers["Content-Length"] = String(body.length);
		response.writeHead(status, headers);
		const { req: request } = response;
		// Without `Expect: 100-continue`, which no body follows once it is refused.
		const isSending = request.method !== "GET" && !request.complete && request.headers.expect === undefined;
		const isStream = !(body instanceof Uint8Array) && body.length > maxJoinedBytes;
		if (request.method === "HEAD" || body.length === 0) response.end();
		else if (isStream) pipeline(Readable.from(body), response, () => undefined);
		else if (isSending && !response.shouldKeepAlive && headers.Connection !== "close") {
			// The client wants the connection closed. If that happened before its whole body was read, it could lose the
			// answer (RFC 9112, section 9.6).
			response.write(joined(body));
			finished(request, () => response.end());
		} else response.end(joined(body));
		// The operating system's buffer takes most answers at once.
		if (response.writableLength > 0 || isStream) watch(response, body.length);
	};
}

/** Joins pieces. Half of them are commas: row `docs-10` of `npm run bench`. */
function joined(body: Reply["body"]): Uint8Array {
	if (body instanceof Uint8Array) return body;
	const bytes = Buffer.allocUnsafe(body.length);
	let at = 0;
	for (const piece of body) {
		if (piece.length === 1) bytes[at] = piece[0] as number;
		else bytes.set(piece, at);
		at += piece.length;
	}
	return bytes;
}
