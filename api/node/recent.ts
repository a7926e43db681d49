import type { Route } from "../app.ts";
import type { Reply } from "../reply.ts";

/** Most bytes of all answers that are kept with their targets, and of one answer. */
const maxBytes = 4_000_000;
const maxBodyBytes = 250_000;
/** Estimated bytes of an answer beside its body and its target. */
const overheadBytes = 2_000;

/** Longest body that is kept as a text, too, in bytes. */
const maxTextBytes = 8_192;

/** A reply; one that is kept may have its body as a text, one character for each byte. */
export interface KeptReply extends Reply {
	text?: string;
}

/** A read of fragments that was answered, and its route. */
interface Answered {
	route: Route;
	reply: KeptReply;
}

/**
 * The answers to recent reads of fragments; any changed fragment empties it. All viewers of a map request the same list, and
 * to join 50 fragments costs more than to send them: without this, row `docs-50` of `npx fragments bench` is missed. Node
 * sends a short text in one write with its head: without that, row `doc-cpu` is missed.
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

	/** The answer to a target, where no fragment has changed since. */
	find(target: string): Answered | undefined {
		if (this.#keptVersion !== this.#version()) this.#clear();
		return this.#replies.get(target);
	}

	keep(target: string, { route, reply }: Answered): void {
		const { status, body } = reply;
		const isRead = route.kind === "doc" || route.kind === "docs";
		if (!isRead || status !== 200 || !(body instanceof Uint8Array) || body.length > maxBodyBytes) return;
		const text = body.length > maxTextBytes ? undefined : Buffer.from(body).toString("latin1");
		// A target may take two bytes a character.
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
