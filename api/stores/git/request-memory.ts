/** Requests that were used lately, forgotten after a while. */
export class RequestMemory {
	readonly #memory: number;
	/** Request → when it was used, in milliseconds since 1970; oldest first but for small steps of the clock. */
	readonly #used = new Map<string, number>();

	/** @param memory how long a request is kept, in milliseconds */
	constructor(memory: number) {
		this.#memory = memory;
	}

	/** Keeps a request that was used at `time`, by somebody's clock; `now` is this server's. */
	add(request: string, time: number, now: number): void {
		this.#used.delete(request);
		this.#used.set(request, Math.min(time, now));
		this.#forget(now);
	}

	/** Whether a request was used in the time that is kept, seen from `now`. */
	has(request: string, now: number): boolean {
		const time = this.#used.get(request);
		return time !== undefined && now - time <= this.#memory;
	}

	#forget(now: number): void {
		for (const [request, time] of this.#used) {
			if (now - time <= this.#memory) return;
			this.#used.delete(request);
		}
	}
}
