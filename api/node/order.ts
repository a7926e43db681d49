import type { Socket } from "node:net";

/** Most requests that may wait on one connection; with more, the connection is closed. */
const maxWaiting = 1_000;

/** Answers one request; calls `done` once the answer is written, or the client has disconnected. */
type Task = (done: () => void) => void;

/**
 * Keeps the order of requests on each connection. A pipelined request is answered only after the answer to the request
 * before it is written (RFC 9112, section 9.3.2): it sees the state after an earlier write, and waits for the client to
 * read. It then starts in the next iteration of the event loop, so that other connections are answered in between.
 */
export class ConnectionOrder {
	/** Connection on which a request is being answered → the requests that wait for it. */
	readonly #waiting = new Map<Socket, Task[]>();

	/** Runs a task after the tasks before it on the same connection. */
	runInOrder(socket: Socket, task: Task): void {
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
