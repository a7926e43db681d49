import pLimit, { type LimitFunction } from "p-limit";
import { hashOf } from "../../../site/data/entries.ts";

/** Times are in milliseconds since 1970. A hash of the smallkey decides its moment in each period. */
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
	/** Each layer is due once in it (`HARVEST_EVERY`). */
	everyMs: number;
}

/**
 * Gathers the last result of each layer for a group that ends after some time or results.
 * @param commit must not reject; is called for one group after the other
 */
export function createGroups<T>(
	{ timers, ms, max }: { timers: Timers; ms: number; max: number },
	commit: (group: ReadonlyMap<string, T>) => Promise<void>,
) {
	let group = new Map<string, T>();
	let timer: unknown;
	let committing = Promise.resolve();

	function end() {
		timers.clear(timer);
		const ended = group;
		group = new Map();
		if (ended.size > 0) committing = committing.then(() => commit(ended));
	}

	function add(smallkey: string, result: T) {
		if (group.size === 0) timer = timers.set(end, ms);
		group.set(smallkey, result);
		if (group.size >= max) end();
	}

	return {
		add,
		/** @param failed a group that could not be committed */
		addAgain(failed: ReadonlyMap<string, T>): void {
			for (const [smallkey, result] of failed) if (!group.has(smallkey)) add(smallkey, result);
		},
		close(): Promise<void> {
			end();
			return committing;
		},
	};
}

/** Works for each host one after the other, and for several hosts at once. */
export function createLanes(maxHosts: number) {
	const slots = pLimit(maxHosts);
	const hosts = new Map<string, LimitFunction>();
	return {
		/** @param work must not reject */
		async run(host: string, work: () => Promise<void>): Promise<void> {
			const oneByOne = hosts.get(host) ?? pLimit(1);
			hosts.set(host, oneByOne);
			return oneByOne(() => slots(work));
		},
		/** Waits for all work that was given before. */
		async end(): Promise<void> {
			await Promise.all([...hosts.values()].map((oneByOne) => oneByOne(() => undefined)));
		},
	};
}
