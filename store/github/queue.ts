/** Something that waits to be done together with others, and its outcome. */
export class Entry<Job, Outcome> {
	readonly job: Job;
	/** Whether it is to be done without others: what it was done with failed. */
	isAlone = false;
	/** Until when it is being done, at most, in milliseconds; 0 where it is not. */
	takenUntil = 0;
	#result: { outcome: Outcome } | { error: unknown } | null = null;
	#wake: (() => void) | null = null;

	constructor(job: Job) {
		this.job = job;
	}

	get isSettled(): boolean {
		return this.#result !== null;
	}

	settle(outcome: Outcome): void {
		this.#result ??= { outcome };
		this.wake();
	}

	fail(error: unknown): void {
		this.#result ??= { error };
		this.wake();
	}

	/** Ends `sleep`. */
	wake(): void {
		this.#wake?.();
	}

	/** Waits to be woken, for so long at most. */
	async sleep(ms: number): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		await new Promise<void>((resolve) => {
			this.#wake = resolve;
			timer = setTimeout(resolve, ms);
		});
		clearTimeout(timer);
		this.#wake = null;
	}

	/** @throws what `fail` was given */
	get outcome(): Outcome {
		if (!this.#result) throw new Error("a change that is waited for has no outcome yet");
		if ("error" in this.#result) throw this.#result.error;
		return this.#result.outcome;
	}
}

/** What is done together. */
export interface Batch<Job, Outcome> {
	/** Those of the batch, the first one being whose turn it is. */
	entries: Entry<Job, Outcome>[];
	/** Lets those in that wait now and fit to the first one. */
	fill(): void;
	/** Puts some back at the head of the queue. */
	giveBack(entries: readonly Entry<Job, Outcome>[]): void;
}

/** How a queue is worked off. */
export interface QueueOptions<Job, Outcome> {
	now: () => Date;
	/** Longest that a batch may take: an engine may drop a request whose client has gone, and all that was to follow. */
	maxBatchMs: number;
	maxEntries: number;
	/** Whether a job may be done together with others. */
	mayJoin: (job: Job) => boolean;
	/** Settles each entry of the batch, or gives it back. What it throws fails those that are left. */
	run: (batch: Batch<Job, Outcome>) => Promise<void>;
}

/**
 * Jobs that come while others are done wait, and are then done together, in the order in which they came. Each batch is
 * done by the caller whose job is its first: an engine such as Workers lets no other request do its work.
 */
export class BatchQueue<Job, Outcome> {
	readonly #options: QueueOptions<Job, Outcome>;
	readonly #waiting: Entry<Job, Outcome>[] = [];
	#running: { until: number } | null = null;

	constructor(options: QueueOptions<Job, Outcome>) {
		this.#options = options;
	}

	/** @returns the job's outcome, or null where its turn did not come within `maxWaitMs` */
	async submit(job: Job, maxWaitMs: number): Promise<{ outcome: Outcome } | null> {
		const entry = new Entry<Job, Outcome>(job);
		const giveUpAt = this.#now() + maxWaitMs;
		this.#waiting.push(entry);
		while (!entry.isSettled) {
			if (this.#isFree()) {
				await this.#lead(entry);
				continue;
			}
			const leftMs = Math.max(giveUpAt, entry.takenUntil) - this.#now();
			if (leftMs < 0) {
				this.#remove(entry);
				return null;
			}
			await entry.sleep(leftMs + 1);
		}
		return { outcome: entry.outcome };
	}

	#now(): number {
		return this.#options.now().getTime();
	}

	#isFree(): boolean {
		return this.#running === null || this.#running.until < this.#now();
	}

	#remove(entry: Entry<Job, Outcome>): void {
		const index = this.#waiting.indexOf(entry);
		if (index >= 0) this.#waiting.splice(index, 1);
	}

	async #lead(first: Entry<Job, Outcome>): Promise<void> {
		const running = { until: this.#now() + this.#options.maxBatchMs };
		this.#running = running;
		this.#remove(first);
		first.takenUntil = running.until;
		const batch: Batch<Job, Outcome> = {
			entries: [first],
			fill: () => this.#fill(batch),
			giveBack: (entries) => this.#giveBack(batch, entries),
		};
		try {
			await this.#options.run(batch);
			for (const entry of batch.entries) entry.fail(new Error("a change was forgotten"));
		} catch (error) {
			for (const entry of batch.entries) entry.fail(error);
		}
		if (this.#running !== running) return;
		this.#running = null;
		this.#waiting[0]?.wake();
	}

	#fill({ entries }: Batch<Job, Outcome>): void {
		const { maxEntries, mayJoin } = this.#options;
		const fits = (entry: Entry<Job, Outcome>) => !entry.isAlone && mayJoin(entry.job);
		if (!entries.every(fits)) return;
		for (const entry of this.#waiting.filter(fits).slice(0, maxEntries - entries.length)) {
			this.#remove(entry);
			entry.takenUntil = entries[0]?.takenUntil ?? 0;
			entries.push(entry);
		}
	}

	#giveBack(batch: Batch<Job, Outcome>, back: readonly Entry<Job, Outcome>[]): void {
		batch.entries = batch.entries.filter((entry) => !back.includes(entry));
		for (const entry of back) entry.takenUntil = 0;
		this.#waiting.unshift(...back);
		for (const entry of back) entry.wake();
	}
}
