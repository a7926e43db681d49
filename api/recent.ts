import type { Reply } from "./reply.ts";

/** Bytes that all kept answers take at most, their targets and headers included, and the largest body that is kept. */
const maxBytes = 4_000_000;
const maxBodyBytes = 250_000;
/** What an answer takes beside its body and its target: headers, and its place. */
const overheadBytes = 2_000;

/**
 * The whole answers that were made last, while no fragment changes: all viewers of one map ask for the same list of
 * keys, and putting 50 fragments together costs more than sending them.
 */
export class RecentReplies {
	readonly #version: () => number;
	readonly #replies = new Map<string, Reply>();
	#keptVersion = -1;
	#bytes = 0;

	/** @param version another number after each change of any fragment */
	constructor(version: () => number) {
		this.#version = version;
	}

	/** The answer to a target, where it was kept and no fragment has changed since; or null. */
	find(target: string): Reply | null {
		if (this.#keptVersion !== this.#version()) this.#clear();
		return this.#replies.get(target) ?? null;
	}

	/** Keeps an answer that was made of the fragments as they are now. */
	keep(target: string, reply: Reply): void {
		if (reply.status !== 200 || reply.body.length > maxBodyBytes || this.#replies.has(target)) return;
		// A text may take two bytes a character.
		const bytes = reply.body.length + 2 * target.length + overheadBytes;
		if (this.#bytes + bytes > maxBytes || this.#keptVersion !== this.#version()) this.#clear();
		this.#replies.set(target, reply);
		this.#bytes += bytes;
	}

	#clear(): void {
		this.#replies.clear();
		this.#bytes = 0;
		this.#keptVersion = this.#version();
	}
}
