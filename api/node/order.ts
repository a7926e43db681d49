import type { Socket } from "node:net";

/** Most requests that may wait on one connection; a client that sends more is cut off. */
const maxWaiting = 1_000;

/** Answers one request; calls `done` once the answer is written, or its client has gone. */
type Task = (done: () => void) => void;

/**
 * The order of requests on a connection. A pipelined request is answered after the answer before it is written: from the
 * state after an earlier write (RFC 9112, section 9.3.2), and no sooner than the client reads. It waits for the next
 * turn of the event loop, so that requests of other connections are answered in between.
 */
export class ConnectionOrder {
	/** The requests that wait behind the one that is answered now. */
	readonly #waiting = new Map<Socket, Task[]>();

	/** Runs a task after those before it on its connection. */
	inTurn(socket: Socket, task: Task): void {
		const waiting = this.#waiting.get(socket);
		if (!waiting) {
			this.#waiting.set(socket, []);
			return task(() => this.#next(socket));
		}
		if (waiting.push(task) > maxWaiting) socket.destroy();
	}

	#next(socket: Socket): void {
		const task = this.#waiting.get(socket)?.shift();
		if (task) setImmediate(task, () => this.#next(socket));
		else this.#waiting.delete(socket);
	}
}
