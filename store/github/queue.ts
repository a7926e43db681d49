/** Returns the outcome of a job that fails with an error. */
export function failing(error: unknown): () => never {
	return () => {
		throw error;
	};
}

export interface Batch<Job> {
	/** The first job is the one of the caller that runs the batch. */
	jobs: Job[];
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
	maxWaitMs: number;
	maxJobs: number;
	/** Whether a job may be in one batch with the first one. */
	mayJoin: (job: Job, first: Job) => boolean;
	/** Returns the outcomes of the batch's jobs, in their order. Jobs without an outcome wait again. */
	run: (batch: Batch<Job>) => Promise<(() => Outcome)[]>;
}): (job: Job) => Promise<Outcome | null> {
	const { maxBatchMs, maxWaitMs, maxJobs, mayJoin } = options;
	const nowMs = () => options.now().getTime();
	/** A job, the time until which it waits, and a function that returns its outcome or throws its error. */
	type Queued = { job: Job; until: number; outcome: (() => Outcome) | null };
	let waiting: Queued[] = [];
	let running = { until: Number.NEGATIVE_INFINITY, end: Promise.resolve() };

	/** Runs a batch with a job, and with the jobs that `fill` adds. */
	async function run(first: Queued, until: number): Promise<void> {
		const batch: Batch<Job> = { jobs: [], until, fill };
		const taken: Queued[] = [];
		const take = (joining: Queued[]) => {
			waiting = waiting.filter((queued) => !joining.includes(queued));
			for (const queued of joining) queued.until = Math.max(queued.until, until);
			taken.push(...joining);
			batch.jobs.push(...joining.map(({ job }) => job));
		};
		function fill(): void {
			const joining = waiting.filter(({ job }) => mayJoin(job, first.job));
			take(joining.slice(0, maxJobs - taken.length));
		}
		take([first]);
		const outcomes = await options.run(batch).catch((error) => taken.map(() => failing(error)));
		for (const [index, queued] of taken.entries()) queued.outcome ??= outcomes[index] ?? null;
		waiting.unshift(...taken.filter(({ outcome }) => !outcome));
		if (running.until === until) running.until = Number.NEGATIVE_INFINITY;
	}

	return async (job) => {
		const queued: Queued = { job, until: nowMs() + maxWaitMs, outcome: null };
		waiting.push(queued);
		while (!queued.outcome) {
			if (running.until < nowMs()) {
				const until = nowMs() + maxBatchMs;
				running = { until, end: Promise.resolve() };
				running.end = run(queued, until);
				await running.end;
				continue;
			}
			if (queued.until < nowMs()) {
				waiting = waiting.filter((other) => other !== queued);
				// A batch that takes too long does not give it back.
				queued.outcome = failing(null);
				return null;
			}
			await within(running.end, Math.min(queued.until, running.until) - nowMs() + 1);
		}
		return queued.outcome();
	};
}

/** Resolves at the end of a task, or after some time. */
async function within(task: Promise<void>, ms: number): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const timeout = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms);
	});
	await Promise.race([task, timeout]);
	clearTimeout(timer);
}
