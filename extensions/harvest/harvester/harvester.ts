import type { Refresh } from "../../../api/context.ts";
import { parseStored } from "../../../api/register.ts";
import { eachInSlices } from "../../../publish/file-writer.ts";
import { isDescribed } from "../../../registry/description.ts";
import { harvestedLangs } from "../../../registry/registration.ts";
import { textIn, textOf } from "../../../registry/texts.ts";
import { type Log, type Store, StoreBusy } from "../../../store/store.ts";
import { type FindingLine, findingLine } from "../finding.ts";
import { commitGroup, descriptionOf, type HarvestResult, type Outcome } from "./commit.ts";
import type { HarvestLayer } from "./process.ts";
import { Groups, HostQueue, nextMoment, pauseForWrites, type Schedule } from "./schedule.ts";

interface HarvesterOptions extends Schedule {
	store: Store;
	harvest: HarvestLayer;
	log: Log;
	/** Called before the next layer of the same host, unless the harvest throws, the layer is gone, or the service ends. */
	check?: (smallkey: string, ...layer: Parameters<HarvestLayer>) => Promise<void>;
	/** Until then each layer is harvested once a day: its description may follow earlier rules. */
	againUntilMs?: number;
	/** A harvest starts when no layer was written in this time. */
	quietMs?: number;
	count?: ((outcome: Outcome) => void) | undefined;
}

/** Times are in milliseconds since 1970. */
interface HarvestEnd {
	/** `failed`: no service answered, and the description stays. */
	state: "done" | "failed";
	at: number;
	findings: FindingLine[];
	nextTry: number;
	failures: number;
}

/** A line of the log for each group: the number of each outcome, and findings in English by smallkey. */
export type HarvestLine = { harvested: number; findings?: Record<string, string[]> } & Partial<
	Record<Outcome, number>
>;

const maxHosts = 4;

/** Results of this time share a commit, up to this number. */
const groupMs = 1_000;
const maxGroup = 50;

const dayMs = 86_400_000;

/** Each further delay is twice the one before. */
const firstRetryMs = 60_000;

/** The harvester of a running service. It is idle until its first call. */
export class Harvester {
	readonly #options: HarvesterOptions;
	readonly #ending = new AbortController();
	readonly #queue = new HostQueue(maxHosts, (smallkey) => this.#visit(smallkey));
	readonly #groups: Groups<HarvestResult>;
	/** Queued, or about to be. */
	readonly #waiting = new Set<string>();
	/** Not committed yet. */
	readonly #running = new Set<string>();
	readonly #ends = new Map<string, HarvestEnd>();
	#pollTimer: unknown;
	/** In milliseconds of `performance.now`. */
	#writtenMs = Number.NEGATIVE_INFINITY;
	/** Registered layers are queued one after the other, beside all others: a push may bring a hundred thousand. */
	#arrivals: Promise<void> = Promise.resolve();
	#others: Promise<void> = Promise.resolve();

	constructor(options: HarvesterOptions) {
		this.#options = options;
		const limits = { timers: options.timers, ms: groupMs, max: maxGroup };
		this.#groups = new Groups(limits, (group) => this.#commit([...group.values()]));
	}

	get waiting(): number {
		return this.#queue.size;
	}

	/** `waiting`: queued, running, or not committed yet. Null if the layer was not harvested since the start. */
	stateOf(smallkey: string): { state: "waiting" } | HarvestEnd | null {
		return this.#isBusy(smallkey) ? { state: "waiting" } : (this.#ends.get(smallkey) ?? null);
	}

	/** Queues a layer before all others. Returns immediately. */
	follow(smallkey: string): void {
		this.#writtenMs = performance.now();
		this.#waiting.add(smallkey);
		this.#ends.delete(smallkey);
		this.#arrivals = this.#arrivals.then(() => this.#enqueue(smallkey, { isUrgent: true }));
	}

	/** Harvests the layers that were never harvested, then each layer once a period, spread over the period. */
	start(): void {
		const startMs = this.#options.now().getTime();
		this.#others = this.#others.then(async () => {
			for (const smallkey of [...this.#options.allKeys()]) await this.#enqueue(smallkey, { isNew: true });
			this.#pollLater(startMs);
		});
	}

	/** Queues layers after all others. Returns their number immediately. */
	refresh({ olderThanMs, maxLayers, isWanted }: Refresh): number {
		const time = this.#options.now().getTime();
		/** 0 if unknown. */
		const lastTry = (smallkey: string) =>
			this.#isBusy(smallkey) ? time : (this.#ends.get(smallkey)?.at ?? 0);
		const isOlder = (smallkey: string) =>
			olderThanMs === null ||
			this.#ends.get(smallkey)?.state === "failed" ||
			lastTry(smallkey) <= time - olderThanMs;
		let smallkeys = [...this.#options.allKeys()].filter((key) => isWanted(key) && isOlder(key));
		if (maxLayers !== null) smallkeys = smallkeys.sort((a, b) => lastTry(a) - lastTry(b)).slice(0, maxLayers);
		const idle = smallkeys.filter((smallkey) => !this.#waiting.has(smallkey));
		for (const smallkey of idle) this.#waiting.add(smallkey);
		this.#others = this.#others.then(async () => {
			for (const smallkey of idle) await this.#enqueue(smallkey);
		});
		return smallkeys.length;
	}

	/** Aborts running requests, and commits what is harvested. */
	async close(): Promise<void> {
		this.#ending.abort(new Error("the service ends"));
		this.#options.timers.clear(this.#pollTimer);
		await Promise.all([this.#arrivals, this.#others, this.#queue.close()]);
		await this.#groups.close();
	}

	#forget(smallkey: string): void {
		for (const layers of [this.#waiting, this.#running, this.#ends]) layers.delete(smallkey);
	}

	#isBusy(smallkey: string): boolean {
		return this.#waiting.has(smallkey) || this.#running.has(smallkey);
	}

	/** Looks for layers that have become due, every minute, or more often in a short period. */
	#pollLater(sinceMs: number): void {
		if (this.#ending.signal.aborted) return;
		const { allKeys, everyMs, againUntilMs = 0, timers } = this.#options;
		const periodMs = sinceMs < againUntilMs ? Math.min(dayMs, everyMs) : everyMs;
		const poll = async () => {
			const untilMs = this.#options.now().getTime();
			const due: string[] = [];
			await eachInSlices(allKeys(), (smallkey) => {
				const dueMs = this.#ends.get(smallkey)?.nextTry ?? nextMoment(smallkey, sinceMs, periodMs);
				if (dueMs <= untilMs && !this.#isBusy(smallkey)) due.push(smallkey);
			});
			// The last to fail come first: those at which a host hangs must not keep the others from being asked.
			const lastTry = (smallkey: string) => this.#ends.get(smallkey)?.at ?? 0;
			for (const smallkey of due.sort((a, b) => lastTry(b) - lastTry(a))) await this.#enqueue(smallkey);
			this.#pollLater(untilMs);
		};
		const intervalMs = Math.max(Math.min(60_000, everyMs / 100), 10);
		this.#pollTimer = timers.set(() => {
			this.#others = this.#others.then(poll);
		}, intervalMs);
	}

	/** Never rejects. @param isNew only if the layer was never harvested */
	async #enqueue(smallkey: string, { isUrgent = false, isNew = false } = {}): Promise<void> {
		const { signal } = this.#ending;
		if (signal.aborted) return;
		try {
			const layer = await this.#options.store.read(smallkey);
			const registration = parseStored(layer);
			if (!layer || !registration) return this.#forget(smallkey);
			if (signal.aborted || (isNew && isDescribed(registration, descriptionOf(layer)))) return;
			this.#waiting.add(smallkey);
			// If the other language has another host, the queue does not limit requests to that host.
			this.#queue.add(smallkey, new URL(registration.en.service_url).host, isUrgent);
		} catch (error) {
			this.#waiting.delete(smallkey);
			this.#fail([{ smallkey }], error);
		}
	}

	async #visit(smallkey: string): Promise<void> {
		const { store, harvest, check } = this.#options;
		const { signal } = this.#ending;
		await pauseForWrites(() => this.#writtenMs, this.#options.quietMs ?? 0, signal);
		this.#waiting.delete(smallkey);
		this.#running.add(smallkey);
		try {
			const layer = await store.read(smallkey);
			const registration = parseStored(layer);
			if (!layer || !registration) return this.#forget(smallkey);
			const before = descriptionOf(layer);
			if (harvestedLangs(registration).length > 0) {
				const harvested = await harvest(registration, signal, before);
				if (signal.aborted) return;
				this.#groups.add(smallkey, { smallkey, registration, harvested });
			} else this.#running.delete(smallkey);
			await check?.(smallkey, registration, signal, before);
		} catch (error) {
			this.#fail([{ smallkey }], error);
		}
	}

	async #commit(results: readonly HarvestResult[]): Promise<void> {
		try {
			this.#finish(await commitGroup(results, this.#options.store, this.#options.now));
		} catch (error) {
			if (results.length === 1 || error instanceof StoreBusy) return this.#fail(results, error);
			// The store may refuse one description, and with it the whole group.
			for (const result of results) await this.#commit([result]);
		}
	}

	#fail(layers: readonly { smallkey: string }[], error: unknown): void {
		if (this.#ending.signal.aborted) return;
		this.#options.log.error(error);
		const failure = textOf("harvest-failed");
		const findings = [{ en: textIn("en", failure), fr: textIn("fr", failure) }];
		for (const { smallkey } of layers) this.#end(smallkey, "failed", findings, true);
	}

	#finish(outcomes: ReadonlyMap<HarvestResult, Outcome>): void {
		const line: HarvestLine = { harvested: 0 };
		for (const [{ smallkey, registration, harvested }, outcome] of outcomes) {
			const findings = harvested.findings.map((finding) => findingLine(registration, finding));
			this.#options.count?.(outcome);
			// A service that stays down is logged once, not at every retry.
			if (outcome !== "failed" || !this.#ends.get(smallkey)?.failures) {
				line.harvested += 1;
				line[outcome] = (line[outcome] ?? 0) + 1;
				const texts = findings.map(({ en }) => en);
				if (texts.length > 0) line.findings = { ...line.findings, [smallkey]: texts };
			}
			const again = harvested.findings.some(({ state }) => state === "down");
			this.#end(smallkey, outcome === "failed" ? "failed" : "done", findings, again);
			if (outcome === "dropped") this.#ends.delete(smallkey);
		}
		if (line.harvested > 0) this.#options.log.info(line);
	}

	/** @param again whether the harvest is retried, after an increasing delay */
	#end(smallkey: string, state: "done" | "failed", findings: FindingLine[], again: boolean): void {
		const { everyMs } = this.#options;
		this.#running.delete(smallkey);
		const at = this.#options.now().getTime();
		const failures = again ? (this.#ends.get(smallkey)?.failures ?? 0) + 1 : 0;
		const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), everyMs);
		const nextTry = again ? at + retryMs : nextMoment(smallkey, at, everyMs);
		this.#ends.set(smallkey, { state, at, findings, failures, nextTry });
	}
}
