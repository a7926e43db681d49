/** Returns the outcome of a job that fails with an error. */
export function failing(error: unknown): () => never {
	return () => {
		throw error;
	};
}

export interface Batch<Job> {
	jobs: Job[];
	/** When the batch must have ended, in milliseconds since 1970. */
	until: number;
	/** Adds the jobs that wait now and may join the batch. */
	fill(): void;
}

/**
 * Runs jobs in batches. Jobs that arrive while a batch runs wait, and are then run together, in the order of their
 * arrival. Each batch is run by the caller of its first job: on Workers, work belongs to one request.
 * @returns a function that submits a job; its result is null if no batch took the job within `maxWaitMs`
 */
export function batchQueue<Job, Outcome>(options: {
	now: () => Date;
	/** After it, another caller runs the next batch: Workers may cancel a request, and the batch that it runs never ends. */
	maxBatchMs: number;
	maxWaitMs: number;
	maxJobs: number;
	/** Whether a job may be in one batch with the first one. */
	mayJoin: (job: Job, first: Job) => boolean;
	/** Returns the outcomes of the batch's jobs, in their order. Jobs without an outcome wait again. */
	run: (batch: Batch<Job>) => Promise<(() => Outcome)[]>;
}): (job: Job) => Promise<Outcome | null> {
	type Queued = { job: Job; until: number; outcome: (() => Outcome) | null };
	const nowMs = () => options.now().getTime();
	let waiting: Queued[] = [];
	let running = { until: Number.NEGATIVE_INFINITY, end: Promise.resolve() };

	async function run(first: Queued, until: number): Promise<void> {
		const taken: Queued[] = [];
		const take = (joining: Queued[]) => {
			waiting = waiting.filter((queued) => !joining.includes(queued));
			for (const queued of joining) queued.until = Math.max(queued.until, until);
			taken.push(...joining);
			batch.jobs.push(...joining.map(({ job }) => job));
		};
		const fill = () => {
			const joining = waiting.filter(({ job }) => options.mayJoin(job, first.job));
			take(joining.slice(0, options.maxJobs - taken.length));
		};
		const batch: Batch<Job> = { jobs: [], until, fill };
		take([first]);
		const outcomes = await options.run(batch).catch((error) => taken.map(() => failing(error)));
		for (const [index, queued] of taken.entries()) queued.outcome ??= outcomes[index] ?? null;
		waiting.unshift(...taken.filter(({ outcome }) => !outcome));
		if (running.until === until) running.until = Number.NEGATIVE_INFINITY;
	}

	return async (job) => {
		const queued: Queued = { job, until: nowMs() + options.maxWaitMs, outcome: null };
		waiting.push(queued);
		while (!queued.outcome) {
			if (running.until < nowMs()) {
				const until = nowMs() + options.maxBatchMs;
				running = { until, end: Promise.resolve() };
				running.end = run(queued, until);
				await running.end;
			} else if (queued.until < nowMs()) {
				waiting = waiting.filter((other) => other !== queued);
				// A batch that takes too long does not give it back.
				queued.outcome = failing(null);
				return null;
			} else await within(running.end, Math.min(queued.until, running.until) - nowMs() + 1);
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
