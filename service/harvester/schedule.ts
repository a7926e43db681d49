/** Whether a layer becomes due between two times. Its moment in the period depends on a hash of its smallkey. */
export function isDue(smallkey: string, since: number, until: number, periodMs: number): boolean {
	const moment = momentOf(smallkey, periodMs);
	return Math.floor((until - moment) / periodMs) > Math.floor((since - moment) / periodMs);
}

/** When a layer is next due, in milliseconds since 1970. */
export function nextMoment(smallkey: string, now: number, periodMs: number): number {
	const moment = momentOf(smallkey, periodMs);
	return Math.ceil((Math.floor((now - moment) / periodMs) + 1) * periodMs + moment);
}

function momentOf(smallkey: string, periodMs: number): number {
	return (hashOf(smallkey) / 2 ** 32) * periodMs;
}

/** FNV-1a of 32 bits (RFC 9923). */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index += 1) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}

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
export class NamedTimers {
	readonly #timers: Timers;
	readonly #pending = new Map<string, unknown>();

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	/** Calls `run` once after `ms` milliseconds; replaces the name's present timer. */
	set(name: string, run: () => void, ms: number): void {
		this.clear(name);
		const timer = this.#timers.set(() => {
			if (this.#pending.get(name) === timer) this.#pending.delete(name);
			run();
		}, ms);
		this.#pending.set(name, timer);
	}

	clear(name: string): void {
		if (this.#pending.has(name)) this.#timers.clear(this.#pending.get(name));
		this.#pending.delete(name);
	}

	clearAll(): void {
		for (const name of this.#pending.keys()) this.clear(name);
	}
}

/** What the harvester and the watcher share. */
export interface Schedule {
	timers: Timers;
	now: () => Date;
	/** All smallkeys, in any order. */
	allKeys: () => Iterable<string>;
	/** Milliseconds in which each layer becomes due once (`HARVEST_EVERY`). */
	everyMs: number;
}

interface DueOptions extends Schedule {
	/** From when on layers become due, in milliseconds since 1970. */
	sinceMs: number;
	/** Called with each layer that has become due; the next one waits for it. Must not reject. */
	due: (smallkey: string) => Promise<void>;
}

/** Looks for due layers every minute, or more often in a short period. Call `end` to stop it. */
export function lookForDue(options: DueOptions): { end: () => void } {
	const { timers, now, allKeys, everyMs, due } = options;
	const intervalMs = Math.max(Math.min(60_000, everyMs / 100), 10);
	let since = options.sinceMs;
	let hasEnded = false;
	let timer: unknown;
	const look = async () => {
		const [from, until] = [since, now().getTime()];
		since = until;
		for (const smallkey of [...allKeys()]) {
			if (hasEnded) return;
			if (isDue(smallkey, from, until, everyMs)) await due(smallkey);
		}
		lookLater();
	};
	const lookLater = () => {
		if (!hasEnded) timer = timers.set(() => void look(), intervalMs);
	};
	lookLater();
	return {
		end() {
			hasEnded = true;
			timers.clear(timer);
		},
	};
}
