import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Most requests that may wait on one connection; a client that sends more is cut off. */
const maxWaiting = 1_000;
/** Bytes of answers that a connection's reader may leave unread before its next request has to wait. */
const maxUnreadBytes = 256 * 1024;
/** Most unread bytes of all connections; beyond, the one that has left any unread for longest is cut off. */
const maxAllUnreadBytes = 256 * 1024 * 1024;

/**
 * The order of requests on a connection: what is pipelined behind a write is answered from after the write (RFC 9112,
 * section 9.3.2), and what is pipelined behind answers that are not read waits until they are. Other reads need none of
 * it, since each is answered at once.
 */
export class ConnectionOrder {
	readonly #lines = new Map<Socket, { waiting: number; end: Promise<void> }>();
	/** The connections with answers that are not read, the oldest first, and what waits for that. */
	readonly #unread = new Map<Socket, { bytes: number; wake: () => void }>();
	#allUnreadBytes = 0;

	/** Whether a request on a connection has to wait for its turn. */
	mustWait(socket: Socket): boolean {
		return (this.#lines.size > 0 && this.#lines.has(socket)) || this.#isBehind(socket);
	}

	/** Does what a request asks for, after the ones before it on its connection; `work` never rejects. */
	inTurn(socket: Socket, work: () => void | Promise<void>): void {
		const line = this.#lines.get(socket) ?? { waiting: 0, end: Promise.resolve() };
		line.waiting += 1;
		if (line.waiting > maxWaiting) return void socket.destroy();
		this.#lines.set(socket, line);
		const isFirst = line.waiting === 1 && !this.#isBehind(socket);
		const end = isFirst ? Promise.resolve(work()) : line.end.then(() => this.#room(socket)).then(work);
		line.end = end.then(() => {
			line.waiting -= 1;
			if (line.waiting === 0) this.#lines.delete(socket);
		});
	}

	/** Counts what the operating system has not taken of an answer that was just written. */
	countUnread(socket: Socket, response: ServerResponse): void {
		const bytes = response.writableLength;
		if (bytes === 0 || socket.destroyed) return;
		const unread = this.#unread.get(socket) ?? { bytes: 0, wake: () => undefined };
		this.#unread.set(socket, unread);
		unread.bytes += bytes;
		this.#allUnreadBytes += bytes;
		response.once("close", () => {
			if (this.#unread.get(socket) !== unread) return;
			unread.bytes -= bytes;
			this.#allUnreadBytes -= bytes;
			if (unread.bytes === 0) this.#unread.delete(socket);
			unread.wake();
		});
		const [oldest] = this.#unread.keys();
		if (this.#allUnreadBytes > maxAllUnreadBytes) oldest?.destroy();
	}

	/** A connection has ended: its answers take no memory any more. */
	forget(socket: Socket): void {
		const unread = this.#unread.get(socket);
		if (!unread) return;
		this.#unread.delete(socket);
		this.#allUnreadBytes -= unread.bytes;
		unread.wake();
	}

	#isBehind(socket: Socket): boolean {
		return this.#unread.size > 0 && (this.#unread.get(socket)?.bytes ?? 0) > maxUnreadBytes;
	}

	/** Resolves once a connection's reader has taken enough, or is gone. */
	async #room(socket: Socket): Promise<void> {
		const unread = this.#unread.get(socket);
		if (!unread || unread.bytes <= maxUnreadBytes) return;
		await new Promise<void>((resolve) => {
			unread.wake = resolve;
		});
		return this.#room(socket);
	}
}
