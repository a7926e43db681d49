import { readerOf } from "../reader.ts";
import {
	type Commit,
	type Edits,
	groupOf,
	isRefusal,
	type Meta,
	type Reader,
	type Refusal,
	requestMemoryMs,
	type Store,
	StoreBusy,
	type UsedRequest,
	usesOf,
} from "../store.ts";
import { Heads, noFiles, readHead } from "./branch.ts";
import { authorizeWith, type Connection, type Credentials, connect, GithubBusy } from "./client.ts";
import { type Batch, type Change, makeTogether, type Outcome } from "./group.ts";

/**
 * Longest times of a request, of a change's wait for the changes before it, and of a batch. Proxies wait a minute at most
 * for an answer, which takes the sum of the last two.
 */
const defaultLimits = { requestMs: 4_000, waitMs: 25_000, batchMs: 20_000 };

export interface GithubOptions
	extends Pick<Connection, "repository" | "now">,
		Partial<Pick<Connection, "apiUrl" | "fetch" | "sleep">> {
	auth: Credentials;
	branch?: string;
	/** Changes for which the branch is moved once: an engine may allow few requests. */
	maxBatch?: number;
	limits?: Partial<typeof defaultLimits>;
}

/**
 * The layers in a repository on GitHub. Waiting changes become commits on top of each other, and the branch is moved once
 * for all of them. An empty repository is an empty catalogue.
 * @throws {Error} if an option cannot be used
 */
export function githubStore(options: GithubOptions): Store {
	const { now, branch = "main", maxBatch = 20 } = options;
	const limits = { ...defaultLimits, ...options.limits };
	const connection: Connection = {
		apiUrl: "https://api.github.com",
		fetch: (input, init) => fetch(input, init),
		sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
		requestTimeoutMs: limits.requestMs,
		...options,
	};
	const permissions = { contents: "write", pull_requests: "write" } as const;
	const githubUntil = connect(connection, authorizeWith(options.auth, now, permissions));
	const used = new UsedRequests(now);
	const context = { ...connection, branch, heads: new Heads(now), firstUse: used.find };
	const queue = new Queue({ ...limits, now, maxBatch }, (batch) =>
		makeChanges(batch, (part) => makeTogether({ ...context, github: githubUntil(part.until) }, part)),
	);

	async function change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		const outcome = await queue.add({ edits, meta, started: now() });
		usesOf(meta, isRefusal(outcome) ? outcome.status : outcome.commit).forEach(used.note);
		return outcome;
	}

	async function readNow(): Promise<Reader> {
		const head = await readHead(githubUntil(now().getTime() + limits.batchMs), branch);
		return readerOf(head?.files ?? noFiles);
	}

	return {
		published: false,
		read: async (smallkey) => (await readNow()).read(smallkey),
		ids: async (smallkey) => (await readNow()).ids(smallkey),
		keys: async (folder, like) => (await readNow()).keys(folder, like),
		change,
		remember: async (use) => used.note(use),
	};
}

/** GitHub's refusal of a batch does not say which change caused it, so each change is then made alone. */
async function makeChanges(batch: Batch, make: (part: Batch) => Promise<Outcome[]>): Promise<Outcome[]> {
	try {
		return await make(batch);
	} catch (error) {
		if (error instanceof StoreBusy || batch.changes.length === 1) throw error;
		const outcomes: Outcome[] = [];
		for (const change of batch.changes) {
			const alone = { ...batch, changes: [change], fill: () => undefined };
			outcomes.push(...(await make(alone).catch((failure: unknown) => [{ error: failure }])));
		}
		return outcomes;
	}
}

class UsedRequests {
	readonly #uses = new Map<string, UsedRequest>();

	constructor(readonly now: () => Date) {}

	find = (request: string | null) => this.#uses.get(request ?? "");

	note = (use: UsedRequest): boolean => {
		for (const [request, { time }] of this.#uses) {
			if (time + requestMemoryMs >= this.now().getTime()) break;
			this.#uses.delete(request);
		}
		const isNew = !this.#uses.has(use.request);
		if (isNew) this.#uses.set(use.request, use);
		return isNew;
	};
}

interface QueuedChange extends Change {
	/** The end of its wait, in milliseconds since 1970. */
	until: number;
	outcome: Outcome | null;
}

/**
 * Makes changes in batches, in the order of their arrival. Each batch is run by the caller of its first change, since work
 * belongs to one request on Workers. These may cancel that request, and its batch then never ends; after `batchMs` another
 * caller runs the next one.
 */
class Queue {
	#waiting: QueuedChange[] = [];
	#running = { until: Number.NEGATIVE_INFINITY, end: Promise.resolve() };

	/** @param run returns outcomes in the order of the changes; those without an outcome wait again */
	constructor(
		readonly limits: { now: () => Date; maxBatch: number; waitMs: number; batchMs: number },
		readonly run: (batch: Batch) => Promise<Outcome[]>,
	) {}

	/** @throws {StoreBusy} if no batch takes the change within `waitMs` */
	async add(change: Change): Promise<Commit | Refusal> {
		const { now, waitMs, batchMs } = this.limits;
		const nowMs = () => now().getTime();
		const queued: QueuedChange = { ...change, until: nowMs() + waitMs, outcome: null };
		this.#waiting.push(queued);
		while (!queued.outcome) {
			const running = this.#running;
			if (running.until < nowMs()) {
				const until = nowMs() + batchMs;
				this.#running = { until, end: this.#runBatch(queued, until) };
				await this.#running.end;
			} else if (queued.until < nowMs()) {
				queued.outcome = { error: new GithubBusy(waitMs / 1000, "too many changes wait for GitHub") };
			} else await within(running.end, Math.min(queued.until, running.until) - nowMs() + 1);
		}
		if ("error" in queued.outcome) throw queued.outcome.error;
		return queued.outcome;
	}

	async #runBatch(first: QueuedChange, until: number): Promise<void> {
		const changes: QueuedChange[] = [];
		const take = (joining: QueuedChange[]) => {
			this.#waiting = this.#waiting.filter((change) => !change.outcome && !joining.includes(change));
			for (const change of joining) change.until = Math.max(change.until, until);
			changes.push(...joining);
		};
		const fill = () => {
			const group = groupOf(first.meta);
			const joining = this.#waiting.filter(({ outcome, meta }) => !outcome && groupOf(meta) === group);
			take(joining.slice(0, this.limits.maxBatch - changes.length));
		};
		take([first]);
		const outcomes = await this.run({ changes, until, fill }).catch((error) =>
			changes.map(() => ({ error })),
		);
		for (const [index, change] of changes.entries()) change.outcome ??= outcomes[index] ?? null;
		this.#waiting.unshift(...changes.filter(({ outcome }) => !outcome));
		if (this.#running.until === until) this.#running.until = Number.NEGATIVE_INFINITY;
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
