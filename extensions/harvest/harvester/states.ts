import type { SickState } from "../../../site/data/health.ts";
import type { FindingLine } from "../finding.ts";
import { nextMoment } from "./schedule.ts";

/** Times are in milliseconds since 1970. */
interface HarvestEnd {
	/** `failed`: no service answered, and the description stays. */
	state: "done" | "failed";
	at: number;
	findings: FindingLine[];
	nextTry: number;
	failures: number;
}

interface LastCheck {
	/** null: healthy. */
	state: SickState | null;
	at: number;
	findings: FindingLine[];
}

/** Each delay is twice the one before. */
const firstRetryMs = 60_000;

export class LayerStates {
	/** Queued, or about to be. */
	readonly waiting = new Set<string>();
	/** Not committed yet. */
	readonly running = new Set<string>();
	readonly ends = new Map<string, HarvestEnd>();
	readonly lastChecks = new Map<string, LastCheck>();

	constructor(
		readonly nowMs: () => number,
		/** Each layer is due once in this time. */
		readonly everyMs: number,
	) {}

	isBusy(smallkey: string): boolean {
		return this.waiting.has(smallkey) || this.running.has(smallkey);
	}

	/** `waiting`: queued, running, or not committed yet. Null if the layer was not harvested since the start. */
	stateOf(smallkey: string): { state: "waiting" } | HarvestEnd | null {
		return this.isBusy(smallkey) ? { state: "waiting" } : (this.ends.get(smallkey) ?? null);
	}

	forget(smallkey: string): void {
		for (const layers of [this.waiting, this.running, this.ends, this.lastChecks]) layers.delete(smallkey);
	}

	/** With `retry` it is tried again, after an increasing delay. */
	end(
		smallkey: string,
		{ retry, state, findings }: Pick<HarvestEnd, "state" | "findings"> & { retry: boolean },
	): void {
		this.running.delete(smallkey);
		const at = this.nowMs();
		const failures = retry ? (this.ends.get(smallkey)?.failures ?? 0) + 1 : 0;
		const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), this.everyMs);
		const nextTry = retry ? at + retryMs : nextMoment(smallkey, at, this.everyMs);
		this.ends.set(smallkey, { state, at, findings, failures, nextTry });
	}
}
