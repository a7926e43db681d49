import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** An answer over a kept connection. */
export interface ShortAnswer {
	status: number;
	body: string;
}

/** The pending request. */
interface Waiting {
	resolve: (answer: ShortAnswer) => void;
	reject: (error: Error) => void;
}

const headEnd = "\r\n\r\n";

/**
 * A kept connection to a service, for requests that were put together before: one after the other, each with a short
 * answer that says its length. A client that reads every header costs half of what the service does for a PUT, and shares
 * the machine with it.
 */
export class Connection {
	readonly #socket: Socket;
	#waiting: Waiting | null = null;
	/** What has come of an answer; one character for each byte. */
	#received = "";

	private constructor(socket: Socket) {
		this.#socket = socket;
		socket.setNoDelay();
		socket.on("data", (data: Buffer) => this.#take(data.toString("latin1")));
		socket.on("error", (error) => this.#fail(error));
		socket.on("close", () => this.#fail(new Error("the service has closed a connection")));
	}

	/** @param url `http://127.0.0.1:<port>` */
	static async open(url: string): Promise<Connection> {
		const { hostname, port } = new URL(url);
		const socket = connect(Number(port), hostname);
		await once(socket, "connect");
		return new Connection(socket);
	}

	/** Sends a whole request. @throws {Error} where the connection ends before its answer */
	send(request: Uint8Array): Promise<ShortAnswer> {
		return new Promise((resolve, reject) => {
			this.#waiting = { resolve, reject };
			this.#socket.write(request);
		});
	}

	close(): void {
		this.#socket.destroy();
	}

	#take(text: string): void {
		this.#received += text;
		const end = this.#received.indexOf(headEnd);
		if (end < 0) return;
		const length = /\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, end))?.[1];
		const start = end + headEnd.length;
		if (length === undefined) return this.#fail(new Error("an answer does not say its length"));
		if (this.#received.length < start + Number(length)) return;
		const status = Number(this.#received.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length));
		const body = Buffer.from(this.#received.slice(start), "latin1").toString("utf8");
		const waiting = this.#waiting;
		this.#waiting = null;
		this.#received = "";
		waiting?.resolve({ status, body });
	}

	#fail(error: Error): void {
		this.#waiting?.reject(error);
		this.#waiting = null;
	}
}
