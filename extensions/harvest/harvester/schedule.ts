import { setTimeout as sleep } from "node:timers/promises";

/** In milliseconds since 1970. A hash of the smallkey decides its moment in each period. */
export function nextMoment(smallkey: string, now: number, periodMs: number): number {
	const moment = (hashOf(smallkey) / 2 ** 32) * periodMs;
	return Math.ceil((Math.floor((now - moment) / periodMs) + 1) * periodMs + moment);
}

/** FNV-1a of 32 bits (RFC 9923). */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index += 1) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}

interface Timers {
	/** Does not keep the process alive. */
	set(run: () => void, ms: number): unknown;
	clear(timer: unknown): void;
}

export const systemTimers: Timers = {
	set: (run, ms) => setTimeout(run, ms).unref(),
	clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

export interface Schedule {
	timers: Timers;
	now: () => Date;
	allKeys: () => Iterable<string>;
	/** In which each layer is due once (`HARVEST_EVERY`). */
	everyMs: number;
}

/** Gathers the last result of each layer, and ends a group after some time or results: a commit costs more than a harvest. */
export class Groups<T> {
	readonly #limits: { timers: Timers; ms: number; max: number };
	readonly #commit: (group: ReadonlyMap<string, T>) => Promise<void>;
	#group = new Map<string, T>();
	#timer: unknown;
	#committing: Promise<void> = Promise.resolve();

	/** @param commit must not reject; is called for one group after the other */
	constructor(
		limits: { timers: Timers; ms: number; max: number },
		commit: (group: ReadonlyMap<string, T>) => Promise<void>,
	) {
		this.#limits = limits;
		this.#commit = commit;
	}

	add(smallkey: string, result: T): void {
		const { timers, ms, max } = this.#limits;
		if (this.#group.size === 0) this.#timer = timers.set(() => this.#end(), ms);
		this.#group.set(smallkey, result);
		if (this.#group.size >= max) this.#end();
	}

	/** Of a group that could not be committed. */
	addAgain(group: ReadonlyMap<string, T>): void {
		for (const [smallkey, result] of group) if (!this.#group.has(smallkey)) this.add(smallkey, result);
	}

	close(): Promise<void> {
		this.#end();
		return this.#committing;
	}

	#end(): void {
		this.#limits.timers.clear(this.#timer);
		const group = this.#group;
		this.#group = new Map();
		if (group.size > 0) this.#committing = this.#committing.then(() => this.#commit(group));
	}
}

/**
 * Runs `work` for one smallkey of a host at a time. Then the host moves to the end, so that a host with many smallkeys does
 * not delay the others.
 */
export class HostQueue {
	/** By host, in the order of the hosts' next runs. */
	readonly #waiting = new Map<string, readonly [urgent: Set<string>, ordinary: Set<string>]>();
	/** By host. */
	readonly #running = new Map<string, Promise<void>>();
	readonly #maxHosts: number;
	readonly #work: (smallkey: string) => Promise<void>;

	/** @param work must not reject */
	constructor(maxHosts: number, work: (smallkey: string) => Promise<void>) {
		this.#maxHosts = maxHosts;
		this.#work = work;
	}

	/** Adds a smallkey, unless it is waiting. Urgent smallkeys come first. */
	add(smallkey: string, host: string, isUrgent: boolean): void {
		const [urgent, ordinary] = this.#waiting.get(host) ?? [new Set(), new Set()];
		if (isUrgent) ordinary.delete(smallkey);
		(isUrgent || urgent.has(smallkey) ? urgent : ordinary).add(smallkey);
		this.#waiting.set(host, [urgent, ordinary]);
		this.#fill();
	}

	get size(): number {
		const sizes = [...this.#waiting.values()].flat().map(({ size }) => size);
		return sizes.reduce((sum, size) => sum + size, this.#running.size);
	}

	/** Drops the waiting smallkeys, and waits for the running ones. */
	async close(): Promise<void> {
		this.#waiting.clear();
		while (this.#running.size > 0) await Promise.all(this.#running.values());
	}

	#fill(): void {
		for (const at of [0, 1] as const)
			for (const [host, waiting] of this.#waiting) {
				if (this.#running.size >= this.#maxHosts) return;
				const [smallkey] = waiting[at];
				if (smallkey === undefined || this.#running.has(host)) continue;
				waiting[at].delete(smallkey);
				this.#waiting.delete(host);
				if (waiting.some(({ size }) => size > 0)) this.#waiting.set(host, waiting);
				const end = () => {
					this.#running.delete(host);
					this.#fill();
				};
				this.#running.set(host, this.#work(smallkey).finally(end));
			}
	}
}

/** Of the wait for a pause of writes. */
const maxPauseMs = 2_000;

/**
 * Writes come first: beside harvests that do not wait, one publisher's PUTs take twice as long as with `HARVEST=off`.
 * @param writtenMs when a layer was last written, in milliseconds of `performance.now`
 */
export async function pauseForWrites(writtenMs: () => number, quietMs: number, signal: AbortSignal) {
	const maxMs = performance.now() + maxPauseMs;
	const restMs = () => Math.min(writtenMs() + quietMs, maxMs) - performance.now();
	while (restMs() > 0 && !signal.aborted) await sleep(restMs(), undefined, { signal }).catch(() => undefined);
}
