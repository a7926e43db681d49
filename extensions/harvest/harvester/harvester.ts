import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { parseStored } from "../../../api/register.ts";
import { eachInSlices } from "../../../publish/file-writer.ts";
import { textIn, textOf } from "../../../registry/texts.ts";
import { type Log, type Store, StoreBusy } from "../../../store/store.ts";
import { isDescribed } from "../description.ts";
import { findingLines, resultOf } from "../finding.ts";
import type { CheckResult } from "../health.ts";
import { harvestedLangs } from "../langs.ts";
import { commitGroup, descriptionOf, type HarvestResult, type Outcome } from "./commit.ts";
import type { LookAt } from "./process.ts";
import { createGroups, createLanes, nextMoment, type Schedule } from "./schedule.ts";
import { LayerStates } from "./states.ts";

interface HarvesterOptions extends Schedule {
	store: Store;
	lookAt: LookAt;
	log: Log;
	/** @param result null: healthy */
	checked: (smallkey: string, result: CheckResult | null) => void;
	/** Harvests wait for a pause of writes of this length. */
	quietMs: number;
	count?: (outcome: Outcome) => void;
}

/** A line of the log for each group: the number of each outcome. */
export type HarvestLine = { harvested: number } & Partial<Record<Outcome, number>>;

const maxHosts = 4;

/** Beside harvests that do not wait, PUTs take twice as long. */
const maxPauses = 10;

/** Results of this time share a commit, up to this number. */
const groupMs = 1_000;
const maxGroup = 50;

export interface Refresh {
	/** Least time since the last harvest; null: all layers. */
	olderThanMs: number | null;
	maxLayers: number | null;
	isWanted: (smallkey: string) => boolean;
}

/** Idle until its first call. */
export class Harvester {
	readonly #options: HarvesterOptions;
	readonly #ending = new AbortController();
	readonly #urgent = createLanes(maxHosts);
	readonly #ordinary = createLanes(maxHosts);
	readonly #groups: ReturnType<typeof createGroups<HarvestResult>>;
	readonly states: LayerStates;
	#pollTimer: unknown;
	/** The clock is `performance.now`. */
	#writtenMs = Number.NEGATIVE_INFINITY;
	/** Reads the layers of a large push one after the other. */
	readonly #arrivals = pLimit(1);
	/** The same error of many layers is logged once. */
	#lastError = "";

	constructor(options: HarvesterOptions) {
		this.#options = options;
		this.states = new LayerStates(() => options.now().getTime(), options.everyMs);
		const limits = { timers: options.timers, ms: groupMs, max: maxGroup };
		this.#groups = createGroups(limits, (group) => this.#commit([...group.values()]));
	}

	/** Queues a layer before all others. Returns immediately. */
	follow(smallkey: string): void {
		if (this.#ending.signal.aborted) return;
		this.#writtenMs = performance.now();
		this.states.waiting.add(smallkey);
		this.states.ends.delete(smallkey);
		void this.#arrivals(() => this.#enqueue(smallkey, this.#urgent));
	}

	/** Harvests new layers, then each layer once a period, at its own time. */
	async start(): Promise<void> {
		const startMs = this.states.nowMs();
		await this.#enqueueAll([...this.#options.allKeys()], "undescribed");
		this.#pollLater(startMs);
	}

	/** Queues layers after all others. Returns their number immediately. */
	refresh({ olderThanMs, maxLayers, isWanted }: Refresh): number {
		const time = this.states.nowMs();
		const { ends } = this.states;
		const timeOf = (smallkey: string) =>
			this.states.isBusy(smallkey) ? time : (ends.get(smallkey)?.at ?? 0);
		const isOlder = (smallkey: string) =>
			ends.get(smallkey)?.state === "failed" || timeOf(smallkey) <= time - (olderThanMs ?? -Infinity);
		const due = [...this.#options.allKeys()].filter((key) => isWanted(key) && isOlder(key));
		const smallkeys = due.sort((a, b) => timeOf(a) - timeOf(b)).slice(0, maxLayers ?? due.length);
		const idle = smallkeys.filter((smallkey) => !this.states.waiting.has(smallkey));
		for (const smallkey of idle) this.states.waiting.add(smallkey);
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

	/** Null if the layer is gone or invalid; it is forgotten then. */
	async #read(smallkey: string) {
		const layer = await (await this.#options.store.served()).read(smallkey);
		const registration = parseStored(layer);
		if (layer && registration) return { layer, registration };
		this.states.forget(smallkey);
		return null;
	}

	/** Queues due layers every minute, or more often in a short period. */
	#pollLater(sinceMs: number) {
		if (this.#ending.signal.aborted) return;
		const { allKeys, everyMs, timers } = this.#options;
		const poll = async () => {
			const untilMs = this.states.nowMs();
			const due: string[] = [];
			await eachInSlices(allKeys(), (smallkey) => {
				const dueMs = this.states.ends.get(smallkey)?.nextTry ?? nextMoment(smallkey, sinceMs, everyMs);
				if (dueMs <= untilMs && !this.states.isBusy(smallkey)) due.push(smallkey);
			});
			await this.#enqueueAll(due);
			this.#pollLater(untilMs);
		};
		const intervalMs = Math.max(Math.min(60_000, everyMs / 100), 10);
		this.#pollTimer = timers.set(() => void poll(), intervalMs);
	}

	async #enqueueAll(smallkeys: readonly string[], layers?: "undescribed") {
		for (const smallkey of smallkeys) await this.#enqueue(smallkey, this.#ordinary, layers);
	}

	/** Never rejects. */
	async #enqueue(smallkey: string, lanes: ReturnType<typeof createLanes>, layers?: "undescribed") {
		const { signal } = this.#ending;
		if (signal.aborted) return;
		try {
			const stored = await this.#read(smallkey);
			if (!stored || signal.aborted) return;
			const { layer, registration } = stored;
			if (layers === "undescribed" && isDescribed(registration, descriptionOf(layer))) return;
			this.states.waiting.add(smallkey);
			void lanes.run(new URL(registration.en.service_url).host, () => this.#visit(smallkey));
		} catch (error) {
			this.states.waiting.delete(smallkey);
			this.#fail([{ smallkey }], error);
		}
	}

	async #visit(smallkey: string) {
		const { lookAt, checked, quietMs } = this.#options;
		const { signal } = this.#ending;
		for (let pauses = 0; pauses < maxPauses && performance.now() < this.#writtenMs + quietMs; pauses += 1)
			await sleep(quietMs, undefined, { signal }).catch(() => undefined);
		// It may have been harvested in the other lane.
		if (signal.aborted || !this.states.waiting.delete(smallkey)) return;
		this.states.running.add(smallkey);
		try {
			const stored = await this.#read(smallkey);
			if (!stored) return;
			const { layer, registration } = stored;
			const look = await lookAt(registration, descriptionOf(layer), signal);
			const result = resultOf(look.checked);
			const findings = findingLines(registration, look.checked);
			const state = result?.state ?? null;
			this.states.lastChecks.set(smallkey, { state, at: this.states.nowMs(), findings });
			checked(smallkey, result);
			if (harvestedLangs(registration).length === 0) this.states.running.delete(smallkey);
			else this.#groups.add(smallkey, { smallkey, registration, harvested: look.harvested });
		} catch (error) {
			this.#fail([{ smallkey }], error);
		}
	}

	async #commit(results: readonly HarvestResult[]) {
		try {
			this.#finish(await commitGroup(results, this.#options));
		} catch (error) {
			if (results.length === 1 || error instanceof StoreBusy) return this.#fail(results, error);
			// The store may refuse one description, and with it the whole group.
			for (const result of results) await this.#commit([result]);
		}
	}

	#fail(layers: readonly { smallkey: string }[], error: unknown) {
		if (this.#ending.signal.aborted) return;
		if (String(error) !== this.#lastError) this.#options.log.error(error);
		this.#lastError = String(error);
		const failure = textOf("harvest-failed");
		const findings = [{ en: textIn("en", failure), fr: textIn("fr", failure) }];
		for (const { smallkey } of layers) this.states.end(smallkey, { state: "failed", findings, retry: true });
	}

	#finish(outcomes: ReadonlyMap<HarvestResult, Outcome>) {
		const { count, log } = this.#options;
		const line: HarvestLine = { harvested: outcomes.size };
		for (const [{ smallkey, registration, harvested }, outcome] of outcomes) {
			count?.(outcome);
			line[outcome] = (line[outcome] ?? 0) + 1;
			const retry = harvested.findings.some(({ state }) => state === "down");
			const findings = findingLines(registration, harvested.findings);
			this.states.end(smallkey, { state: outcome === "failed" ? "failed" : "done", findings, retry });
			if (outcome === "dropped") this.states.ends.delete(smallkey);
		}
		log.info(line);
		this.#lastError = "";
	}
}
