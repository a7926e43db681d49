import type { Store } from "../../../api/store.ts";
import { isDescribed } from "../../../harvest/harvest-layer.ts";
import type { Ask } from "../../../harvest/net/ask.ts";
import { featureOf, type HarvestLine, harvestOne } from "./commit.ts";
import { createQueue } from "./queue.ts";

export type { HarvestLine } from "./commit.ts";

/** What waits; handed in, so that tests need not. */
export interface Timers {
	/** Calls `run` once after `ms` milliseconds; does not keep the process alive. */
	set(run: () => void, ms: number): unknown;
	clear(timer: unknown): void;
}

/** What the harvester of a running service needs from outside. */
export interface HarvesterOptions {
	store: Store;
	/** As `createAsk({ fetch: createFetch(…) })` makes it. */
	ask: Ask;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
	/** Milliseconds between two harvests of one layer (`HARVEST_EVERY`). */
	every: number;
	now: () => Date;
	/** All smallkeys, in any order. */
	allKeys: () => Iterable<string>;
	/** Told what became of each layer that was asked for: one line of the log. */
	log: (line: HarvestLine) => void;
	/** Told of a broken world: the store failed. */
	report: (error: unknown) => void;
	timers?: Timers;
}

/** The harvester of a running service. */
export interface Harvester {
	/** Harvests a layer soon, before what already waits. Returns at once. */
	follow(smallkey: string): void;
	/** Harvests what was never harvested, then every layer once in each period, spread over it. */
	start(): void;
	/** Ends what is under way: requests are cut off, a commit that has begun is finished. */
	close(): Promise<void>;
	/** How many layers wait or are under way. */
	readonly waiting: number;
}

/** Most layers at a time, each of another host. */
const atOnce = 4;

/** Longest wait of a timer of Node; a longer one would end after 1 ms (Node, "setTimeout"). */
const longestWait = 2 ** 31 - 1;

/** How soon a failed layer is tried again, in milliseconds; twice as long each further time. */
const firstRetry = 60_000;

const systemTimers: Timers = {
	set: (run, ms) => setTimeout(run, ms).unref(),
	clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Makes the harvester of a running service; it does nothing until it is told to. */
export function createHarvester(options: HarvesterOptions): Harvester {
	const { store, every, now, report, log, timers = systemTimers } = options;
	const ending = new AbortController();
	const queue = createQueue(atOnce, harvest);
	const failures = new Map<string, number>();
	const pending = new Set<unknown>();
	let starting: Promise<void> = Promise.resolve();
	let arrivals: Promise<void> = Promise.resolve();
	let lastLook = 0;

	function later(run: () => void, ms: number): void {
		const timer = timers.set(() => {
			pending.delete(timer);
			if (!ending.signal.aborted) run();
		}, ms);
		pending.add(timer);
	}

	/** Puts a feature layer into the queue; with `onlyNew`, only one that was never harvested. */
	async function enqueue(smallkey: string, urgent: boolean, onlyNew: boolean): Promise<void> {
		if (ending.signal.aborted) return;
		try {
			const layer = await store.read(smallkey);
			const registration = layer && featureOf(layer);
			if (!registration || ending.signal.aborted) return;
			if (onlyNew && isDescribed(registration, layer.description)) return;
			queue.add(smallkey, new URL(registration.en.service_url).host, urgent);
		} catch (error) {
			report(error);
		}
	}

	async function harvest(smallkey: string): Promise<void> {
		try {
			const done = await harvestOne(smallkey, options, ending.signal);
			// A service that stays down is logged once, not at every further try.
			if (done && !(done.line.outcome === "failed" && failures.has(smallkey))) log(done.line);
			if (done?.again) retry(smallkey);
			else failures.delete(smallkey);
		} catch (error) {
			if (ending.signal.aborted) return;
			report(error);
			retry(smallkey);
		}
	}

	function retry(smallkey: string): void {
		const before = failures.get(smallkey) ?? 0;
		failures.set(smallkey, before + 1);
		const wait = Math.min(firstRetry * 2 ** before, every, longestWait);
		later(() => void enqueue(smallkey, false, false), wait);
	}

	async function catchUp(): Promise<void> {
		for (const smallkey of [...options.allKeys()]) {
			if (ending.signal.aborted) return;
			await enqueue(smallkey, false, true);
		}
	}

	/** Harvests the layers whose moment in the period has come since the last look. */
	async function look(): Promise<void> {
		const time = now().getTime();
		const since = lastLook;
		lastLook = time;
		for (const smallkey of [...options.allKeys()]) {
			if (ending.signal.aborted) return;
			if (isDue(smallkey, since, time, every)) await enqueue(smallkey, false, false);
		}
		later(() => void look(), lookInterval(every));
	}

	return {
		follow(smallkey) {
			failures.delete(smallkey);
			// One after the other: a push may bring a hundred thousand at once.
			arrivals = arrivals.then(() => enqueue(smallkey, true, false));
		},
		start() {
			lastLook = now().getTime();
			starting = catchUp().then(() => {
				if (!ending.signal.aborted) later(() => void look(), lookInterval(every));
			});
		},
		async close() {
			ending.abort(new Error("the service ends"));
			for (const timer of pending) timers.clear(timer);
			queue.clear();
			await Promise.all([starting, arrivals]);
			await queue.idle();
		},
		get waiting() {
			return queue.size;
		},
	};
}

/** How often it is looked whose moment has come: each minute, more often in a short period. */
function lookInterval(every: number): number {
	return Math.max(Math.min(60_000, every / 100), 10);
}

/** Whether a layer's own moment in the period lies between two times; the moments are spread by the smallkeys. */
export function isDue(smallkey: string, since: number, until: number, every: number): boolean {
	const moment = (hashOf(smallkey) / 2 ** 32) * every;
	return Math.floor((until - moment) / every) > Math.floor((since - moment) / every);
}

/** FNV-1a of 32 bits (RFC 9923). */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index += 1) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}
