import { setTimeout as sleep } from "node:timers/promises";
import { hashOf } from "../../../site/data/entries.ts";

/** In milliseconds since 1970. A hash of the smallkey decides its moment in each period. */
export function nextMoment(smallkey: string, now: number, periodMs: number): number {
	const moment = (hashOf(smallkey) / 2 ** 32) * periodMs;
	return Math.ceil((Math.floor((now - moment) / periodMs) + 1) * periodMs + moment);
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

/**
 * Gathers the last result of each layer, and ends a group after some time or results: a commit costs more than a harvest.
 * @param commit must not reject; is called for one group after the other
 */
export function createGroups<T>(
	{ timers, ms, max }: { timers: Timers; ms: number; max: number },
	commit: (group: ReadonlyMap<string, T>) => Promise<void>,
) {
	let group = new Map<string, T>();
	let timer: unknown;
	let committing = Promise.resolve();

	function end(): void {
		timers.clear(timer);
		const ended = group;
		group = new Map();
		if (ended.size > 0) committing = committing.then(() => commit(ended));
	}

	function add(smallkey: string, result: T): void {
		if (group.size === 0) timer = timers.set(end, ms);
		group.set(smallkey, result);
		if (group.size >= max) end();
	}

	return {
		add,
		/** Of a group that could not be committed. */
		addAgain(failed: ReadonlyMap<string, T>): void {
			for (const [smallkey, result] of failed) if (!group.has(smallkey)) add(smallkey, result);
		},
		close(): Promise<void> {
			end();
			return committing;
		},
	};
}

/**
 * Runs `work` for one smallkey of a host at a time. Then the host moves to the end, so that a host with many smallkeys does
 * not delay the others.
 * @param work must not reject
 */
export function createHostQueue(maxHosts: number, work: (smallkey: string) => Promise<void>) {
	/** By host, in the order of the hosts' next runs: urgent smallkeys, and ordinary ones. */
	const waiting = new Map<string, readonly [Set<string>, Set<string>]>();
	/** By host. */
	const running = new Map<string, Promise<void>>();

	function fill(): void {
		for (const at of [0, 1] as const)
			for (const [host, sets] of waiting) {
				if (running.size >= maxHosts) return;
				const [smallkey] = sets[at];
				if (smallkey === undefined || running.has(host)) continue;
				sets[at].delete(smallkey);
				waiting.delete(host);
				if (sets.some(({ size }) => size > 0)) waiting.set(host, sets);
				const end = () => {
					running.delete(host);
					fill();
				};
				running.set(host, work(smallkey).finally(end));
			}
	}

	return {
		/** Adds a smallkey, unless it is waiting. Urgent smallkeys come first. */
		add(smallkey: string, host: string, isUrgent: boolean): void {
			const [urgent, ordinary] = waiting.get(host) ?? [new Set(), new Set()];
			if (isUrgent) ordinary.delete(smallkey);
			(isUrgent || urgent.has(smallkey) ? urgent : ordinary).add(smallkey);
			waiting.set(host, [urgent, ordinary]);
			fill();
		},
		size(): number {
			const sizes = [...waiting.values()].flat().map(({ size }) => size);
			return sizes.reduce((sum, size) => sum + size, running.size);
		},
		/** Drops the waiting smallkeys, and waits for the running ones. */
		async close(): Promise<void> {
			waiting.clear();
			while (running.size > 0) await Promise.all(running.values());
		},
	};
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
