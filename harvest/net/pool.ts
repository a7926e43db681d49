/** Bounds how much work runs at a time: a number overall, and one for each name. */
export function createPool(width: number) {
	let running = 0;
	const waiting: (() => void)[] = [];
	const last = new Map<string, Promise<unknown>>();

	/** Runs `work` as soon as fewer than the bound are running; in the order of the calls. */
	async function withSlot<T>(work: () => Promise<T>): Promise<T> {
		if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
		else running += 1;
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			// The slot goes to the next in the queue, and becomes free where none is waiting.
			if (next) next();
			else running -= 1;
		}
	}

	/** Runs `work` when all earlier work under the same name has ended. */
	async function oneByOne<T>(name: string, work: () => Promise<T>): Promise<T> {
		const before = last.get(name) ?? Promise.resolve();
		const turn = before.then(work, work);
		last.set(name, turn);
		try {
			return await turn;
		} finally {
			if (last.get(name) === turn) last.delete(name);
		}
	}

	return { withSlot, oneByOne };
}
