/** The state of a layer's harvest. Times are in milliseconds since 1970. */
export type HarvestState =
	/** Queued or running. */
	| { state: "waiting" }
	/** `done`: at least one service answered. `failed`: none did, and the previous description is kept. */
	| { state: "done" | "failed"; at: number; findings: string[]; nextTry: number };

/** The end of one harvest. */
interface Ended {
	state: "done" | "failed";
	at: number;
	/** What the services report as wrong, each as `<JSON pointer>: <text>`. */
	findings: string[];
	/** Time of the retry; null: when the layer is next due. */
	retryAt: number | null;
}

/** The states of all harvests since the start. */
export class HarvestStates {
	readonly #nextMoment: (smallkey: string) => number;
	readonly #waiting = new Set<string>();
	readonly #running = new Set<string>();
	readonly #ended = new Map<string, Ended>();

	/** @param nextMoment when a layer is next due, in milliseconds since 1970 */
	constructor(nextMoment: (smallkey: string) => number) {
		this.#nextMoment = nextMoment;
	}

	/** The layer was queued. */
	wait(smallkey: string): void {
		this.#waiting.add(smallkey);
	}

	/** The harvest has begun. The layer may be queued again meanwhile. */
	begin(smallkey: string): void {
		this.#waiting.delete(smallkey);
		this.#running.add(smallkey);
	}

	/** The layer is gone, or no longer harvested. */
	forget(smallkey: string): void {
		this.#waiting.delete(smallkey);
		this.drop(smallkey);
	}

	/** The result was dropped, because the layer was changed or removed meanwhile. */
	drop(smallkey: string): void {
		this.#running.delete(smallkey);
		this.#ended.delete(smallkey);
	}

	/** A harvest has ended. */
	end(smallkey: string, end: Ended): void {
		this.#running.delete(smallkey);
		this.#ended.set(smallkey, end);
	}

	/** The state of a layer; null where it was not harvested since the start. */
	of(smallkey: string): HarvestState | null {
		if (this.#waiting.has(smallkey) || this.#running.has(smallkey)) return { state: "waiting" };
		const last = this.#ended.get(smallkey);
		if (!last) return null;
		const { retryAt, ...end } = last;
		return { ...end, nextTry: retryAt ?? this.#nextMoment(smallkey) };
	}
}
