import { isDescribed } from "../../registry/description.ts";
import { harvestedLangs, type Registration } from "../../registry/registration.ts";
import type { Store } from "../../store/store.ts";
import {
	type Done,
	descriptionOf,
	type HarvestLayer,
	type HarvestLine,
	harvestedOf,
	harvestOne,
} from "./commit.ts";
import { isDue, lookInterval, nextMoment } from "./moments.ts";
import { createQueue } from "./queue.ts";
import { createRefreshing, type Refreshing } from "./refreshing.ts";
import { createStartSummary, type StartLine } from "./start-summary.ts";
import { createStates, type HarvestState } from "./states.ts";
import { createNamedTimers, systemTimers, type Timers } from "./timers.ts";

/** The dependencies of the harvester. */
export interface HarvesterOptions {
	store: Store;
	/** Harvests one layer. Rejects only where its signal aborts. */
	harvest: HarvestLayer;
	/** Milliseconds between two harvests of one layer (`HARVEST_EVERY`). */
	everyMs: number;
	now: () => Date;
	/** All smallkeys, in any order. */
	allKeys: () => Iterable<string>;
	/** Logs each harvest, and one summary for those of the start. */
	log: (line: HarvestLine | StartLine) => void;
	/** Counts each harvest, including those without a line. */
	count?: ((outcome: HarvestLine["outcome"]) => void) | undefined;
	/** Logs a failure of the store. */
	report: (error: unknown) => void;
	timers?: Timers;
}

/** The harvester of a running service. */
export interface Harvester {
	/** Queues a layer before all others. Returns at once. */
	follow(smallkey: string): void;
	/** Harvests the layers that were never harvested, then every layer once in each period, spread over it. */
	start(): void;
	/** Queues layers again, behind all others. Returns at once, with the number of layers. */
	refresh: Refreshing["refresh"];
	/** The state of a layer's harvest; null where it was not harvested since the start. */
	stateOf(smallkey: string): HarvestState | null;
	/** Aborts running requests and finishes a running commit. */
	close(): Promise<void>;
	/** Number of queued and running harvests. */
	readonly waiting: number;
}

/** Most concurrent harvests, each of another host. */
const atOnce = 4;

/** Longest delay of a timer; Node fires a longer one after 1 ms (Node, "setTimeout"). */
const maxTimerMs = 2 ** 31 - 1;

/** Delay of the first retry in milliseconds; each further one takes twice as long. */
const firstRetryMs = 60_000;

/** The command that prints a layer's findings. */
const findingsAt = "npx fragments check-services";

/** Makes the harvester of a running service. It is idle until its first call. */
export function createHarvester(options: HarvesterOptions): Harvester {
	const { store, everyMs, now, report, log, timers = systemTimers } = options;
	const time = () => now().getTime();
	const ending = new AbortController();
	const queue = createQueue(atOnce, harvest);
	const states = createStates((smallkey) => nextMoment(smallkey, time(), everyMs));
	const startSummary = createStartSummary(log, findingsAt);
	const failures = new Map<string, number>();
	const retries = createNamedTimers(timers);
	const looks = createNamedTimers(timers);
	const refreshing = createRefreshing({
		allKeys: options.allKeys,
		stateOf: states.of,
		time,
		enqueue: (smallkey) => enqueue(smallkey, false, false),
	});
	let starting: Promise<void> = Promise.resolve();
	let arrivals: Promise<void> = Promise.resolve();
	let lastLook = 0;

	/** Queues a layer, if it is harvested; with `onlyNew`, only if it never was. */
	async function enqueue(smallkey: string, urgent: boolean, onlyNew: boolean): Promise<void> {
		if (ending.signal.aborted) return;
		try {
			const layer = await store.read(smallkey);
			if (ending.signal.aborted) return;
			const registration = layer && harvestedOf(layer);
			if (!registration) return forget(smallkey);
			if (onlyNew && isDescribed(registration, descriptionOf(layer))) return;
			retries.clear(smallkey);
			states.wait(smallkey);
			if (onlyNew) startSummary.add(smallkey);
			queue.add(smallkey, hostOf(registration), urgent);
		} catch (error) {
			fail(smallkey, error, "the repository cannot be read now");
		}
	}

	/** Drops the state of a layer that is gone or no longer harvested. */
	function forget(smallkey: string): void {
		retries.clear(smallkey);
		failures.delete(smallkey);
		states.forget(smallkey);
		startSummary.remove(smallkey);
	}

	async function harvest(smallkey: string): Promise<void> {
		states.begin(smallkey);
		try {
			const done = await harvestOne(smallkey, options, ending.signal);
			if (ending.signal.aborted) return;
			if (done) finish(smallkey, done);
			else forget(smallkey);
		} catch (error) {
			fail(smallkey, error, "what was found cannot be stored now");
		}
	}

	/** Retries a layer after a failure of the store. */
	function fail(smallkey: string, error: unknown, finding: string): void {
		if (ending.signal.aborted) return;
		report(error);
		states.end(smallkey, { state: "failed", at: time(), findings: [finding] }, retry(smallkey));
		startSummary.remove(smallkey);
	}

	function finish(smallkey: string, { line, again }: Done): void {
		options.count?.(line.outcome);
		// A service that stays down is logged once, not at every retry.
		const isKnown = line.outcome === "failed" && failures.has(smallkey);
		if (!isKnown && !startSummary.take(line)) log(line);
		if (!again) failures.delete(smallkey);
		if (line.outcome === "dropped") return states.drop(smallkey);
		const state = line.outcome === "failed" ? "failed" : "done";
		const { findings = [] } = line;
		states.end(smallkey, { state, at: time(), findings }, again ? retry(smallkey) : null);
	}

	/** Schedules a retry. @returns its time, in milliseconds since 1970 */
	function retry(smallkey: string): number {
		const before = failures.get(smallkey) ?? 0;
		failures.set(smallkey, before + 1);
		const waitMs = Math.min(firstRetryMs * 2 ** before, everyMs, maxTimerMs);
		retries.set(smallkey, () => void enqueue(smallkey, false, false), waitMs);
		return time() + waitMs;
	}

	async function catchUp(): Promise<void> {
		for (const smallkey of [...options.allKeys()]) {
			if (ending.signal.aborted) return;
			await enqueue(smallkey, false, true);
		}
		startSummary.close();
	}

	/** Queues the layers that have become due since the last look. */
	async function look(): Promise<void> {
		const since = lastLook;
		lastLook = time();
		for (const smallkey of [...options.allKeys()]) {
			if (ending.signal.aborted) return;
			if (isDue(smallkey, since, lastLook, everyMs)) await enqueue(smallkey, false, false);
		}
		lookLater();
	}

	function lookLater(): void {
		if (!ending.signal.aborted) looks.set("", () => void look(), lookInterval(everyMs));
	}

	return {
		follow(smallkey) {
			failures.delete(smallkey);
			startSummary.remove(smallkey);
			states.wait(smallkey);
			// Sequentially: a push may bring a hundred thousand layers.
			arrivals = arrivals.then(() => enqueue(smallkey, true, false));
		},
		start() {
			lastLook = time();
			starting = catchUp().then(lookLater);
		},
		refresh: refreshing.refresh,
		stateOf: states.of,
		async close() {
			ending.abort(new Error("the service ends"));
			retries.clearAll();
			looks.clearAll();
			queue.clear();
			await Promise.all([starting, arrivals, refreshing.close()]);
			await queue.idle();
		},
		get waiting() {
			return queue.size;
		},
	};
}

/** The host for the queue. The other language's host, if different, is not limited by it. */
function hostOf(registration: Registration): string {
	const [lang = "en"] = harvestedLangs(registration);
	return new URL(registration[lang].service_url).host;
}
