import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { Refresh } from "../../../api/context.ts";
import { parseStored } from "../../../api/register.ts";
import { eachInSlices } from "../../../publish/file-writer.ts";
import type { SickState } from "../../../registry/health.ts";
import { harvestedLangs } from "../../../registry/registration.ts";
import { textIn, textOf } from "../../../registry/texts.ts";
import { type Log, type Store, StoreBusy } from "../../../store/store.ts";
import { isDescribed } from "../description.ts";
import { type FindingLine, findingLines, resultOf } from "../finding.ts";
import type { CheckResult } from "../health.ts";
import { commitGroup, descriptionOf, type HarvestResult, type Outcome } from "./commit.ts";
import type { LookAt } from "./process.ts";
import { createGroups, createLanes, nextMoment, type Schedule } from "./schedule.ts";

interface HarvesterOptions extends Schedule {
	store: Store;
	lookAt: LookAt;
	log: Log;
	/** @param result null: healthy */
	checked: (smallkey: string, result: CheckResult | null) => void;
	/** A harvest waits for a pause of writes as long as this. */
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

export interface LastCheck {
	/** null: healthy. */
	state: SickState | null;
	at: number;
	findings: FindingLine[];
}

/** A line of the log for each group: the number of each outcome. What services said is in `/status`. */
export type HarvestLine = { harvested: number } & Partial<Record<Outcome, number>>;

const maxHosts = 4;

/** Beside harvests that do not wait, one publisher's PUTs take twice as long as with `HARVEST=off`. */
const maxPauses = 10;

/** Results of this time share a commit, up to this number. */
const groupMs = 1_000;
const maxGroup = 50;

/** Each further delay is twice the one before. */
const firstRetryMs = 60_000;

/** The harvester of a running service. It is idle until its first call. */
export class Harvester {
	readonly #options: HarvesterOptions;
	readonly #ending = new AbortController();
	readonly #urgent = createLanes(maxHosts);
	readonly #ordinary = createLanes(maxHosts);
	readonly #groups: ReturnType<typeof createGroups<HarvestResult>>;
	/** Queued, or about to be. */
	readonly #waiting = new Set<string>();
	/** Not committed yet. */
	readonly #running = new Set<string>();
	readonly #ends = new Map<string, HarvestEnd>();
	readonly #lastChecks = new Map<string, LastCheck>();
	#pollTimer: unknown;
	/** In milliseconds of `performance.now`. */
	#writtenMs = Number.NEGATIVE_INFINITY;
	/** A push may bring a hundred thousand layers, which are read one after the other. */
	readonly #arrivals = pLimit(1);
	/** A process that cannot start has the same error for each layer and each retry, until one is harvested. */
	#lastError = "";

	constructor(options: HarvesterOptions) {
		this.#options = options;
		const limits = { timers: options.timers, ms: groupMs, max: maxGroup };
		this.#groups = createGroups<HarvestResult>(limits, (group) => this.#commit([...group.values()]));
	}

	get waiting(): number {
		return this.#waiting.size;
	}

	/** `waiting`: queued, running, or not committed yet. Null if the layer was not harvested since the start. */
	stateOf(smallkey: string): { state: "waiting" } | HarvestEnd | null {
		return this.#isBusy(smallkey) ? { state: "waiting" } : (this.#ends.get(smallkey) ?? null);
	}

	/** Null if the layer was not checked since the start. */
	lastCheckOf(smallkey: string): LastCheck | null {
		return this.#lastChecks.get(smallkey) ?? null;
	}

	/** Queues a layer before all others. Returns immediately. */
	follow(smallkey: string): void {
		if (this.#ending.signal.aborted) return;
		this.#writtenMs = performance.now();
		this.#waiting.add(smallkey);
		this.#ends.delete(smallkey);
		void this.#arrivals(() => this.#enqueue(smallkey, this.#urgent));
	}

	/** Harvests the layers that were never harvested, then each layer once a period, spread over the period. */
	async start(): Promise<void> {
		const startMs = this.#nowMs();
		await this.#enqueueAll([...this.#options.allKeys()], true);
		this.#pollLater(startMs);
	}

	/** Queues layers after all others. Returns their number immediately. */
	refresh({ olderThanMs, maxLayers, isWanted }: Refresh): number {
		const time = this.#nowMs();
		const ends = this.#ends;
		/** 0 if unknown. */
		const timeOf = (smallkey: string) => (this.#isBusy(smallkey) ? time : (ends.get(smallkey)?.at ?? 0));
		const isOlder = (smallkey: string) =>
			ends.get(smallkey)?.state === "failed" || timeOf(smallkey) <= time - (olderThanMs ?? -Infinity);
		const due = [...this.#options.allKeys()].filter((key) => isWanted(key) && isOlder(key));
		const smallkeys = due.sort((a, b) => timeOf(a) - timeOf(b)).slice(0, maxLayers ?? due.length);
		const idle = smallkeys.filter((smallkey) => !this.#waiting.has(smallkey));
		for (const smallkey of idle) this.#waiting.add(smallkey);
		void this.#enqueueAll(idle);
		return smallkeys.length;
	}

	/** Aborts running requests, and commits what is harvested. */
	async close(): Promise<void> {
		this.#ending.abort(new Error("the service ends"));
		this.#options.timers.clear(this.#pollTimer);
		await this.#arrivals(() => undefined);
		await Promise.all([this.#urgent.end(), this.#ordinary.end()]);
		await this.#groups.close();
	}

	#nowMs(): number {
		return this.#options.now().getTime();
	}

	#isBusy(smallkey: string): boolean {
		return this.#waiting.has(smallkey) || this.#running.has(smallkey);
	}

	/** Null if the layer is gone or its registration is invalid; it is forgotten then. */
	async #read(smallkey: string) {
		const layer = await this.#options.store.read(smallkey);
		const registration = parseStored(layer);
		if (layer && registration) return { layer, registration };
		for (const layers of [this.#waiting, this.#running, this.#ends, this.#lastChecks])
			layers.delete(smallkey);
		return null;
	}

	/** Looks for layers that have become due, every minute, or more often in a short period. */
	#pollLater(sinceMs: number): void {
		if (this.#ending.signal.aborted) return;
		const { allKeys, everyMs, timers } = this.#options;
		const poll = async () => {
			const untilMs = this.#nowMs();
			const due: string[] = [];
			await eachInSlices(allKeys(), (smallkey) => {
				const dueMs = this.#ends.get(smallkey)?.nextTry ?? nextMoment(smallkey, sinceMs, everyMs);
				if (dueMs <= untilMs && !this.#isBusy(smallkey)) due.push(smallkey);
			});
			await this.#enqueueAll(due);
			this.#pollLater(untilMs);
		};
		const intervalMs = Math.max(Math.min(60_000, everyMs / 100), 10);
		this.#pollTimer = timers.set(() => void poll(), intervalMs);
	}

	/** @param isNew only layers that were never harvested */
	async #enqueueAll(smallkeys: readonly string[], isNew = false): Promise<void> {
		for (const smallkey of smallkeys) await this.#enqueue(smallkey, this.#ordinary, isNew);
	}

	/** Never rejects. */
	async #enqueue(smallkey: string, lanes: ReturnType<typeof createLanes>, isNew = false): Promise<void> {
		const { signal } = this.#ending;
		if (signal.aborted) return;
		try {
			const stored = await this.#read(smallkey);
			if (!stored || signal.aborted) return;
			const { layer, registration } = stored;
			if (isNew && isDescribed(registration, descriptionOf(layer))) return;
			this.#waiting.add(smallkey);
			void lanes.run(new URL(registration.en.service_url).host, () => this.#visit(smallkey));
		} catch (error) {
			this.#waiting.delete(smallkey);
			this.#fail([{ smallkey }], error);
		}
	}

	async #visit(smallkey: string): Promise<void> {
		const { lookAt, checked, quietMs = 0 } = this.#options;
		const { signal } = this.#ending;
		for (let pauses = 0; pauses < maxPauses && performance.now() < this.#writtenMs + quietMs; pauses += 1)
			await sleep(quietMs, undefined, { signal }).catch(() => undefined);
		// It may have been harvested in the other lane.
		if (signal.aborted || !this.#waiting.delete(smallkey)) return;
		this.#running.add(smallkey);
		try {
			const stored = await this.#read(smallkey);
			if (!stored) return;
			const { layer, registration } = stored;
			const look = await lookAt(registration, descriptionOf(layer), signal);
			const result = resultOf(look.checked);
			const findings = findingLines(registration, look.checked);
			this.#lastChecks.set(smallkey, { state: result?.state ?? null, at: this.#nowMs(), findings });
			checked(smallkey, result);
			if (harvestedLangs(registration).length === 0) this.#running.delete(smallkey);
			else this.#groups.add(smallkey, { smallkey, registration, harvested: look.harvested });
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
		if (String(error) !== this.#lastError) this.#options.log.error(error);
		this.#lastError = String(error);
		const failure = textOf("harvest-failed");
		const findings = [{ en: textIn("en", failure), fr: textIn("fr", failure) }];
		for (const { smallkey } of layers) this.#end(smallkey, "failed", findings, true);
	}

	#finish(outcomes: ReadonlyMap<HarvestResult, Outcome>): void {
		const { count, log } = this.#options;
		const line: HarvestLine = { harvested: outcomes.size };
		for (const [{ smallkey, registration, harvested }, outcome] of outcomes) {
			count?.(outcome);
			line[outcome] = (line[outcome] ?? 0) + 1;
			const again = harvested.findings.some(({ state }) => state === "down");
			const findings = findingLines(registration, harvested.findings);
			this.#end(smallkey, outcome === "failed" ? "failed" : "done", findings, again);
			if (outcome === "dropped") this.#ends.delete(smallkey);
		}
		log.info(line);
		this.#lastError = "";
	}

	/** @param again whether the harvest is retried, after an increasing delay */
	#end(smallkey: string, state: "done" | "failed", findings: FindingLine[], again: boolean): void {
		const { everyMs } = this.#options;
		this.#running.delete(smallkey);
		const at = this.#nowMs();
		const failures = again ? (this.#ends.get(smallkey)?.failures ?? 0) + 1 : 0;
		const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), everyMs);
		const nextTry = again ? at + retryMs : nextMoment(smallkey, at, everyMs);
		this.#ends.set(smallkey, { state, at, findings, failures, nextTry });
	}
}
