import type { IncomingMessage } from "node:http";

/** What a body is charged from the start, whatever it holds: about what its connection costs. */
const leastCharge = 16_384;

/** Room for the bodies that are held at once; one account for all connections. */
export class BodyRoom {
	readonly #maxBytes: number;
	#heldBytes = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	/** Takes room for so many bytes more; false where there is none. */
	take(bytes: number): boolean {
		if (this.#heldBytes + bytes > this.#maxBytes) return false;
		this.#heldBytes += bytes;
		return true;
	}

	release(bytes: number): void {
		this.#heldBytes -= bytes;
	}
}

/** How a body is read. */
export interface BodyLimits {
	maxBytes: number;
	timeoutMs: number;
	room: BodyRoom;
}

/** A body that was read whole, or why not; `gone`: its sender went away. */
export type ReadBody = Uint8Array | "too large" | "too slow" | "no room" | "gone";

/** One body on its way in: its bytes take room until `release`. */
export class Body {
	readonly #request: IncomingMessage;
	readonly #limits: BodyLimits;
	#charged = 0;
	#length = 0;
	#chunks: Buffer[] = [];

	constructor(request: IncomingMessage, limits: BodyLimits) {
		this.#request = request;
		this.#limits = limits;
	}

	/** Whether its length is known before it is read: it is, but in chunks (RFC 9112, section 6.3). */
	get isAnnounced(): boolean {
		return this.#request.headers["transfer-encoding"] === undefined;
	}

	/** Whether it is announced as too large. */
	get isTooLarge(): boolean {
		return Number(this.#request.headers["content-length"] ?? 0) > this.#limits.maxBytes;
	}

	/** The whole body; what is left of one that is refused is not read. */
	read(): Promise<ReadBody> {
		if (this.isTooLarge) return Promise.resolve("too large");
		if (!this.#charge(leastCharge)) return Promise.resolve("no room");
		return new Promise((resolve) => this.#collect(resolve));
	}

	/** Gives the room back, once the body is no longer needed. */
	release(): void {
		this.#limits.room.release(this.#charged);
		this.#charged = 0;
	}

	#collect(resolve: (body: ReadBody) => void): void {
		const request = this.#request;
		const timer = setTimeout(() => end("too slow"), this.#limits.timeoutMs);
		const take = (chunk: Buffer) => {
			const refusal = this.#add(chunk);
			if (refusal) end(refusal);
		};
		const whole = () => end(Buffer.concat(this.#chunks));
		const gone = () => end("gone");
		const end = (body: ReadBody) => {
			clearTimeout(timer);
			request.off("data", take).off("end", whole).off("error", gone).off("close", gone).pause();
			resolve(body);
		};
		request.on("data", take).on("end", whole).on("error", gone).on("close", gone);
	}

	#add(chunk: Buffer): "too large" | "no room" | null {
		this.#length += chunk.length;
		if (this.#length > this.#limits.maxBytes) return "too large";
		if (!this.#charge(this.#length)) return "no room";
		this.#chunks.push(chunk);
		return null;
	}

	/** Charges what `bytes` cost in all. */
	#charge(bytes: number): boolean {
		const more = bytes - this.#charged;
		if (more <= 0) return true;
		if (!this.#limits.room.take(more)) return false;
		this.#charged += more;
		return true;
	}
}
