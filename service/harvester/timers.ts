/** What waits; handed in, so that tests need not. */
export interface Timers {
	/** Calls `run` once after `ms` milliseconds; does not keep the process alive. */
	set(run: () => void, ms: number): unknown;
	clear(timer: unknown): void;
}

/** The timers of Node. */
export const systemTimers: Timers = {
	set: (run, ms) => setTimeout(run, ms).unref(),
	clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Timers by name: at most one for each. */
export interface NamedTimers {
	/** Calls `run` once after `ms` milliseconds, in place of what the name waited for before. */
	set(name: string, run: () => void, ms: number): void;
	clear(name: string): void;
	clearAll(): void;
}

/** Makes timers by name out of those that are handed in. */
export function createNamedTimers(timers: Timers): NamedTimers {
	const pending = new Map<string, unknown>();

	function clear(name: string): void {
		if (!pending.has(name)) return;
		timers.clear(pending.get(name));
		pending.delete(name);
	}

	return {
		set(name, run, ms) {
			clear(name);
			const timer = timers.set(() => {
				if (pending.get(name) === timer) pending.delete(name);
				run();
			}, ms);
			pending.set(name, timer);
		},
		clear,
		clearAll() {
			for (const name of [...pending.keys()]) clear(name);
		},
	};
}
