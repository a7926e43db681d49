import type { Refresh } from "../../../api/context.ts";
import { isDescribed } from "../../../registry/description.ts";
import { type TextCode, textIn, textOf } from "../../../registry/texts.ts";
import type { Log } from "../../../store/log.ts";
import type { FindingLine } from "../finding.ts";
import {
	type CommitOptions,
	descriptionOf,
	type HarvestEnd,
	type HarvestLine,
	harvestOne,
	registrationOf,
} from "./commit.ts";
import { createHostQueue, nextMoment, pollDue, type Schedule } from "./schedule.ts";

/** The state of a layer's harvest. Times are in milliseconds since 1970. */
type HarvestState =
	/** Queued or running. */
	| { state: "waiting" }
	/** `done`: at least one service answered. `failed`: no service answered, and the previous description stays. */
	| { state: "done" | "failed"; at: number; findings: FindingLine[]; nextTry: number };

/** The harvests of a layer since the start of the harvester. */
interface Track {
	/** Whether the layer is queued, or is about to be. */
	isWaiting: boolean;
	/** Whether a harvest of the layer is running; the layer may be queued again meanwhile. */
	isRunning: boolean;
	/** The end of the last harvest. A `retryAt` of null means that the layer is harvested again when it is next due. */
	last: { state: "done" | "failed"; at: number; findings: FindingLine[]; retryAt: number | null } | null;
	/** Failed attempts since the last success. */
	failures: number;
	/** The timer of the retry. */
	retry: unknown;
}

/**
 * All harvests of a start in one line of the log, so that they do not flood it: the number of layers, of each outcome and
 * of layers with findings, and in `read` the command that prints the findings.
 */
export type StartLine = Record<"harvested" | HarvestLine["outcome"] | "findings", number> & { read: string };

interface HarvesterOptions extends Schedule, CommitOptions {
	/** Gets each harvest, one line for all harvests of the start (`StartLine`), and each failure of the store. */
	log: Log;
	/** Called after each layer, harvested or not, before the next layer of the same host. */
	check?: (smallkey: string, signal: AbortSignal) => Promise<void>;
	/** Until then each layer is harvested once a day, in milliseconds since 1970: its description may follow earlier rules. */
	againUntilMs?: number;
	/** Counts each harvest, including those without a line. */
	count?: ((outcome: HarvestLine["outcome"]) => void) | undefined;
}

/** The highest number of concurrent harvests, each of another host. */
const maxConcurrent = 4;

const dayMs = 86_400_000;

/** Longest delay of a timer; Node runs a timer with a longer delay after 1 ms (Node, "setTimeout"). */
const maxTimerMs = 2 ** 31 - 1;

/** Delay of the first retry in milliseconds; each further delay is twice the one before. */
const firstRetryMs = 60_000;

/** Creates the harvester of a running service. It is idle until its first call. */
export function createHarvester(options: HarvesterOptions) {
	const { store, log, timers, allKeys, everyMs, check, count, againUntilMs = 0 } = options;
	const ending = new AbortController();
	const { signal } = ending;
	const queue = createHostQueue(maxConcurrent, visit);
	const tracks = new Map<string, Track>();
	/** Layers of the start that are not harvested yet. */
	const startKeys = new Set<string>();
	/** The results of the start; null once the line is logged. */
	let startLine: StartLine | null = {
		...{ harvested: 0, changed: 0, unchanged: 0, dropped: 0, failed: 0, findings: 0 },
		read: "npx fragment-publisher check-services",
	};
	let hasCaughtUp = false;
	/** Settle when all registered layers, and all other layers, are queued. Both queue layers one after the other. */
	let arrivals: Promise<void> = Promise.resolve();
	let others: Promise<void> = Promise.resolve();

	const time = () => options.now().getTime();

	/** Returns the track of a layer, and creates it if there is none. */
	function trackOf(smallkey: string): Track {
		const known = tracks.get(smallkey);
		const track = known ?? { isWaiting: false, isRunning: false, last: null, failures: 0, retry: null };
		tracks.set(smallkey, track);
		return track;
	}

	/** Queues a layer before all others. Returns immediately. */
	function follow(smallkey: string): void {
		Object.assign(trackOf(smallkey), { failures: 0, isWaiting: true });
		startKeys.delete(smallkey);
		// One after the other: a push may bring a hundred thousand layers.
		arrivals = arrivals.then(() => enqueue(smallkey, { isUrgent: true }));
	}

	/** Harvests the layers that were never harvested, then every layer once per period, at times spread over the period. */
	function start(): void {
		const sinceMs = time();
		others = others.then(async () => {
			for (const smallkey of [...allKeys()]) await enqueue(smallkey, { isNew: true });
			if (signal.aborted) return;
			hasCaughtUp = true;
			logStart();
			pollDue(options, sinceMs, (smallkey) => enqueue(smallkey), signal);
			if (everyMs > dayMs && sinceMs < againUntilMs) pollAgain(sinceMs);
		});
	}

	/** Harvests every layer once more, at times spread over a day. */
	function pollAgain(sinceMs: number): void {
		const done = new AbortController();
		const timer = timers.set(() => done.abort(), againUntilMs - sinceMs);
		signal.addEventListener("abort", () => timers.clear(timer), { once: true });
		const ends = AbortSignal.any([signal, done.signal]);
		pollDue({ ...options, everyMs: dayMs }, sinceMs, (smallkey) => enqueue(smallkey), ends);
	}

	/** Queues layers again, after all others. Returns the number of layers immediately. */
	function refresh({ olderThanMs, maxLayers, isWanted }: Refresh): number {
		/** The time of a layer's last harvest; 0 if it is not known, and now for a waiting layer. */
		const lastTry = (smallkey: string) => {
			const state = stateOf(smallkey);
			return state === null ? 0 : state.state === "waiting" ? time() : state.at;
		};
		const isOlder = (smallkey: string, ageMs: number) =>
			stateOf(smallkey)?.state === "failed" || lastTry(smallkey) <= time() - ageMs;
		let smallkeys = [...allKeys()].filter(isWanted);
		if (olderThanMs !== null) smallkeys = smallkeys.filter((smallkey) => isOlder(smallkey, olderThanMs));
		if (maxLayers !== null) smallkeys = smallkeys.sort((a, b) => lastTry(a) - lastTry(b)).slice(0, maxLayers);
		const fresh = smallkeys.filter((smallkey) => !trackOf(smallkey).isWaiting);
		for (const smallkey of fresh) trackOf(smallkey).isWaiting = true;
		others = others.then(async () => {
			for (const smallkey of fresh) await enqueue(smallkey);
		});
		return smallkeys.length;
	}

	/** The state of a layer's harvest; null if it was not harvested since the start. */
	function stateOf(smallkey: string): HarvestState | null {
		const { isWaiting, isRunning, last } = tracks.get(smallkey) ?? {};
		if (isWaiting || isRunning) return { state: "waiting" };
		if (!last) return null;
		const { retryAt, ...end } = last;
		return { ...end, nextTry: retryAt ?? nextMoment(smallkey, time(), everyMs) };
	}

	/** Queues a layer; with `isNew`, as a layer of the start, and only if it was never harvested. Never rejects. */
	async function enqueue(smallkey: string, { isUrgent = false, isNew = false } = {}): Promise<void> {
		if (signal.aborted) return;
		try {
			const layer = await store.read(smallkey);
			if (signal.aborted) return;
			const registration = layer && registrationOf(layer);
			if (!registration) return forget(smallkey);
			if (isNew && isDescribed(registration, descriptionOf(layer))) return;
			const track = trackOf(smallkey);
			timers.clear(track.retry);
			track.isWaiting = true;
			if (isNew) startKeys.add(smallkey);
			// If the other language has another host, the queue does not limit requests to that host.
			queue.add(smallkey, new URL(registration.en.service_url).host, isUrgent);
		} catch (error) {
			fail(smallkey, error, "unread-now");
		}
	}

	/** Removes the track of a layer that is removed or no longer harvested. */
	function forget(smallkey: string): void {
		timers.clear(tracks.get(smallkey)?.retry);
		tracks.delete(smallkey);
		startKeys.delete(smallkey);
	}

	async function visit(smallkey: string): Promise<void> {
		Object.assign(trackOf(smallkey), { isWaiting: false, isRunning: true });
		try {
			const done = await harvestOne(smallkey, options, signal);
			if (signal.aborted) return;
			if (done) finish(smallkey, done);
			else forget(smallkey);
		} catch (error) {
			fail(smallkey, error, "unstored-now");
		}
		logStart();
		if (!signal.aborted) await check?.(smallkey, signal);
	}

	function fail(smallkey: string, error: unknown, code: TextCode): void {
		if (signal.aborted) return;
		log.error(error);
		const text = textOf(code);
		end(smallkey, "failed", [{ en: textIn("en", text), fr: textIn("fr", text) }], true);
		startKeys.delete(smallkey);
	}

	function finish(smallkey: string, { line, findings, again }: HarvestEnd): void {
		const { outcome } = line;
		const track = trackOf(smallkey);
		count?.(outcome);
		// A service that stays down is logged once, not at every retry.
		const isKnown = outcome === "failed" && track.failures > 0;
		if (startLine && startKeys.delete(smallkey)) {
			startLine.harvested += 1;
			startLine[outcome] += 1;
			if (findings.length > 0) startLine.findings += 1;
		} else if (!isKnown) log.info(line);
		if (!again) track.failures = 0;
		if (outcome === "dropped") Object.assign(track, { isRunning: false, last: null });
		else end(smallkey, outcome === "failed" ? "failed" : "done", findings, again);
	}

	/** Records the end of a harvest. @param again whether the harvest is retried, after an increasing delay */
	function end(smallkey: string, state: "done" | "failed", findings: FindingLine[], again: boolean): void {
		const track = trackOf(smallkey);
		const waitMs = Math.min(firstRetryMs * 2 ** track.failures, everyMs, maxTimerMs);
		track.isRunning = false;
		track.last = { state, at: time(), findings, retryAt: again ? time() + waitMs : null };
		if (!again) return;
		track.failures += 1;
		timers.clear(track.retry);
		track.retry = timers.set(() => void enqueue(smallkey), waitMs);
	}

	/** Logs the line of the start once its last layer is harvested. */
	function logStart(): void {
		if (!startLine || !hasCaughtUp || startKeys.size > 0) return;
		if (startLine.harvested > 0) log.info(startLine);
		startLine = null;
	}

	return {
		follow,
		start,
		refresh,
		stateOf,
		/** Number of queued and running harvests. */
		waiting: () => queue.size,
		/** Aborts running requests and finishes a running commit. */
		async close(): Promise<void> {
			ending.abort(new Error("the service ends"));
			for (const { retry } of tracks.values()) timers.clear(retry);
			queue.clear();
			await Promise.all([arrivals, others]);
			await queue.idle();
		},
	};
}
