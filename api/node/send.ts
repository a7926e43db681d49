import type { ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import type { Route } from "../app.ts";
import type { Reply } from "../reply.ts";

/** Most bytes of unread answers; beyond this number, the connection with the oldest unread answer is closed. */
const maxUnreadBytes = 256 * 1024 * 1024;

/**
 * Most bytes of a body that is sent as text. Node joins a text to the head, and sends both with one `write`; bytes are sent
 * with `writev`, which takes longer: row `doc` of `npm run bench`.
 */
const maxJoinedBytes = 16_384;

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
		if (request.method === "HEAD" || body.length === 0) response.end();
		else if (!(body instanceof Uint8Array)) pipeline(Readable.from(body), response, () => undefined);
		else if (isSending && !response.shouldKeepAlive && headers.Connection !== "close") {
			// The client wants the connection closed. If that happened before its whole body was read, it could lose the
			// answer (RFC 9112, section 9.6).
			response.write(body);
			finished(request, () => response.end());
		} else if (body.length > maxJoinedBytes) response.end(body);
		else response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"), "latin1");
		// The operating system's buffer takes most answers at once.
		if (response.writableLength > 0 || !(body instanceof Uint8Array)) watch(response, body.length);
	};
}

/** Most bytes of all kept answers, with their targets; and of the body of one. */
const maxKeptBytes = 4_000_000;
const maxBodyBytes = 250_000;

/**
 * Keeps the answers to recent reads of fragments, until any fragment changes. All viewers of a map request the same list,
 * and joining 50 fragments takes longer than sending them: rows `docs-50` and `doc-cpu` of `npm run bench` need this.
 * @param version returns another number after each change of any fragment
 */
export function keepReplies(version: () => number) {
	/** Request target → its answer. */
	const kept = new Map<string, { kind: "doc" | "docs"; reply: Reply }>();
	let keptVersion = version();
	let bytes = 0;
	const clear = () => {
		kept.clear();
		bytes = 0;
		keptVersion = version();
	};
	return {
		find(target: string) {
			if (keptVersion !== version()) clear();
			return kept.get(target);
		},
		/** Keeps the answer to a target if it is the fragments that were asked for. */
		keep(target: string, kind: Route["kind"], reply: Reply): void {
			const { status, body } = reply;
			if ((kind !== "doc" && kind !== "docs") || status !== 200) return;
			if (!(body instanceof Uint8Array) || body.length > maxBodyBytes) return;
			// A character of a target may take two bytes, and the rest of an answer some 2,000.
			const taken = body.length + 2 * target.length + 2_000;
			if (bytes + taken > maxKeptBytes) clear();
			bytes += taken;
			kept.set(target, { kind, reply });
		},
	};
}
