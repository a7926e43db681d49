/** Limits concurrent work: to `maxRunning` overall, and to one for each name. */
export function createPool(maxRunning: number) {
	let running = 0;
	const waiting: (() => void)[] = [];
	const last = new Map<string, Promise<unknown>>();

	/** Runs `work` as soon as fewer than `maxRunning` run, in the order of the calls. */
	async function withSlot<T>(work: () => Promise<T>): Promise<T> {
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
	}

	/** Runs `work` after all earlier work with the same name has ended. */
	async function oneByOne<T>(name: string, work: () => Promise<T>): Promise<T> {
		const before = last.get(name) ?? Promise.resolve();
		const own = before.then(work, work);
		last.set(name, own);
		try {
			return await own;
		} finally {
			if (last.get(name) === own) last.delete(name);
		}
	}

	return { withSlot, oneByOne };
}
