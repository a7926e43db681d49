import type { Refresh } from "../../api/context.ts";
import { isDescribed } from "../../registry/description.ts";
import type { Log } from "../../store/log.ts";
import { descriptionOf, registrationOf } from "../stored-layer.ts";
import { type CommitOptions, type Done, type HarvestLine, harvestOne } from "./commit.ts";
import { createHostQueue } from "./queue.ts";
import { nextMoment, pollDue, type Schedule } from "./schedule.ts";
import type { HarvestState, StartLine, Track } from "./states.ts";

interface HarvesterOptions extends Schedule, CommitOptions {
	/** Gets each harvest, one line for all harvests of the start (`StartLine`), and each failure of the store. */
	log: Log;
	/** Called after each layer, harvested or not, before the next layer of the same host. */
	check?: (smallkey: string, signal: AbortSignal) => Promise<void>;
	/** Counts each harvest, including those without a line. */
	count?: ((outcome: HarvestLine["outcome"]) => void) | undefined;
}

/** The highest number of concurrent harvests, each of another host. */
const maxConcurrent = 4;

/** Longest delay of a timer; Node runs a timer with a longer delay after 1 ms (Node, "setTimeout"). */
const maxTimerMs = 2 ** 31 - 1;

/** Delay of the first retry in milliseconds; each further delay is twice the one before. */
const firstRetryMs = 60_000;

/** The harvester of a running service. It is idle until its first call. */
export class Harvester {
	readonly #options: HarvesterOptions;
	readonly #ending = new AbortController();
	readonly #queue = createHostQueue(maxConcurrent, (smallkey) => this.#visit(smallkey));
	readonly #tracks = new Map<string, Track>();
	/** Layers of the start that are not harvested yet. */
	readonly #startKeys = new Set<string>();
	/** The results of the start; null once the line is logged. */
	#startLine: StartLine | null = {
		harvested: 0,
		changed: 0,
		unchanged: 0,
		dropped: 0,
		failed: 0,
		findings: 0,
		read: "npx fragments check-services",
	};
	#hasCaughtUp = false;
	/** Settle when all registered layers, and all other layers, are queued. Both queue layers one after the other. */
	#arrivals: Promise<void> = Promise.resolve();
	#others: Promise<void> = Promise.resolve();

	constructor(options: HarvesterOptions) {
		this.#options = options;
	}

	/** Queues a layer before all others. Returns immediately. */
	follow(smallkey: string): void {
		const track = this.#track(smallkey);
		track.failures = 0;
		track.isWaiting = true;
		this.#startKeys.delete(smallkey);
		// One after the other: a push may bring a hundred thousand layers.
		this.#arrivals = this.#arrivals.then(() => this.#enqueue(smallkey, true, false));
	}

	/** Harvests the layers that were never harvested, then every layer once per period, at times spread over the period. */
	start(): void {
		const sinceMs = this.#time();
		const due = (smallkey: string) => this.#enqueue(smallkey, false, false);
		this.#others = this.#others.then(async () => {
			await this.#catchUp();
			pollDue({ ...this.#options, sinceMs, due, signal: this.#ending.signal });
		});
	}

	/** Queues layers again, after all others. Returns the number of layers immediately. */
	readonly refresh = ({ olderThanMs, maxLayers, isWanted }: Refresh): number => {
		let smallkeys = [...this.#options.allKeys()].filter(isWanted);
		if (olderThanMs !== null) smallkeys = smallkeys.filter((key) => this.#isOlder(key, olderThanMs));
		if (maxLayers !== null) {
			smallkeys = smallkeys.sort((a, b) => this.#lastTry(a) - this.#lastTry(b)).slice(0, maxLayers);
		}
		const fresh = smallkeys.filter((smallkey) => !this.#track(smallkey).isWaiting);
		for (const smallkey of fresh) this.#track(smallkey).isWaiting = true;
		this.#others = this.#others.then(async () => {
			for (const smallkey of fresh) await this.#enqueue(smallkey, false, false);
		});
		return smallkeys.length;
	};

	/** The state of a layer's harvest; null if it was not harvested since the start. */
	stateOf(smallkey: string): HarvestState | null {
		const { isWaiting, isRunning, last } = this.#tracks.get(smallkey) ?? {};
		if (isWaiting || isRunning) return { state: "waiting" };
		if (!last) return null;
		const { retryAt, ...end } = last;
		return { ...end, nextTry: retryAt ?? nextMoment(smallkey, this.#time(), this.#options.everyMs) };
	}

	/** Number of queued and running harvests. */
	get waiting(): number {
		return this.#queue.size;
	}

	/** Aborts running requests and finishes a running commit. */
	async close(): Promise<void> {
		this.#ending.abort(new Error("the service ends"));
		for (const { retry } of this.#tracks.values()) this.#options.timers.clear(retry);
		this.#queue.clear();
		await Promise.all([this.#arrivals, this.#others]);
		await this.#queue.idle();
	}

	#time(): number {
		return this.#options.now().getTime();
	}

	/** Returns the track of a layer, and creates it if there is none. */
	#track(smallkey: string): Track {
		const known = this.#tracks.get(smallkey);
		const track = known ?? { isWaiting: false, isRunning: false, last: null, failures: 0, retry: null };
		this.#tracks.set(smallkey, track);
		return track;
	}

	/** The time of a layer's last harvest; 0 if it is not known, and now for a waiting layer. */
	#lastTry(smallkey: string): number {
		const state = this.stateOf(smallkey);
		if (state === null) return 0;
		return state.state === "waiting" ? this.#time() : state.at;
	}

	/** Whether the last harvest is at least `ageMs` ago, or failed. */
	#isOlder(smallkey: string, ageMs: number): boolean {
		const isFailed = this.stateOf(smallkey)?.state === "failed";
		return isFailed || this.#lastTry(smallkey) <= this.#time() - ageMs;
	}

	/** Queues a layer; with `onlyNew`, only if it was never harvested. Never rejects. */
	async #enqueue(smallkey: string, urgent: boolean, onlyNew: boolean): Promise<void> {
		const { signal } = this.#ending;
		if (signal.aborted) return;
		try {
			const layer = await this.#options.store.read(smallkey);
			if (signal.aborted) return;
			const registration = layer && registrationOf(layer);
			if (!registration) return this.#forget(smallkey);
			if (onlyNew && isDescribed(registration, descriptionOf(layer))) return;
			const track = this.#track(smallkey);
			this.#options.timers.clear(track.retry);
			track.isWaiting = true;
			if (onlyNew) this.#startKeys.add(smallkey);
			// If the other language has another host, the queue does not limit requests to that host.
			this.#queue.add(smallkey, new URL(registration.en.service_url).host, urgent);
		} catch (error) {
			this.#fail(smallkey, error, "the repository cannot be read now");
		}
	}

	/** Removes the track of a layer that is removed or no longer harvested. */
	#forget(smallkey: string): void {
		this.#options.timers.clear(this.#tracks.get(smallkey)?.retry);
		this.#tracks.delete(smallkey);
		this.#startKeys.delete(smallkey);
	}

	async #visit(smallkey: string): Promise<void> {
		const { signal } = this.#ending;
		Object.assign(this.#track(smallkey), { isWaiting: false, isRunning: true });
		try {
			const done = await harvestOne(smallkey, this.#options, signal);
			if (signal.aborted) return;
			if (done) this.#finish(smallkey, done);
			else this.#forget(smallkey);
		} catch (error) {
			this.#fail(smallkey, error, "what was found cannot be stored now");
		}
		this.#logStart();
		if (!signal.aborted) await this.#options.check?.(smallkey, signal);
	}

	#fail(smallkey: string, error: unknown, finding: string): void {
		if (this.#ending.signal.aborted) return;
		this.#options.log.error(error);
		this.#end(smallkey, "failed", [finding], true);
		this.#startKeys.delete(smallkey);
	}

	#finish(smallkey: string, { line, again }: Done): void {
		const { count, log } = this.#options;
		const track = this.#track(smallkey);
		count?.(line.outcome);
		// A service that stays down is logged once, not at every retry.
		const isKnown = line.outcome === "failed" && track.failures > 0;
		if (!this.#addToStart(smallkey, line) && !isKnown) log.info(line);
		if (!again) track.failures = 0;
		if (line.outcome === "dropped") Object.assign(track, { isRunning: false, last: null });
		else this.#end(smallkey, line.outcome === "failed" ? "failed" : "done", line.findings ?? [], again);
	}

	/** Records the end of a harvest. @param again whether the harvest is retried, after an increasing delay */
	#end(smallkey: string, state: "done" | "failed", findings: string[], again: boolean): void {
		const { timers, everyMs } = this.#options;
		const track = this.#track(smallkey);
		const waitMs = Math.min(firstRetryMs * 2 ** track.failures, everyMs, maxTimerMs);
		track.isRunning = false;
		track.last = { state, at: this.#time(), findings, retryAt: again ? this.#time() + waitMs : null };
		if (!again) return;
		track.failures += 1;
		timers.clear(track.retry);
		track.retry = timers.set(() => void this.#enqueue(smallkey, false, false), waitMs);
	}

	/** Adds a result to the line of the start. @returns false if the layer is not a layer of the start */
	#addToStart(smallkey: string, { outcome, findings }: HarvestLine): boolean {
		const line = this.#startLine;
		if (!line || !this.#startKeys.delete(smallkey)) return false;
		line.harvested += 1;
		line[outcome] += 1;
		if (findings) line.findings += 1;
		return true;
	}

	/** Logs the line of the start once its last layer is harvested. */
	#logStart(): void {
		if (!this.#startLine || !this.#hasCaughtUp || this.#startKeys.size > 0) return;
		if (this.#startLine.harvested > 0) this.#options.log.info(this.#startLine);
		this.#startLine = null;
	}

	async #catchUp(): Promise<void> {
		for (const smallkey of [...this.#options.allKeys()]) {
			if (this.#ending.signal.aborted) return;
			await this.#enqueue(smallkey, false, true);
		}
		this.#hasCaughtUp = true;
		this.#logStart();
	}
}
