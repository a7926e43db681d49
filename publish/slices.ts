/** Longest that work on the event loop goes on without letting others in, in milliseconds. */
const sliceMs = 8;

/** Lets everything else that waits for the event loop have its turn. */
export function nextTurn(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}

/** Cuts long work on the event loop into slices: readers are answered between them. */
export class Slices {
	#start = performance.now();

	/** Goes on at once, or after everybody else where this slice is over. To be called between small steps. */
	async pause(): Promise<void> {
		if (performance.now() - this.#start < sliceMs) return;
		await nextTurn();
		this.#start = performance.now();
	}
}
