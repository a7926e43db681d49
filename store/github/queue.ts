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

/** Returns the outcome of a job that fails with an error. */
export function failing(error: unknown): () => never {
	return () => {
		throw error;
	};
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
 * @returns a function that submits a job; its result is null if no batch took the job within `maxWaitMs`
 */
export function batchQueue<Job, Outcome>(options: {
	now: () => Date;
	/**
	 * Longest time of a batch; after it, another caller runs the next batch. An engine may cancel a request whose client has
	 * disconnected, and the batch that this request runs never ends.
	 */
	maxBatchMs: number;
	maxJobs: number;
	/** Whether two jobs may be in one batch, and whether a job may be in a batch with others (`mayJoin(job, job)`). */
	mayJoin: (job: Job, first: Job) => boolean;
	/** Settles the jobs of the batch. Jobs that it does not settle wait again, or fail with its error. */
	run: (batch: Batch<Job, Outcome>) => Promise<void>;
}): (job: Job, maxWaitMs: number) => Promise<Outcome | null> {
	const { maxBatchMs, maxJobs, run } = options;
	const nowMs = () => options.now().getTime();
	let waiting: QueuedJob<Job, Outcome>[] = [];
	let running: Batch<Job, Outcome> | null = null;

	/** Runs a batch with a job, and with the jobs that `fill` adds. */
	async function lead(first: QueuedJob<Job, Outcome>): Promise<void> {
		const batch: Batch<Job, Outcome> = { jobs: [], until: nowMs() + maxBatchMs, fill: () => fill(batch) };
		running = batch;
		take(batch, [first]);
		await run(batch).catch((error: unknown) => {
			for (const queued of batch.jobs) queued.settle(failing(error));
		});
		const left = batch.jobs.filter((queued) => !queued.outcome);
		waiting.unshift(...left);
		for (const queued of left) {
			queued.takenUntil = 0;
			queued.wake();
		}
		if (running !== batch) return;
		running = null;
		waiting[0]?.wake();
	}

	function fill(batch: Batch<Job, Outcome>): void {
		const [first] = batch.jobs;
		if (!first) return;
		const mayJoin = ({ job }: QueuedJob<Job, Outcome>) => options.mayJoin(job, first.job);
		take(batch, waiting.filter(mayJoin).slice(0, maxJobs - batch.jobs.length));
	}

	function take(batch: Batch<Job, Outcome>, jobs: QueuedJob<Job, Outcome>[]): void {
		waiting = waiting.filter((queued) => !jobs.includes(queued));
		for (const queued of jobs) queued.takenUntil = batch.until;
		batch.jobs.push(...jobs);
	}

	return async (job, maxWaitMs) => {
		const queued = new QueuedJob<Job, Outcome>(job);
		const giveUpAt = nowMs() + maxWaitMs;
		waiting.push(queued);
		while (!queued.outcome) {
			if (running === null || running.until < nowMs()) {
				await lead(queued);
				continue;
			}
			const leftMs = Math.max(giveUpAt, queued.takenUntil) - nowMs();
			if (leftMs < 0) {
				waiting = waiting.filter((one) => one !== queued);
				return null;
			}
			await queued.sleep(leftMs + 1);
		}
		return queued.outcome();
	};
}
