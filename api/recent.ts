import type { Reply } from "./reply.ts";

/** Bytes that all kept answers take at most, their targets and headers included, and the largest body that is kept. */
const maxBytes = 4_000_000;
const maxBodyBytes = 250_000;
/** What an answer takes beside its body and its target: headers, and its place. */
const overheadBytes = 2_000;

/** How many answers that were made once are remembered, by 32 bits of their tags. */
const onceLength = 4_096;

/** An answer that is kept, ready to be written: 200. */
export interface KeptReply {
	kind: "doc" | "docs";
	/** Names and values in turn, `Content-Length` as well. Nobody changes it. */
	headers: string[];
	body: Uint8Array;
}

/**
 * The whole answers that were made twice lately, while no fragment changes: all viewers of one map ask for the same list
 * of keys, and many maps for the same few layers. Putting 50 fragments together costs more than sending them, and even
 * of one the answer costs a tenth of it. What is asked for once is not kept: to keep it would cost more than to make it.
 */
export class RecentReplies {
	readonly #version: () => number;
	readonly #copy: (body: Uint8Array) => Uint8Array;
	readonly #replies = new Map<string, KeptReply>();
	readonly #once = new Int32Array(onceLength);
	#keptVersion = -1;
	#bytes = 0;

	/**
	 * @param version another number after each change of any fragment
	 * @param copy copies a body in the form that the engine writes most cheaply
	 */
	constructor(version: () => number, copy: (body: Uint8Array) => Uint8Array) {
		this.#version = version;
		this.#copy = copy;
	}

	/** The answer to a target, where it was kept and no fragment has changed since; or null. */
	find(target: string): KeptReply | null {
		if (this.#keptVersion !== this.#version()) this.#clear();
		return this.#replies.get(target) ?? null;
	}

	/** Keeps a copy of an answer that was made of the fragments as they are now, the second time that it is made. */
	keep(target: string, kind: KeptReply["kind"], { status, headers, body }: Reply): void {
		if (status !== 200 || body.length > maxBodyBytes || !(body instanceof Uint8Array)) return;
		if (!this.#wasMade(headers.ETag ?? "") || this.#replies.has(target)) return;
		// A text may take two bytes a character.
		const bytes = body.length + 2 * target.length + overheadBytes;
		if (this.#bytes + bytes > maxBytes || this.#keptVersion !== this.#version()) this.#clear();
		const named = Object.entries({ ...headers, "Content-Length": String(body.length) });
		this.#replies.set(target, { kind, headers: named.flat(), body: this.#copy(body) });
		this.#bytes += bytes;
	}

	/** Whether an answer with this tag was made before; two answers that are taken for one another do no harm. */
	#wasMade(etag: string): boolean {
		const bits = Number.parseInt(etag.slice(1, 9), 16) | 0;
		const place = bits & (onceLength - 1);
		const wasMade = this.#once[place] === bits;
		this.#once[place] = bits;
		return wasMade;
	}

	#clear(): void {
		this.#replies.clear();
		this.#bytes = 0;
		this.#keptVersion = this.#version();
	}
}
