import { maxClockSkewMs } from "../registry/timestamp.ts";
import type { UsedRequest } from "./store.ts";

/** Longer than a signature is valid. */
export const requestMemoryMs = 300_000;

const minuteMs = 60_000;
/** In minutes, for a clock that is set back by hours. */
const maxForgotten = 500;

/**
 * Answered requests, each kept for longer than its signature is valid. If the clock is set back, a request of
 * a forgotten minute may have been used.
 * @param now by which signatures are judged
 * @param monotonicMs is never set
 */
export class UsedRequests {
	readonly #uses = new Map<string, UsedRequest & { untilMs: number }>();
	readonly #forgotten = new Set<number>();

	constructor(
		readonly now: () => number,
		readonly monotonicMs = () => performance.now(),
	) {}

	find(request: string | null): UsedRequest | undefined {
		return this.#uses.get(request ?? "");
	}

	/** @param time of the request's signature */
	mayHave(time: number): boolean {
		return this.#forgotten.has(Math.floor(time / minuteMs));
	}

	/** @returns false if the request was used before */
	note(use: UsedRequest): boolean {
		const nowMs = this.monotonicMs();
		for (const [request, { untilMs, time }] of this.#uses) {
			if (untilMs > nowMs) break;
			if (time + maxClockSkewMs + minuteMs > this.now()) continue;
			this.#uses.delete(request);
			this.#forgotten.add(Math.floor(time / minuteMs));
		}
		for (const minute of this.#forgotten)
			if (this.#forgotten.size > maxForgotten) this.#forgotten.delete(minute);
		const isFirst = !this.#uses.has(use.request);
		if (isFirst) this.#uses.set(use.request, { ...use, untilMs: nowMs + requestMemoryMs });
		return isFirst;
	}

	all(): UsedRequest[] {
		return [...this.#uses.values()];
	}
}
