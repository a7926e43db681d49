import type { Reply } from "./reply.ts";

/** Most bytes of all cached answers, with their targets and headers; and of one cached body. */
const maxBytes = 4_000_000;
const maxBodyBytes = 250_000;
/** Estimated bytes of an answer beside its body and its target. */
const overheadBytes = 2_000;

/** Number of slots for the tags of answers that were made once. */
const onceLength = 4_096;

/** A cached answer of status 200, ready to be written. */
export interface KeptReply {
	kind: "doc" | "docs";
	/** Names and values alternately, with `Content-Length`. Must not be changed. */
	headers: string[];
	body: Uint8Array;
}

/**
 * A cache of answers that were recently made twice; any changed fragment empties it. All viewers of a map request the
 * same list of keys, and joining 50 fragments takes longer than sending them. An answer that is requested once is not
 * cached: caching costs more than making it.
 */
export class RecentReplies {
	readonly #version: () => number;
	readonly #copy: (body: Uint8Array) => Uint8Array;
	readonly #replies = new Map<string, KeptReply>();
	readonly #once = new Int32Array(onceLength);
	#keptVersion = -1;
	#bytes = 0;

	/**
	 * @param version returns another number after each change of any fragment
	 * @param copy copies a body into the form that the engine writes fastest
	 */
	constructor(version: () => number, copy: (body: Uint8Array) => Uint8Array) {
		this.#version = version;
		this.#copy = copy;
	}

	/** The cached answer to a target; null where there is none, or a fragment has changed since. */
	find(target: string): KeptReply | null {
		if (this.#keptVersion !== this.#version()) this.#clear();
		return this.#replies.get(target) ?? null;
	}

	/** Caches a copy of an answer, the second time that it is made from the present fragments. */
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

	/** Whether an answer with this tag was made before. Confusing two answers does no harm. */
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
