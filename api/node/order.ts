import type { Socket } from "node:net";

/** Most requests that may wait behind a write on one connection; a client that sends more is cut off. */
const maxWaiting = 100;

/**
 * The order of requests on a connection: what is pipelined behind a write is answered from after the write (RFC 9112,
 * section 9.3.2). Reads alone need none of it, since each is answered at once.
 */
export class ConnectionOrder {
	readonly #lines = new Map<Socket, { waiting: number; end: Promise<void> }>();

	/** Whether a request on a connection has to wait for its turn. */
	mustWait(socket: Socket): boolean {
		return this.#lines.size > 0 && this.#lines.has(socket);
	}

	/** Does what a request asks for, after the ones before it on its connection; `work` never rejects. */
	inTurn(socket: Socket, work: () => void | Promise<void>): void {
		const line = this.#lines.get(socket) ?? { waiting: 0, end: Promise.resolve() };
		line.waiting += 1;
		if (line.waiting > maxWaiting) return void socket.destroy();
		this.#lines.set(socket, line);
		const end = line.waiting === 1 ? Promise.resolve(work()) : line.end.then(work);
		line.end = end.then(() => {
			line.waiting -= 1;
			if (line.waiting === 0) this.#lines.delete(socket);
		});
	}
}
