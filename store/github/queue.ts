import { groupOf } from "../naming.ts";
import type { Commit, Refusal } from "../store.ts";
import type { Batch, Change, Outcome } from "./batch.ts";
import { GithubBusy } from "./client.ts";

interface QueuedChange extends Change {
	outcome: Outcome;
}

interface QueueLimits {
	now: () => Date;
	maxBatch: number;
	waitMs: number;
	batchMs: number;
}

/**
 * Makes changes in batches. Each batch is run by the caller of its first change, since work belongs to one request on
 * Workers. These may cancel that request, and its batch then never ends; after `batchMs` another caller runs the next one.
 */
export class Queue {
	#waiting: QueuedChange[] = [];
	#running = { until: Number.NEGATIVE_INFINITY, end: Promise.resolve() };

	/** @param run returns outcomes in the order of the changes; those without an outcome wait again */
	constructor(
		readonly limits: QueueLimits,
		readonly run: (batch: Batch) => Promise<Outcome[]>,
	) {}

	/** @throws {StoreBusy} if no batch takes the change within `waitMs` */
	async add(change: Change): Promise<Commit | Refusal> {
		const { now, waitMs } = this.limits;
		const queued: QueuedChange = { ...change, outcome: null };
		const endMs = now().getTime() + waitMs;
		this.#waiting.push(queued);
		while (!queued.outcome) {
			const { until, end } = this.#running;
			const nowMs = now().getTime();
			const leftMs = (this.#waiting.includes(queued) ? Math.min(endMs, until) : until) - nowMs;
			if (until < nowMs) await this.#runBatch(queued);
			else if (leftMs >= 0) await within(end, leftMs + 1);
			else queued.outcome = { error: new GithubBusy(waitMs / 1000, "too many changes wait for GitHub") };
		}
		this.#remove([queued]);
		if ("error" in queued.outcome) throw queued.outcome.error;
		return queued.outcome;
	}

	#remove(changes: readonly QueuedChange[]): void {
		this.#waiting = this.#waiting.filter((waiting) => !changes.includes(waiting));
	}

	async #runBatch(first: QueuedChange): Promise<void> {
		const { now, maxBatch, batchMs } = this.limits;
		const until = now().getTime() + batchMs;
		const changes = [first];
		this.#remove(changes);
		const fill = () => {
			const group = this.#waiting.filter(({ meta }) => groupOf(meta) === groupOf(first.meta));
			changes.push(...group.slice(0, maxBatch - changes.length));
			this.#remove(changes);
		};
		const end = this.run({ changes, until, fill })
			.catch((error) => changes.map((): Outcome => ({ error })))
			.then((outcomes) => {
				for (const [index, change] of changes.entries()) change.outcome ??= outcomes[index] ?? null;
				this.#waiting.unshift(...changes.filter(({ outcome }) => !outcome));
				if (this.#running.until === until) this.#running.until = Number.NEGATIVE_INFINITY;
			});
		this.#running = { until, end };
		await end;
	}
}

async function within(task: Promise<void>, ms: number): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const timeout = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms);
	});
	await Promise.race([task, timeout]);
	clearTimeout(timer);
}
