import type { ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import { maxJoinedBytes } from "../read.ts";
import type { Reply } from "../reply.ts";

/** Most bytes of unread answers; beyond this number, the connection with the oldest unread answer is closed. */
const maxUnreadBytes = 256 * 1024 * 1024;

/**
 * Most bytes of a body that is sent as text. Node joins a text to the head, and sends both with one `write`; bytes are sent
 * with `writev`, which takes longer: row `doc` of `npm run bench`.
 */
const maxTextBytes = 16_384;

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
		else if (!(body instanceof Uint8Array)) response.end(latin1Of(body), "latin1");
		else if (isSending && !response.shouldKeepAlive && headers.Connection !== "close") {
			// The client wants the connection closed. If that happened before its whole body was read, it could lose the
			// answer (RFC 9112, section 9.6).
			response.write(body);
			finished(request, () => response.end());
		} else if (body.length > maxTextBytes) response.end(body);
		else response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"), "latin1");
		// The operating system's buffer takes most answers at once.
		if (response.writableLength > 0 || isStream) watch(response, body.length);
	};
}

/** Joins pieces as a text of bytes: for 50 fragments this takes a quarter of the time of joining bytes. */
function latin1Of(pieces: Iterable<Uint8Array>): string {
	let text = "";
	for (const { buffer, byteOffset, length } of pieces)
		text += Buffer.from(buffer, byteOffset, length).toString("latin1");
	return text;
}
