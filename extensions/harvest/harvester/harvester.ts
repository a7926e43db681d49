import { setTimeout as sleep } from "node:timers/promises";
import type { Refresh } from "../../../api/context.ts";
import { eachInSlices } from "../../../publish/file-writer.ts";
import { isDescribed } from "../../../registry/description.ts";
import { harvestedLangs } from "../../../registry/registration.ts";
import { textIn, textOf } from "../../../registry/texts.ts";
import type { Log, Store } from "../../../store/store.ts";
import { type FindingLine, findingLine } from "../finding.ts";
import type { HarvestLayer } from "../layer.ts";
import { createGroups, descriptionOf, type HarvestResult, type Outcome, registrationOf } from "./commit.ts";
import { createHostQueue, nextMoment, type Schedule } from "./schedule.ts";

/** The end of a layer's last harvest. Times are in milliseconds since 1970. */
interface HarvestEnd {
	/** `done`: at least one service answered. `failed`: no service answered, and the previous description stays. */
	state: "done" | "failed";
	at: number;
	findings: FindingLine[];
	nextTry: number;
	failures: number;
}

/** `waiting`: queued, running, or not committed yet. */
type HarvestState = { state: "waiting" } | Omit<HarvestEnd, "failures">;

/** A group of harvests, in one line of the log: the number of each outcome, and the findings in English, by smallkey. */
export type HarvestLine = { harvested: number; findings?: Record<string, string[]> } & Partial<
	Record<Outcome, number>
>;

interface HarvesterOptions extends Schedule {
	store: Store;
	harvest: HarvestLayer;
	/** Gets a line (`HarvestLine`) for each group, and each failure of the store. */
	log: Log;
	/** Called after each layer, harvested or not, before the next layer of the same host. */
	check?: (smallkey: string, signal: AbortSignal) => Promise<void>;
	/** After a start before then, each layer is harvested within a day: its description may follow earlier rules. */
	againUntilMs?: number;
	/** A harvest starts when no layer was written in this time, or after `maxPauseMs`: writes come first. */
	quietMs?: number;
	count?: ((outcome: Outcome) => void) | undefined;
}

const maxConcurrent = 4;

/** Longest wait for a pause of the writes. */
const maxPauseMs = 2_000;

const dayMs = 86_400_000;

/** Delay of the first retry in milliseconds; each further delay is twice the one before. */
const firstRetryMs = 60_000;

/** Creates the harvester of a running service. It is idle until its first call. */
export function createHarvester(options: HarvesterOptions) {
	const { store, log, timers, allKeys, everyMs, check, count, againUntilMs = 0, quietMs = 0 } = options;
	const ending = new AbortController();
	const { signal } = ending;
	const queue = createHostQueue(maxConcurrent, visit);
	const groups = createGroups({
		...options,
		done: finish,
		failed: (results, error) => fail(results, error),
	});
	/** Layers that are queued or about to be, and layers whose harvest runs or is not committed. */
	const [waiting, running] = [new Set<string>(), new Set<string>()];
	const ends = new Map<string, HarvestEnd>();
	let pollTimer: unknown;
	/** When a layer was last written, in milliseconds of `performance.now`. */
	let writtenMs = Number.NEGATIVE_INFINITY;
	/** Settle when all registered layers, and all other layers, are queued. Both queue layers one after the other. */
	let arrivals: Promise<void> = Promise.resolve();
	let others: Promise<void> = Promise.resolve();

	const time = () => options.now().getTime();

	/** Queues a layer before all others. Returns immediately. */
	function follow(smallkey: string): void {
		writtenMs = performance.now();
		waiting.add(smallkey);
		ends.delete(smallkey);
		// One after the other: a push may bring a hundred thousand layers.
		arrivals = arrivals.then(() => enqueue(smallkey, { isUrgent: true }));
	}

	/** Harvests the layers that were never harvested, then every layer once per period, at times spread over the period. */
	function start(): void {
		const startMs = time();
		others = others.then(async () => {
			for (const smallkey of [...allKeys()]) await enqueue(smallkey, { isNew: true });
			pollLater(startMs);
		});
	}

	/** Looks for layers that have become due since a time, every minute, or more often in a short period. */
	function pollLater(sinceMs: number): void {
		if (signal.aborted) return;
		const periodMs = sinceMs < againUntilMs ? Math.min(dayMs, everyMs) : everyMs;
		const poll = async () => {
			const untilMs = time();
			const due: string[] = [];
			await eachInSlices(allKeys(), (smallkey) => {
				const dueMs = ends.get(smallkey)?.nextTry ?? nextMoment(smallkey, sinceMs, periodMs);
				if (dueMs <= untilMs && !isBusy(smallkey)) due.push(smallkey);
			});
			for (const smallkey of due) await enqueue(smallkey);
			pollLater(untilMs);
		};
		const intervalMs = Math.max(Math.min(60_000, everyMs / 100), 10);
		pollTimer = timers.set(() => {
			others = others.then(poll);
		}, intervalMs);
	}

	/** Queues layers again, after all others. Returns the number of layers immediately. */
	function refresh({ olderThanMs, maxLayers, isWanted }: Refresh): number {
		/** The time of a layer's last harvest; 0 if it is not known, and now for a waiting layer. */
		const lastTry = (smallkey: string) => (isBusy(smallkey) ? time() : (ends.get(smallkey)?.at ?? 0));
		const isOlder = (smallkey: string) =>
			olderThanMs === null ||
			ends.get(smallkey)?.state === "failed" ||
			lastTry(smallkey) <= time() - olderThanMs;
		let smallkeys = [...allKeys()].filter((smallkey) => isWanted(smallkey) && isOlder(smallkey));
		if (maxLayers !== null) smallkeys = smallkeys.sort((a, b) => lastTry(a) - lastTry(b)).slice(0, maxLayers);
		const idle = smallkeys.filter((smallkey) => !waiting.has(smallkey));
		for (const smallkey of idle) waiting.add(smallkey);
		others = others.then(async () => {
			for (const smallkey of idle) await enqueue(smallkey);
		});
		return smallkeys.length;
	}

	function isBusy(smallkey: string): boolean {
		return waiting.has(smallkey) || running.has(smallkey);
	}

	/** The state of a layer's harvest; null if it was not harvested since the start. */
	function stateOf(smallkey: string): HarvestState | null {
		if (isBusy(smallkey)) return { state: "waiting" };
		const { failures: _, ...end } = ends.get(smallkey) ?? {};
		return "state" in end ? (end as HarvestState) : null;
	}

	/** Queues a layer; with `isNew`, only if it was never harvested. Never rejects. */
	async function enqueue(smallkey: string, { isUrgent = false, isNew = false } = {}): Promise<void> {
		if (signal.aborted) return;
		try {
			const layer = await store.read(smallkey);
			const registration = layer && registrationOf(layer);
			if (!registration) return forget(smallkey);
			if (isNew && isDescribed(registration, descriptionOf(layer))) return;
			if (signal.aborted) return;
			waiting.add(smallkey);
			// If the other language has another host, the queue does not limit requests to that host.
			queue.add(smallkey, new URL(registration.en.service_url).host, isUrgent);
		} catch (error) {
			waiting.delete(smallkey);
			fail([{ smallkey }], error);
		}
	}

	function forget(smallkey: string): void {
		waiting.delete(smallkey);
		ends.delete(smallkey);
	}

	async function pauseForWrites(): Promise<void> {
		const maxMs = performance.now() + maxPauseMs;
		const restMs = () => Math.min(writtenMs + quietMs, maxMs) - performance.now();
		while (restMs() > 0 && !signal.aborted)
			await sleep(restMs(), undefined, { signal }).catch(() => undefined);
	}

	async function visit(smallkey: string): Promise<void> {
		await pauseForWrites();
		waiting.delete(smallkey);
		running.add(smallkey);
		try {
			const result = await harvestLayer(smallkey);
			if (signal.aborted) return;
			if (result) groups.add(result);
			else running.delete(smallkey);
		} catch (error) {
			fail([{ smallkey }], error);
		}
		if (!signal.aborted) await check?.(smallkey, signal);
	}

	async function harvestLayer(smallkey: string): Promise<HarvestResult | null> {
		const layer = await store.read(smallkey);
		const registration = layer && registrationOf(layer);
		if (!registration) ends.delete(smallkey);
		if (!registration || harvestedLangs(registration).length === 0) return null;
		const harvested = await options.harvest(registration, signal, descriptionOf(layer));
		return { smallkey, registration, harvested };
	}

	function fail(layers: readonly { smallkey: string }[], error: unknown): void {
		if (signal.aborted) return;
		log.error(error);
		const failure = textOf("read-failed");
		const findings = [{ en: textIn("en", failure), fr: textIn("fr", failure) }];
		for (const { smallkey } of layers) end(smallkey, "failed", findings, true);
	}

	function finish(outcomes: ReadonlyMap<HarvestResult, Outcome>): void {
		const line: HarvestLine = { harvested: 0 };
		for (const [{ smallkey, registration, harvested }, outcome] of outcomes) {
			const findings = harvested.findings.map((finding) => findingLine(registration, finding));
			count?.(outcome);
			// A service that stays down is logged once, not at every retry.
			if (outcome !== "failed" || !ends.get(smallkey)?.failures) {
				line.harvested += 1;
				line[outcome] = (line[outcome] ?? 0) + 1;
				const texts = findings.map(({ en }) => en);
				if (texts.length > 0) line.findings = { ...line.findings, [smallkey]: texts };
			}
			const again = harvested.findings.some(({ state }) => state === "down");
			end(smallkey, outcome === "failed" ? "failed" : "done", findings, again);
			if (outcome === "dropped") ends.delete(smallkey);
		}
		if (line.harvested > 0) log.info(line);
	}

	/** Records the end of a harvest. @param again whether the harvest is retried, after an increasing delay */
	function end(smallkey: string, state: "done" | "failed", findings: FindingLine[], again: boolean): void {
		running.delete(smallkey);
		const at = time();
		const failures = again ? (ends.get(smallkey)?.failures ?? 0) + 1 : 0;
		const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), everyMs);
		const nextTry = again ? at + retryMs : nextMoment(smallkey, at, everyMs);
		ends.set(smallkey, { state, at, findings, failures, nextTry });
	}

	return {
		follow,
		start,
		refresh,
		stateOf,
		waiting: () => queue.size,
		/** Aborts running requests, and commits what is harvested. */
		async close(): Promise<void> {
			ending.abort(new Error("the service ends"));
			timers.clear(pollTimer);
			await Promise.all([arrivals, others, queue.close()]);
			await groups.close();
		},
	};
}
