import {
	authorMail,
	commitMessage,
	type Edit,
	type Meta,
	requestMemoryMs,
	StoreBusy,
	serviceAuthor,
	type UsedRequest,
} from "../store.ts";
import { type Github, GithubBusy, Refused } from "./client.ts";

/**
 * Remembers the signed requests that this process has answered. Those that made a commit are in the history too, where
 * other processes find them; the others are forgotten at its end.
 */
export function rememberRequests(now: () => Date) {
	/** In the order of their first use. */
	const uses = new Map<string, UsedRequest>();
	return {
		find: (request: string | null) => uses.get(request ?? ""),
		/** @returns whether the request is new */
		note(used: UsedRequest): boolean {
			for (const [request, { time }] of uses) {
				if (time + requestMemoryMs >= now().getTime()) break;
				uses.delete(request);
			}
			const isFirst = !uses.has(used.request);
			if (isFirst) uses.set(used.request, used);
			return isFirst;
		},
	};
}

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

/**
 * A tree is written in portions: with about 200 files or 2.5 MB at once, GitHub times out, and answers 502 or 422 "Sorry,
 * your request timed out … Consider building the tree incrementally".
 */
const maxPortionBytes = 1_000_000;
const maxPortionFiles = 100;

/** Writes a tree, in portions that build on each other: `base` with the edits. @returns its id */
export async function writeTree(github: Github, base: string, edits: readonly Edit[]): Promise<string> {
	const sizeOf = ({ text }: Edit) => Math.max(maxPortionBytes / maxPortionFiles, 2 * (text?.length ?? 0));
	let tree = base;
	let maxBytes = maxPortionBytes;
	for (let start = 0; start < edits.length; ) {
		const portion: Edit[] = [];
		let bytes = 0;
		for (const edit of edits.slice(start)) {
			bytes += sizeOf(edit);
			if (bytes > maxBytes && portion.length > 0) break;
			portion.push(edit);
		}
		const written = await writePortion(github, tree, portion);
		if (written === null) maxBytes /= 2;
		else [tree, start] = [written, start + portion.length];
	}
	return tree;
}

/** @returns null if the portion is too large, and could be smaller */
async function writePortion({ rest, repo }: Github, base: string, edits: Edit[]): Promise<string | null> {
	const tree = edits.map(({ path, text }) => {
		const blob = text === null ? { sha: null } : { content: text };
		return { path, mode: "100644", type: "blob", ...blob } as const;
	});
	const written = await rest.git.createTree({ ...repo, base_tree: base, tree }).catch((error: unknown) => {
		const reason = error instanceof GithubBusy ? error.message : String(error);
		if (edits.length > 1 && /: 50[24], |request timed out/i.test(reason)) return null;
		throw error;
	});
	return written?.data.sha ?? null;
}

/** A commit's message, its author and its committer; git keeps whole seconds. */
function authorship(meta: Meta, now: Date) {
	const personAt = (name: string, time: Date) => {
		return { name, email: authorMail(name), date: `${time.toISOString().slice(0, 19)}Z` };
	};
	const author = personAt(meta.author, new Date(meta.time));
	return { message: commitMessage(meta), author, committer: personAt(serviceAuthor, now) };
}

/** Makes a commit, on no branch yet. The same arguments give the same commit. @returns its id */
export async function commitTree(
	{ rest, repo }: Github,
	parent: string,
	tree: string,
	meta: Meta,
	now: Date,
): Promise<string> {
	const commit = { ...authorship(meta, now), tree, parents: [parent] };
	return (await rest.git.createCommit({ ...repo, ...commit })).data.sha;
}

/**
 * Moves a branch to a commit that follows its head, or makes it.
 * @param isNew whether the branch is made; one of this name that is left from earlier is replaced
 * @throws {Refused} if another writer has moved the branch in the meantime
 */
export async function moveBranch(github: Github, branch: string, sha: string, isNew: boolean): Promise<void> {
	const { rest, repo } = github;
	const ref = `heads/${branch}`;
	if (!isNew) return void (await rest.git.updateRef({ ...repo, ref, sha, force: false }));
	await rest.git.createRef({ ...repo, ref: `refs/${ref}`, sha }).catch((error: unknown) => {
		const words = error instanceof Refused ? error.words : "";
		if (/already exists/i.test(words)) return rest.git.updateRef({ ...repo, ref, sha, force: true });
		// GitHub's words if `a/b` is to be made beside a branch `a`, and if a rule of the repository forbids it.
		if (!/reference update failed/i.test(words)) throw error;
		// A branch `a` forbids a branch `a/b`.
		throw new GithubBusy(300, `GitHub does not make the branch ${branch}: ${words}`, "read-only");
	});
}

/** The refusal of a change that cannot be the first commit of a repository. */
export function emptyRepository(): StoreBusy {
	return new StoreBusy("read-only", 300, "the repository on GitHub has no commit yet: make one");
}

/**
 * Makes the first commit of an empty repository, by the contents API, which writes one file: the git data API refuses it.
 * @returns the commit's id
 */
export async function makeFirstCommit(
	{ rest, repo }: Github,
	branch: string,
	edits: readonly Edit[],
	meta: Meta,
	now: Date,
): Promise<string> {
	const [{ path, text } = { path: "", text: null }, ...others] = edits;
	if (text === null || others.length > 0) throw emptyRepository();
	const content = btoa(String.fromCharCode(...new TextEncoder().encode(text)));
	const file = { path, content, branch, ...authorship(meta, now) };
	return (await rest.repos.createOrUpdateFileContents({ ...repo, ...file })).data.commit.sha ?? "";
}
