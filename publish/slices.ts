import { setImmediate as nextTurn } from "node:timers/promises";

/** Longest work on the event loop before other tasks run, in milliseconds. */
const sliceMs = 4;

/** Runs a short task for each item, in slices of `sliceMs`: the service answers readers between them. */
export async function eachInSlices<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
	let start = performance.now();
	for (const item of items) {
		task(item);
		if (performance.now() - start < sliceMs) continue;
		await nextTurn();
		start = performance.now();
	}
}
