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

/** What the harvester of a running service needs from outside. */
export interface HarvesterOptions {
	store: Store;
	/** Asks the services of one layer. Never rejects, but where its signal aborts. */
	harvest: HarvestLayer;
	/** Milliseconds between two harvests of one layer (`HARVEST_EVERY`). */
	everyMs: number;
	now: () => Date;
	/** All smallkeys, in any order. */
	allKeys: () => Iterable<string>;
	/** Told what became of each layer that was asked for, and of all those of the start together: lines of the log. */
	log: (line: HarvestLine | StartLine) => void;
	/** Told how each harvest ended, those too that have no line. */
	count?: ((outcome: HarvestLine["outcome"]) => void) | undefined;
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
	/** Asks services anew, behind what already waits. Returns at once; how many layers are looked at. */
	refresh: Refreshing["refresh"];
	/** What is known of a layer's harvest; null where it was not asked for since the start. */
	stateOf(smallkey: string): HarvestState | null;
	/** Ends what is under way: requests are cut off, a commit that has begun is finished. */
	close(): Promise<void>;
	/** How many layers wait or are under way. */
	readonly waiting: number;
}

/** Most layers at a time, each of another host. */
const atOnce = 4;

/** Longest wait of a timer of Node; a longer one would end after 1 ms (Node, "setTimeout"). */
const maxTimerMs = 2 ** 31 - 1;

/** How soon a failed layer is tried again, in milliseconds; twice as long each further time. */
const firstRetryMs = 60_000;

/** Where the findings of a layer can be read. */
const findingsAt = "npx fragments check-services";

/** Makes the harvester of a running service; it does nothing until it is told to. */
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

	/** Puts a layer that is harvested into the queue; with `onlyNew`, only one that was never harvested. */
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

	/** There is nothing to be asked for a layer: it is gone, or of another type. */
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

	/** The store failed: the layer is tried again later, whatever became of it. */
	function fail(smallkey: string, error: unknown, finding: string): void {
		if (ending.signal.aborted) return;
		report(error);
		states.end(smallkey, { state: "failed", at: time(), findings: [finding] }, retry(smallkey));
		startSummary.remove(smallkey);
	}

	function finish(smallkey: string, { line, again }: Done): void {
		options.count?.(line.outcome);
		// A service that stays down is logged once, not at every further try.
		const isKnown = line.outcome === "failed" && failures.has(smallkey);
		if (!isKnown && !startSummary.take(line)) log(line);
		if (!again) failures.delete(smallkey);
		if (line.outcome === "dropped") return states.drop(smallkey);
		const state = line.outcome === "failed" ? "failed" : "done";
		const { findings = [] } = line;
		states.end(smallkey, { state, at: time(), findings }, again ? retry(smallkey) : null);
	}

	/** Tries a layer again later; when that is, in milliseconds since 1970. */
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

	/** Harvests the layers whose moment in the period has come since the last look. */
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
			// One after the other: a push may bring a hundred thousand at once.
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

/** The host that a harvest burdens; a second one, of the other language, is asked in its own turn. */
function hostOf(registration: Registration): string {
	const [lang = "en"] = harvestedLangs(registration);
	return new URL(registration[lang].service_url).host;
}
