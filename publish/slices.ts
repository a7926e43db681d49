/** Longest work on the event loop before other tasks run, in milliseconds. */
const sliceMs = 8;

/** Lets all other waiting tasks of the event loop run first. */
export function nextTurn(): Promise<void> {
	return new Promise((resolve) => setImmediate(resolve));
}

/** Cuts long work on the event loop into slices: readers are answered between them. */
export class Slices {
	#start = performance.now();

	/** Returns at once, or after all other waiting tasks where this slice is over. Call it between small steps. */
	async pause(): Promise<void> {
		if (performance.now() - this.#start < sliceMs) return;
		await nextTurn();
		this.#start = performance.now();
	}
}

/** Runs a short task for each item, in slices. */
export async function eachInSlices<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
	const slices = new Slices();
	for (const item of items) {
		task(item);
		await slices.pause();
	}
}
