import type { ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import { maxJoinedBytes } from "../read.ts";
import type { Reply } from "../reply.ts";

/** Beyond this number, the connection with the oldest unread answer is closed. */
const maxUnreadBytes = 256 * 1024 * 1024;

/**
 * Closes the connection of a client that does not read its answer in time. @param timeoutMs in addition to
 * the time at `bytesPerSecond`
 */
export function createSend(timeoutMs: number, bytesPerSecond: number) {
	/** Bytes of each answer, the oldest answer first. */
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
		// Once `Expect: 100-continue` is refused, no body follows.
		const isSending = request.method !== "GET" && !request.complete && request.headers.expect === undefined;
		const isStream = !(body instanceof Uint8Array) && body.length > maxJoinedBytes;
		if (request.method === "HEAD" || body.length === 0) response.end();
		else if (isStream) pipeline(Readable.from(body), response, () => undefined);
		else if (isSending && !response.shouldKeepAlive && headers.Connection !== "close") {
			// The client wants the connection closed. Closed before its whole body was read, it could lose
			// the answer (RFC 9112, section 9.6).
			response.write(joined(body));
			finished(request, () => response.end());
		} else response.end(joined(body));
		// The operating system's buffer takes most answers at once.
		if (response.writableLength > 0 || isStream) watch(response, body.length);
	};
}

/** Half of the pieces are commas: row `docs-10` of `npm run bench`. */
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

/** Lines of further kinds are counted together. */
const maxKinds = 1_000;

/**
 * Combines similar lines, so that refusals cannot fill a disk: the first of a kind is written at once, and at
 * the end of a window the last one, with the number of all further ones.
 * @param kindOf null for a line that is always written
 */
export function countedLog<Line extends object>(
	write: (line: Line & { repeated?: number }) => void,
	windowMs: number,
	kindOf: (line: Line) => string | null,
) {
	const kinds = new Map<string, { last: Line; repeated: number }>();
	let timer: NodeJS.Timeout | undefined;
	/** Kinds with further lines are counted in the next window, too. */
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
