import { bodyOf, type Docs } from "../docs.ts";
import type { Pieces } from "../reply.ts";

/** Most bytes of all lists that are kept with their targets, and of one list. */
const maxBytes = 4_000_000;
const maxListBytes = 250_000;

/**
 * The joined bodies of recent lists. All viewers of a map request the same list, and to join 50 fragments costs more than
 * to send them: without this, row `docs-50` of `npx fragments bench` is missed.
 */
export class RecentLists {
	readonly #lists = new Map<string, { etag: string; body: Uint8Array }>();
	#bytes = 0;

	/** The body of the list at a request target. Its entity tag says whether a fragment has changed. */
	bodyOf(target: string, docs: Docs): Uint8Array | Pieces {
		const kept = this.#lists.get(target);
		if (kept?.etag === docs.etag) return kept.body;
		const body = bodyOf(docs);
		if (!(body instanceof Uint8Array) || body.length > maxListBytes) return body;
		// A text may take two bytes a character.
		this.#bytes += body.length + 2 * target.length;
		if (this.#bytes > maxBytes) {
			this.#lists.clear();
			this.#bytes = body.length + 2 * target.length;
		}
		this.#lists.set(target, { etag: docs.etag, body });
		return body;
	}
}
