/** Timers, which tests replace. */
export interface Timers {
	/** Calls `run` once after `ms` milliseconds, without keeping the process alive. */
	set(run: () => void, ms: number): unknown;
	clear(timer: unknown): void;
}

/** The timers of Node. */
export const systemTimers: Timers = {
	set: (run, ms) => setTimeout(run, ms).unref(),
	clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Timers by name, at most one for each. */
export interface NamedTimers {
	/** Calls `run` once after `ms` milliseconds; replaces the name's present timer. */
	set(name: string, run: () => void, ms: number): void;
	clear(name: string): void;
	clearAll(): void;
}

/** Makes named timers. */
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
