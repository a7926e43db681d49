import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { Refresh } from "../../../api/context.ts";
import { parseStored } from "../../../api/register.ts";
import { eachInSlices } from "../../../publish/file-writer.ts";
import { isDescribed } from "../../../registry/description.ts";
import type { CheckResult, SickState } from "../../../registry/health.ts";
import { harvestedLangs } from "../../../registry/registration.ts";
import { textIn, textOf } from "../../../registry/texts.ts";
import { type Log, type Store, StoreBusy } from "../../../store/store.ts";
import { type FindingLine, findingLines, resultOf } from "../finding.ts";
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
export function createHarvester(options: HarvesterOptions) {
	const { store, lookAt, checked, log, timers, now, allKeys, everyMs, quietMs = 0 } = options;
	const ending = new AbortController();
	const { signal } = ending;
	const [urgent, ordinary] = [createLanes(maxHosts), createLanes(maxHosts)];
	const limits = { timers, ms: groupMs, max: maxGroup };
	const groups = createGroups<HarvestResult>(limits, (group) => commit([...group.values()]));
	/** Queued, or about to be. */
	const waiting = new Set<string>();
	/** Not committed yet. */
	const running = new Set<string>();
	const ends = new Map<string, HarvestEnd>();
	const lastChecks = new Map<string, LastCheck>();
	let pollTimer: unknown;
	/** In milliseconds of `performance.now`. */
	let writtenMs = Number.NEGATIVE_INFINITY;
	/** A push may bring a hundred thousand layers, which are read one after the other. */
	const arrivals = pLimit(1);
	/** A process that cannot start has the same error for each layer and each retry, until one is harvested. */
	let lastError = "";

	const nowMs = () => now().getTime();
	const isBusy = (smallkey: string) => waiting.has(smallkey) || running.has(smallkey);

	function forget(smallkey: string): void {
		for (const layers of [waiting, running, ends, lastChecks]) layers.delete(smallkey);
	}

	/** Null if the layer is gone or its registration is invalid; it is forgotten then. */
	async function read(smallkey: string) {
		const layer = await store.read(smallkey);
		const registration = parseStored(layer);
		if (layer && registration) return { layer, registration };
		forget(smallkey);
		return null;
	}

	/** Looks for layers that have become due, every minute, or more often in a short period. */
	function pollLater(sinceMs: number): void {
		if (signal.aborted) return;
		const poll = async () => {
			const untilMs = nowMs();
			const due: string[] = [];
			await eachInSlices(allKeys(), (smallkey) => {
				const dueMs = ends.get(smallkey)?.nextTry ?? nextMoment(smallkey, sinceMs, everyMs);
				if (dueMs <= untilMs && !isBusy(smallkey)) due.push(smallkey);
			});
			await enqueueAll(due);
			pollLater(untilMs);
		};
		const intervalMs = Math.max(Math.min(60_000, everyMs / 100), 10);
		pollTimer = timers.set(() => void poll(), intervalMs);
	}

	/** @param isNew only layers that were never harvested */
	async function enqueueAll(smallkeys: readonly string[], isNew = false): Promise<void> {
		for (const smallkey of smallkeys) await enqueue(smallkey, ordinary, isNew);
	}

	/** Never rejects. */
	async function enqueue(smallkey: string, lanes: typeof urgent, isNew = false): Promise<void> {
		if (signal.aborted) return;
		try {
			const stored = await read(smallkey);
			if (!stored || signal.aborted) return;
			const { layer, registration } = stored;
			if (isNew && isDescribed(registration, descriptionOf(layer))) return;
			waiting.add(smallkey);
			void lanes.run(new URL(registration.en.service_url).host, () => visit(smallkey));
		} catch (error) {
			waiting.delete(smallkey);
			fail([{ smallkey }], error);
		}
	}

	async function visit(smallkey: string): Promise<void> {
		for (let pauses = 0; pauses < maxPauses && performance.now() < writtenMs + quietMs; pauses += 1)
			await sleep(quietMs, undefined, { signal }).catch(() => undefined);
		// It may have been harvested in the other lane.
		if (signal.aborted || !waiting.delete(smallkey)) return;
		running.add(smallkey);
		try {
			const stored = await read(smallkey);
			if (!stored) return;
			const { layer, registration } = stored;
			const look = await lookAt(registration, descriptionOf(layer), signal);
			const result = resultOf(look.checked);
			const findings = findingLines(registration, look.checked);
			lastChecks.set(smallkey, { state: result?.state ?? null, at: nowMs(), findings });
			checked(smallkey, result);
			if (harvestedLangs(registration).length === 0) running.delete(smallkey);
			else groups.add(smallkey, { smallkey, registration, harvested: look.harvested });
		} catch (error) {
			fail([{ smallkey }], error);
		}
	}

	async function commit(results: readonly HarvestResult[]): Promise<void> {
		try {
			finish(await commitGroup(results, store, now));
		} catch (error) {
			if (results.length === 1 || error instanceof StoreBusy) return fail(results, error);
			// The store may refuse one description, and with it the whole group.
			for (const result of results) await commit([result]);
		}
	}

	function fail(layers: readonly { smallkey: string }[], error: unknown): void {
		if (signal.aborted) return;
		if (String(error) !== lastError) log.error(error);
		lastError = String(error);
		const failure = textOf("harvest-failed");
		const findings = [{ en: textIn("en", failure), fr: textIn("fr", failure) }];
		for (const { smallkey } of layers) end(smallkey, "failed", findings, true);
	}

	function finish(outcomes: ReadonlyMap<HarvestResult, Outcome>): void {
		const line: HarvestLine = { harvested: outcomes.size };
		for (const [{ smallkey, registration, harvested }, outcome] of outcomes) {
			options.count?.(outcome);
			line[outcome] = (line[outcome] ?? 0) + 1;
			const again = harvested.findings.some(({ state }) => state === "down");
			const findings = findingLines(registration, harvested.findings);
			end(smallkey, outcome === "failed" ? "failed" : "done", findings, again);
			if (outcome === "dropped") ends.delete(smallkey);
		}
		log.info(line);
		lastError = "";
	}

	/** @param again whether the harvest is retried, after an increasing delay */
	function end(smallkey: string, state: "done" | "failed", findings: FindingLine[], again: boolean): void {
		running.delete(smallkey);
		const at = nowMs();
		const failures = again ? (ends.get(smallkey)?.failures ?? 0) + 1 : 0;
		const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), everyMs);
		const nextTry = again ? at + retryMs : nextMoment(smallkey, at, everyMs);
		ends.set(smallkey, { state, at, findings, failures, nextTry });
	}

	return {
		waiting: () => waiting.size,

		/** `waiting`: queued, running, or not committed yet. Null if the layer was not harvested since the start. */
		stateOf: (smallkey: string): { state: "waiting" } | HarvestEnd | null =>
			isBusy(smallkey) ? { state: "waiting" } : (ends.get(smallkey) ?? null),

		/** Null if the layer was not checked since the start. */
		lastCheckOf: (smallkey: string): LastCheck | null => lastChecks.get(smallkey) ?? null,

		/** Queues a layer before all others. Returns immediately. */
		follow(smallkey: string): void {
			if (signal.aborted) return;
			writtenMs = performance.now();
			waiting.add(smallkey);
			ends.delete(smallkey);
			void arrivals(() => enqueue(smallkey, urgent));
		},

		/** Harvests the layers that were never harvested, then each layer once a period, spread over the period. */
		async start(): Promise<void> {
			const startMs = nowMs();
			await enqueueAll([...allKeys()], true);
			pollLater(startMs);
		},

		/** Queues layers after all others. Returns their number immediately. */
		refresh({ olderThanMs, maxLayers, isWanted }: Refresh): number {
			const time = nowMs();
			/** 0 if unknown. */
			const timeOf = (smallkey: string) => (isBusy(smallkey) ? time : (ends.get(smallkey)?.at ?? 0));
			const isOlder = (smallkey: string) =>
				ends.get(smallkey)?.state === "failed" || timeOf(smallkey) <= time - (olderThanMs ?? -Infinity);
			const due = [...allKeys()].filter((key) => isWanted(key) && isOlder(key));
			const smallkeys = due.sort((a, b) => timeOf(a) - timeOf(b)).slice(0, maxLayers ?? due.length);
			const idle = smallkeys.filter((smallkey) => !waiting.has(smallkey));
			for (const smallkey of idle) waiting.add(smallkey);
			void enqueueAll(idle);
			return smallkeys.length;
		},

		/** Aborts running requests, and commits what is harvested. */
		async close(): Promise<void> {
			ending.abort(new Error("the service ends"));
			timers.clear(pollTimer);
			await arrivals(() => undefined);
			await Promise.all([urgent.end(), ordinary.end()]);
			await groups.close();
		},
	};
}
