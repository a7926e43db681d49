import type { Refresh } from "../../api/context.ts";
import { isDescribed } from "../../registry/description.ts";
import { harvestedLangs, type Registration } from "../../registry/registration.ts";
import type { Log } from "../../store/log.ts";
import {
	type CommitOptions,
	type Done,
	descriptionOf,
	type HarvestLine,
	harvestedOf,
	harvestOne,
} from "./commit.ts";
import { HostQueue } from "./queue.ts";
import { lookForDue, NamedTimers, nextMoment, type Schedule } from "./schedule.ts";
import { type HarvestState, HarvestStates, StartSummary } from "./states.ts";

interface HarvesterOptions extends Schedule, CommitOptions {
	/** Gets each harvest, one summary for those of the start (`StartLine`), and each failure of the store. */
	log: Log;
	/** Counts each harvest, including those without a line. */
	count?: ((outcome: HarvestLine["outcome"]) => void) | undefined;
}

/** Most concurrent harvests, each of another host. */
const atOnce = 4;

/** Longest delay of a timer; Node fires a longer one after 1 ms (Node, "setTimeout"). */
const maxTimerMs = 2 ** 31 - 1;

/** Delay of the first retry in milliseconds; each further one takes twice as long. */
const firstRetryMs = 60_000;

/** The harvester of a running service. It is idle until its first call. */
export class Harvester {
	readonly #options: HarvesterOptions;
	readonly #ending = new AbortController();
	readonly #queue = new HostQueue(atOnce, (smallkey) => this.#harvest(smallkey));
	readonly #states: HarvestStates;
	readonly #startSummary: StartSummary;
	/** Failed attempts of a layer since the last one that succeeded. */
	readonly #failures = new Map<string, number>();
	readonly #retries: NamedTimers;
	/** Layers that were requested again and are not queued yet. */
	readonly #wanted = new Set<string>();
	/** The end of each kind of work that queues layers one after the other. */
	#starting: Promise<void> = Promise.resolve();
	#arrivals: Promise<void> = Promise.resolve();
	#refreshing: Promise<void> = Promise.resolve();
	#looks: { end: () => void } | null = null;

	constructor(options: HarvesterOptions) {
		this.#options = options;
		this.#states = new HarvestStates((smallkey) => nextMoment(smallkey, this.#time(), options.everyMs));
		this.#startSummary = new StartSummary((line) => options.log.info(line));
		this.#retries = new NamedTimers(options.timers);
	}

	/** Queues a layer before all others. Returns at once. */
	follow(smallkey: string): void {
		this.#failures.delete(smallkey);
		this.#startSummary.remove(smallkey);
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

	/** Queues a layer, if it is harvested; with `onlyNew`, only if it never was. Never rejects. */
	async #enqueue(smallkey: string, urgent: boolean, onlyNew: boolean): Promise<void> {
		const { signal } = this.#ending;
		if (signal.aborted) return;
		try {
			const layer = await this.#options.store.read(smallkey);
			if (signal.aborted) return;
			const registration = layer && harvestedOf(layer);
			if (!registration) return this.#forget(smallkey);
			if (onlyNew && isDescribed(registration, descriptionOf(layer))) return;
			this.#retries.clear(smallkey);
			this.#states.wait(smallkey);
			if (onlyNew) this.#startSummary.add(smallkey);
			this.#queue.add(smallkey, hostOf(registration), urgent);
		} catch (error) {
			this.#fail(smallkey, error, "the repository cannot be read now");
		}
	}

	/** Drops the state of a layer that is gone or no longer harvested. */
	#forget(smallkey: string): void {
		this.#retries.clear(smallkey);
		this.#failures.delete(smallkey);
		this.#states.forget(smallkey);
		this.#startSummary.remove(smallkey);
	}

	async #harvest(smallkey: string): Promise<void> {
		this.#states.begin(smallkey);
		try {
			const done = await harvestOne(smallkey, this.#options, this.#ending.signal);
			if (this.#ending.signal.aborted) return;
			if (done) this.#finish(smallkey, done);
			else this.#forget(smallkey);
		} catch (error) {
			this.#fail(smallkey, error, "what was found cannot be stored now");
		}
	}

	/** Retries a layer after a failure of the store. */
	#fail(smallkey: string, error: unknown, finding: string): void {
		if (this.#ending.signal.aborted) return;
		this.#options.log.error(error);
		const end = { state: "failed" as const, at: this.#time(), findings: [finding] };
		this.#states.end(smallkey, end, this.#retry(smallkey));
		this.#startSummary.remove(smallkey);
	}

	#finish(smallkey: string, { line, again }: Done): void {
		const { count, log } = this.#options;
		count?.(line.outcome);
		// A service that stays down is logged once, not at every retry.
		const isKnown = line.outcome === "failed" && this.#failures.has(smallkey);
		if (!isKnown && !this.#startSummary.take(line)) log.info(line);
		if (!again) this.#failures.delete(smallkey);
		if (line.outcome === "dropped") return this.#states.drop(smallkey);
		const state = line.outcome === "failed" ? "failed" : "done";
		const end = { state, at: this.#time(), findings: line.findings ?? [] } as const;
		this.#states.end(smallkey, end, again ? this.#retry(smallkey) : null);
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
		this.#startSummary.close();
	}
}

/** The host for the queue. The other language's host, if different, is not limited by it. */
function hostOf(registration: Registration): string {
	const [lang = "en"] = harvestedLangs(registration);
	return new URL(registration[lang].service_url).host;
}
