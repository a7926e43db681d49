import type { Route } from "../app.ts";
import type { Reply } from "../reply.ts";

/** Most bytes of all answers that are kept, with their targets; and of the body of one answer. */
const maxBytes = 4_000_000;
const maxBodyBytes = 250_000;
/** Estimated bytes of an answer without its body and its target. */
const overheadBytes = 2_000;

/** Longest body that is also kept as a text, in bytes. */
const maxTextBytes = 8_192;

/** A reply. A kept reply may have its body also as a text, with one character for each byte. */
export interface KeptReply extends Reply {
	text?: string;
}

/** The route and the answer of a read of fragments. */
interface Answered {
	route: Route;
	reply: KeptReply;
}

/**
 * A cache of the answers to recent reads of fragments; a change of any fragment empties it. All viewers of a map request
 * the same list, and joining 50 fragments takes longer than sending them: row `docs-50` of `npx fragments bench` needs this
 * cache. Node sends a short text and the answer's head in one write: row `doc-cpu` needs these texts.
 */
export class RecentReplies {
	readonly #version: () => number;
	readonly #replies = new Map<string, Answered>();
	#keptVersion = -1;
	#bytes = 0;

	/** @param version returns another number after each change of any fragment */
	constructor(version: () => number) {
		this.#version = version;
	}

	/** The kept answer to a target; undefined if there is none, or a fragment has changed since. */
	find(target: string): Answered | undefined {
		if (this.#keptVersion !== this.#version()) this.#clear();
		return this.#replies.get(target);
	}

	keep(target: string, { route, reply }: Answered): void {
		const { status, body } = reply;
		const isRead = route.kind === "doc" || route.kind === "docs";
		if (!isRead || status !== 200 || !(body instanceof Uint8Array) || body.length > maxBodyBytes) return;
		const text = body.length > maxTextBytes ? undefined : Buffer.from(body).toString("latin1");
		// A character of a target may take two bytes.
		const bytes = body.length + (text?.length ?? 0) + 2 * target.length + overheadBytes;
		if (this.#bytes + bytes > maxBytes) this.#clear();
		this.#bytes += bytes;
		this.#replies.set(target, { route, reply: text === undefined ? reply : { ...reply, text } });
	}

	#clear(): void {
		this.#replies.clear();
		this.#bytes = 0;
		this.#keptVersion = this.#version();
	}
}
