import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { NodeTimes } from "./options.ts";
import type { KeptReply } from "./recent.ts";

/** Most bytes of unread answers; beyond this number, the connection with the oldest unread answer is closed. */
const maxUnreadBytes = 256 * 1024 * 1024;

/** Writes the answers of one server. If a client does not read its answer in time, the connection is closed. */
export class Sending {
	readonly #times: NodeTimes;
	/** Unread answer → its bytes, the oldest answer first. */
	readonly #unread = new Map<ServerResponse, number>();
	#unreadBytes = 0;

	constructor(times: NodeTimes) {
		this.#times = times;
	}

	send(
		{ method }: IncomingMessage,
		response: ServerResponse,
		{ status, headers, body, text }: KeptReply,
	): void {
		if (status !== 304 && status !== 204) headers["Content-Length"] = String(body.length);
		response.writeHead(status, headers);
		if (method === "HEAD" || body.length === 0) response.end();
		else if (text !== undefined) response.end(text, "latin1");
		else if (body instanceof Uint8Array) response.end(body);
		else pipeline(Readable.from(body), response, () => undefined);
		// The operating system's buffer takes most answers at once.
		if (response.writableLength > 0 || !(body instanceof Uint8Array)) this.#watch(response, body.length);
	}

	#watch(response: ServerResponse, length: number): void {
		const { readerTimeoutMs, readerBytesPerSecond } = this.#times;
		const timeoutMs = readerTimeoutMs + (length / readerBytesPerSecond) * 1000;
		const timer = setTimeout(() => response.socket?.destroy(), timeoutMs);
		const bytes = response.writableLength;
		this.#unread.set(response, bytes);
		this.#unreadBytes += bytes;
		response.once("close", () => {
			clearTimeout(timer);
			this.#unread.delete(response);
			this.#unreadBytes -= bytes;
		});
		const [oldest] = this.#unread.keys();
		if (this.#unreadBytes > maxUnreadBytes) oldest?.socket?.destroy();
	}
}
