import type { IncomingMessage } from "node:http";

/** What a body takes of the room at least, in bytes: about the cost of its connection. */
const minCharge = 16_384;

/** How bodies are read. */
export interface BodyLimits {
	/** Of one body. */
	maxBytes: number;
	/** Of all bodies that are held at once, those of writes under way included. */
	maxHeldBytes: number;
	timeoutMs: number;
}

/** A body that was read whole, or why not; `gone`: its sender went away. */
export type ReadBody = Uint8Array | "too large" | "too slow" | "no room" | "gone";

/** Reads bodies, within a room that all connections share. */
export class Bodies {
	readonly #limits: BodyLimits;
	#heldBytes = 0;

	constructor(limits: BodyLimits) {
		this.#limits = limits;
	}

	/** Whether a body is announced as too large. */
	isTooLarge({ headers }: IncomingMessage): boolean {
		return Number(headers["content-length"] ?? 0) > this.#limits.maxBytes;
	}

	/** Runs a task on a body, which takes room until the task ends. A body that is refused is not read to its end. */
	async use<T>(request: IncomingMessage, task: (body: ReadBody) => Promise<T>): Promise<T> {
		const { maxBytes, maxHeldBytes, timeoutMs } = this.#limits;
		if (this.isTooLarge(request)) return task("too large");
		const bytes = Math.max(minCharge, Number(request.headers["content-length"] ?? maxBytes));
		if (this.#heldBytes + bytes > maxHeldBytes) return task("no room");
		this.#heldBytes += bytes;
		try {
			return await task(await readBody(request, maxBytes, timeoutMs));
		} finally {
			this.#heldBytes -= bytes;
		}
	}
}

/** Not by an iterator of the request, which would end the connection with the loop: the sender still gets an answer. */
function readBody(request: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<ReadBody> {
	const chunks: Buffer[] = [];
	let length = 0;
	return new Promise((resolve) => {
		const timer = setTimeout(() => end("too slow"), timeoutMs);
		const take = (chunk: Buffer) => {
			length += chunk.length;
			if (length > maxBytes) end("too large");
			else chunks.push(chunk);
		};
		const whole = () => end(Buffer.concat(chunks));
		const gone = () => end("gone");
		const end = (body: ReadBody) => {
			clearTimeout(timer);
			request.off("data", take).off("end", whole).off("error", gone).off("close", gone).pause();
			resolve(body);
		};
		request.on("data", take).on("end", whole).on("error", gone).on("close", gone);
	});
}
