import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { NodeTimes } from "./options.ts";
import type { KeptReply } from "./recent.ts";

/** Most bytes of answers that no reader has taken; beyond, the connection with the oldest of them is cut off. */
const maxUnreadBytes = 256 * 1024 * 1024;

/** Writes the answers of one server. A reader that does not take its answer in time is cut off. */
export class Sending {
	readonly #times: NodeTimes;
	/** The bytes of each answer that is not taken yet, the oldest answer first. */
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
		// The operating system takes most answers at once.
		if (response.writableLength > 0 || !(body instanceof Uint8Array)) this.#watch(response, body.length);
	}

	#watch(response: ServerResponse, length: number): void {
		const { readerTimeoutMs, readerBytesPerSecond } = this.#times;
		const patienceMs = readerTimeoutMs + (length / readerBytesPerSecond) * 1000;
		const timer = setTimeout(() => response.socket?.destroy(), patienceMs);
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
