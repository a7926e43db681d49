/** A job that waits to be run in a batch, and its outcome. */
class QueuedJob<Job, Outcome> {
	/** When the batch that runs the job ends at the latest, in milliseconds since 1970; 0 if no batch runs it. */
	takenUntil = 0;
	/** Returns the outcome of a settled job, or throws its error; null while the job has no outcome. */
	outcome: (() => Outcome) | null = null;
	/** Ends `sleep`. */
	wake: () => void = () => undefined;

	constructor(readonly job: Job) {}

	/** Ends the job, unless it has ended. @param outcome returns the outcome, or throws the error with which the job fails */
	settle(outcome: () => Outcome): void {
		this.outcome ??= outcome;
		this.wake();
	}

	async sleep(ms: number): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		await new Promise<void>((resolve) => {
			this.wake = resolve;
			timer = setTimeout(resolve, ms);
		});
		clearTimeout(timer);
	}
}

export interface Batch<Job, Outcome> {
	/** The first job is the one of the caller that runs the batch. */
	jobs: QueuedJob<Job, Outcome>[];
	/** When the batch must have ended, in milliseconds since 1970. */
	until: number;
	/** Adds the jobs that wait now and may join the batch. */
	fill(): void;
}

/**
 * Runs jobs in batches. Jobs that arrive while a batch runs wait, and are then run together, in the order of their
 * arrival. Each batch is run by the caller of its first job: on an engine such as Workers, work belongs to one request.
 */
export class BatchQueue<Job, Outcome> {
	#waiting: QueuedJob<Job, Outcome>[] = [];
	#running: Batch<Job, Outcome> | null = null;

	constructor(
		readonly options: {
			now: () => Date;
			/**
			 * Longest time of a batch; after it, another caller runs the next batch. An engine may cancel a request whose
			 * client has disconnected, and the batch that this request runs never ends.
			 */
			maxBatchMs: number;
			maxJobs: number;
			mayJoin: (job: Job) => boolean;
			/** Settles the jobs of the batch. Jobs that it does not settle wait again, or fail with its error. */
			run: (batch: Batch<Job, Outcome>) => Promise<void>;
		},
	) {}

	/** @returns the job's outcome, or null if no batch took it within `maxWaitMs` */
	async submit(job: Job, maxWaitMs: number): Promise<{ outcome: Outcome } | null> {
		const queued = new QueuedJob<Job, Outcome>(job);
		const giveUpAt = this.#now() + maxWaitMs;
		this.#waiting.push(queued);
		while (!queued.outcome) {
			if (this.#running === null || this.#running.until < this.#now()) {
				await this.#lead(queued);
				continue;
			}
			const leftMs = Math.max(giveUpAt, queued.takenUntil) - this.#now();
			if (leftMs < 0) {
				this.#waiting = this.#waiting.filter((one) => one !== queued);
				return null;
			}
			await queued.sleep(leftMs + 1);
		}
		return { outcome: queued.outcome() };
	}

	#now(): number {
		return this.options.now().getTime();
	}

	async #lead(first: QueuedJob<Job, Outcome>): Promise<void> {
		const until = this.#now() + this.options.maxBatchMs;
		const batch: Batch<Job, Outcome> = { jobs: [], until, fill: () => this.#fill(batch) };
		this.#running = batch;
		this.#take(batch, [first]);
		await this.options.run(batch).catch((error: unknown) => {
			const fail = () => {
				throw error;
			};
			for (const queued of batch.jobs) queued.settle(fail);
		});
		const left = batch.jobs.filter((queued) => !queued.outcome);
		this.#waiting.unshift(...left);
		for (const queued of left) {
			queued.takenUntil = 0;
			queued.wake();
		}
		if (this.#running !== batch) return;
		this.#running = null;
		this.#waiting[0]?.wake();
	}

	#fill(batch: Batch<Job, Outcome>): void {
		const { maxJobs, mayJoin } = this.options;
		const fits = ({ job }: QueuedJob<Job, Outcome>) => mayJoin(job);
		if (batch.jobs.every(fits))
			this.#take(batch, this.#waiting.filter(fits).slice(0, maxJobs - batch.jobs.length));
	}

	#take(batch: Batch<Job, Outcome>, jobs: QueuedJob<Job, Outcome>[]): void {
		this.#waiting = this.#waiting.filter((queued) => !jobs.includes(queued));
		for (const queued of jobs) queued.takenUntil = batch.until;
		batch.jobs.push(...jobs);
	}
}
