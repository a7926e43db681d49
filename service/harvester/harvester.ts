import type { Refresh } from "../../api/context.ts";
import { isDescribed } from "../../registry/description.ts";
import { parseRegistration } from "../../registry/registration.ts";
import type { Log } from "../../store/log.ts";
import { type CommitOptions, type Done, descriptionOf, type HarvestLine, harvestOne } from "./commit.ts";
import { HostQueue } from "./queue.ts";
import { lookForDue, NamedTimers, nextMoment, type Schedule } from "./schedule.ts";
import { type HarvestState, HarvestStates } from "./states.ts";

interface HarvesterOptions extends Schedule, CommitOptions {
	/** Gets each harvest, one line for those of the start (`StartLine`), and each failure of the store. */
	log: Log;
	/** Called after each harvest, and for layers that are not harvested, before the next one of the same host. */
	look?: (smallkey: string, signal: AbortSignal) => Promise<void>;
	/** Counts each harvest, including those without a line. */
	count?: ((outcome: HarvestLine["outcome"]) => void) | undefined;
}

/** Most concurrent harvests, each of another host. */
const atOnce = 4;

/** Longest delay of a timer; Node fires a longer one after 1 ms (Node, "setTimeout"). */
const maxTimerMs = 2 ** 31 - 1;

/** Delay of the first retry in milliseconds; each further one takes twice as long. */
const firstRetryMs = 60_000;

/** The harvests of a start, as one line of the log: so that they do not flood it. */
export interface StartLine {
	harvested: number;
	changed: number;
	unchanged: number;
	dropped: number;
	failed: number;
	/** How many have findings. */
	findings: number;
	/** The command that prints their findings. */
	read: string;
}

/** The harvester of a running service. It is idle until its first call. */
export class Harvester {
	readonly #options: HarvesterOptions;
	readonly #ending = new AbortController();
	readonly #queue = new HostQueue(atOnce, (smallkey) => this.#visit(smallkey));
	readonly #states: HarvestStates;
	/** Layers that the start harvests, and what came of them; the line is null once it is logged. */
	readonly #startKeys = new Set<string>();
	#startLine: StartLine | null = {
		harvested: 0,
		changed: 0,
		unchanged: 0,
		dropped: 0,
		failed: 0,
		findings: 0,
		read: "npx fragments check-services",
	};
	/** Failed attempts of a layer since the last one that succeeded. */
	readonly #failures = new Map<string, number>();
	readonly #retries: NamedTimers;
	/** Layers that were requested again and are not queued yet. */
	readonly #wanted = new Set<string>();
	/** The end of each kind of work that queues layers one after the other. */
	#starting: Promise<void> = Promise.resolve();
	#arrivals: Promise<void> = Promise.resolve();
	#refreshing: Promise<void> = Promise.resolve();
	#hasCaughtUp = false;
	#looks: { end: () => void } | null = null;

	constructor(options: HarvesterOptions) {
		this.#options = options;
		this.#states = new HarvestStates((smallkey) => nextMoment(smallkey, this.#time(), options.everyMs));
		this.#retries = new NamedTimers(options.timers);
	}

	/** Queues a layer before all others. Returns at once. */
	follow(smallkey: string): void {
		this.#failures.delete(smallkey);
		this.#startKeys.delete(smallkey);
		this.#states.wait(smallkey);
		// Sequentially: a push may bring a hundred thousand layers.
		this.#arrivals = this.#arrivals.then(() => this.#enqueue(smallkey, true, false));
	}

	/** Harvests the layers that were never harvested, then every layer once in each period, spread over it. */
	start(): void {
		const sinceMs = this.#time();
		this.#starting = this.#catchUp().then(() => {
			if (this.#ending.signal.aborted) return;
			const due = (smallkey: string) => this.#enqueue(smallkey, false, false);
			this.#looks = lookForDue({ ...this.#options, sinceMs, due });
		});
	}

	/** Queues layers again, behind all others. Returns at once, with the number of layers. */
	readonly refresh = ({ olderThanMs, maxLayers, isWanted }: Refresh): number => {
		let smallkeys = [...this.#options.allKeys()].filter(isWanted);
		if (olderThanMs !== null) smallkeys = smallkeys.filter((one) => this.#isOlder(one, olderThanMs));
		if (maxLayers !== null) {
			smallkeys = smallkeys.sort((a, b) => this.#lastTry(a) - this.#lastTry(b)).slice(0, maxLayers);
		}
		for (const smallkey of smallkeys) this.#wanted.add(smallkey);
		this.#refreshing = this.#refreshing.then(async () => {
			for (const smallkey of this.#wanted) {
				this.#wanted.delete(smallkey);
				await this.#enqueue(smallkey, false, false);
			}
		});
		return smallkeys.length;
	};

	/** The state of a layer's harvest; null where it was not harvested since the start. */
	stateOf(smallkey: string): HarvestState | null {
		return this.#states.of(smallkey);
	}

	/** Number of queued and running harvests. */
	get waiting(): number {
		return this.#queue.size;
	}

	/** Aborts running requests and finishes a running commit. */
	async close(): Promise<void> {
		this.#ending.abort(new Error("the service ends"));
		this.#retries.clearAll();
		this.#looks?.end();
		this.#queue.clear();
		this.#wanted.clear();
		await Promise.all([this.#starting, this.#arrivals, this.#refreshing]);
		await this.#queue.idle();
	}

	#time(): number {
		return this.#options.now().getTime();
	}

	/** The end of a layer's last harvest, 0 where it is not known; now for a waiting layer. */
	#lastTry(smallkey: string): number {
		const state = this.#states.of(smallkey);
		if (state === null) return 0;
		return state.state === "waiting" ? this.#time() : state.at;
	}

	/** Whether the last harvest is older; always true after a failed one. */
	#isOlder(smallkey: string, ageMs: number): boolean {
		const isFailed = this.#states.of(smallkey)?.state === "failed";
		return isFailed || this.#lastTry(smallkey) <= this.#time() - ageMs;
	}

	/** Queues a layer; with `onlyNew`, only if it was never harvested. Never rejects. */
	async #enqueue(smallkey: string, urgent: boolean, onlyNew: boolean): Promise<void> {
		const { signal } = this.#ending;
		if (signal.aborted) return;
		try {
			const layer = await this.#options.store.read(smallkey);
			if (signal.aborted) return;
			const bytes = new TextEncoder().encode(layer?.registration);
			const registration = layer && parseRegistration(bytes, "stored").registration;
			if (!registration) return this.#forget(smallkey);
			if (onlyNew && isDescribed(registration, descriptionOf(layer))) return;
			this.#retries.clear(smallkey);
			this.#states.wait(smallkey);
			if (onlyNew) this.#startKeys.add(smallkey);
			// The other language's host, if different, is not limited by the queue.
			this.#queue.add(smallkey, new URL(registration.en.service_url).host, urgent);
		} catch (error) {
			this.#fail(smallkey, error, "the repository cannot be read now");
		}
	}

	/** Drops the state of a layer that is gone or no longer harvested. */
	#forget(smallkey: string): void {
		this.#retries.clear(smallkey);
		this.#failures.delete(smallkey);
		this.#states.forget(smallkey);
		this.#startKeys.delete(smallkey);
	}

	async #visit(smallkey: string): Promise<void> {
		const { signal } = this.#ending;
		this.#states.begin(smallkey);
		try {
			const done = await harvestOne(smallkey, this.#options, signal);
			if (signal.aborted) return;
			if (done) this.#finish(smallkey, done);
			else this.#forget(smallkey);
		} catch (error) {
			this.#fail(smallkey, error, "what was found cannot be stored now");
		}
		this.#logStart();
		if (!signal.aborted) await this.#options.look?.(smallkey, signal);
	}

	/** Retries a layer after a failure of the store. */
	#fail(smallkey: string, error: unknown, finding: string): void {
		if (this.#ending.signal.aborted) return;
		this.#options.log.error(error);
		const end = { state: "failed" as const, at: this.#time(), findings: [finding] };
		this.#states.end(smallkey, { ...end, retryAt: this.#retry(smallkey) });
		this.#startKeys.delete(smallkey);
	}

	#finish(smallkey: string, { line, again }: Done): void {
		const { count, log } = this.#options;
		count?.(line.outcome);
		// A service that stays down is logged once, not at every retry.
		const isKnown = line.outcome === "failed" && this.#failures.has(smallkey);
		if (!this.#addToStart(smallkey, line) && !isKnown) log.info(line);
		if (!again) this.#failures.delete(smallkey);
		if (line.outcome === "dropped") return this.#states.drop(smallkey);
		const state = line.outcome === "failed" ? "failed" : "done";
		const retryAt = again ? this.#retry(smallkey) : null;
		this.#states.end(smallkey, { state, at: this.#time(), findings: line.findings ?? [], retryAt });
	}

	/** Adds a result to the line of the start; false where the layer is not one of the start. */
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

	/** Schedules a retry. @returns its time, in milliseconds since 1970 */
	#retry(smallkey: string): number {
		const before = this.#failures.get(smallkey) ?? 0;
		this.#failures.set(smallkey, before + 1);
		const waitMs = Math.min(firstRetryMs * 2 ** before, this.#options.everyMs, maxTimerMs);
		this.#retries.set(smallkey, () => void this.#enqueue(smallkey, false, false), waitMs);
		return this.#time() + waitMs;
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
