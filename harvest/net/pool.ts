/** Creates a function that runs work as soon as fewer than `maxRunning` of it run, in the order of the calls. */
export function createPool(maxRunning: number) {
	let running = 0;
	const waiting: (() => void)[] = [];

	return async <T>(work: () => Promise<T>): Promise<T> => {
		if (running >= maxRunning) await new Promise<void>((resolve) => waiting.push(resolve));
		else running += 1;
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			// The slot goes to the next in the queue; it becomes free if the queue is empty.
			if (next) next();
			else running -= 1;
		}
	};
}
