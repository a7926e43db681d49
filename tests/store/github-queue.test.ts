import * as assert from "uvu/assert";
import { type Batch, batchQueue } from "../../store/github/queue.ts";
import { test } from "../helpers/suite.ts";
import { gate } from "../helpers/wait.ts";

/** A clock that stands unless a test moves it. */
function clock() {
	let time = 0;
	return {
		now: () => new Date(time),
		pass: (ms: number) => {
			time += ms;
		},
	};
}

/** Long enough for whatever a test waits for. */
const patientMs = 60_000;

type Run = (batch: Batch<string, string>) => Promise<void>;

/** A queue whose jobs with a `!` are done alone. */
function queueOf(run: Run, { now = clock().now } = {}) {
	return batchQueue<string, string>({
		now,
		maxBatchMs: 1_000,
		maxJobs: 20,
		mayJoin: (job) => !job.includes("!"),
		run,
	});
}

/** Settles each job by its own name, and keeps who was done together. */
function recorder(batches: string[][]): Run {
	return async (batch) => {
		// Jobs that came at the same time are there now.
		await new Promise((resolve) => setImmediate(resolve));
		batch.fill();
		batches.push(batch.jobs.map(({ job }) => job));
		for (const entry of batch.jobs) entry.settle(() => `${entry.job} done`);
	};
}

async function outcomes(queue: ReturnType<typeof queueOf>, jobs: string[]): Promise<string[]> {
	const done = await Promise.all(jobs.map((job) => queue(job, patientMs)));
	return done.map((one) => one ?? "no turn");
}

test("what has to be done alone is", async () => {
	const batches: string[][] = [];
	await outcomes(queueOf(recorder(batches)), ["a", "b!", "c", "d!", "e"]);
	assert.equal(batches, [["a", "c", "e"], ["b!"], ["d!"]]);
});

test("who has waited long enough leaves the queue, and is never done", async () => {
	const { now, pass } = clock();
	const seen: string[] = [];
	const [held, release] = gate();
	const queue = queueOf(
		async (batch) => {
			seen.push(...batch.jobs.map(({ job }) => job));
			await held;
			for (const entry of batch.jobs) entry.settle(() => "done");
		},
		{ now },
	);
	const first = queue("a", patientMs);
	const late = queue("b", 5);
	pass(6);
	assert.is(await late, null);
	release();
	assert.equal(await first, "done");
	assert.equal(await queue("c", patientMs), "done");
	assert.equal(seen, ["a", "c"]);
});

test("a failure is that of all jobs of a batch, and of no other", async () => {
	let runs = 0;
	const queue = queueOf(async (batch) => {
		runs += 1;
		await new Promise((resolve) => setImmediate(resolve));
		if (runs > 1) return recorder([])(batch);
		batch.fill();
		throw new Error("a fault of the test");
	});
	const failed = await Promise.allSettled(["a", "b"].map((job) => queue(job, patientMs)));
	assert.equal(
		failed.map(({ status }) => status),
		["rejected", "rejected"],
	);
	assert.equal(await queue("c", patientMs), "c done");
});

test("a batch whose caller is gone ends by itself, and those that waited in it have no turn", async () => {
	const { now, pass } = clock();
	let isGone = true;
	const queue = queueOf(
		async (batch) => {
			if (isGone) await new Promise(() => undefined);
			await recorder([])(batch);
		},
		{ now },
	);
	void queue("lost", patientMs);
	const waiting = queue("behind", 20);
	isGone = false;
	pass(1_001);
	assert.equal(await waiting, "behind done");
	assert.equal(await queue("next", patientMs), "next done");
});

test.run();
