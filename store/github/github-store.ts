import { type Change, type Outcome, usesOf } from "../decide.ts";
import { groupOf } from "../naming.ts";
import { readerOf } from "../reader.ts";
import type { Commit, Refusal, Store } from "../store.ts";
import { UsedRequests } from "../used-requests.ts";
import { type Batch, makeBatch } from "./batch.ts";
import { Heads, readHead } from "./branch.ts";
import { type Connection, connect, GithubBusy } from "./client.ts";
import { authorizeWith, type Credentials } from "./credentials.ts";

/** `waitMs`: for earlier batches. An answer takes `waitMs` and `batchMs` at most; proxies wait a minute. */
const defaultLimits = { requestMs: 4_000, waitMs: 25_000, batchMs: 30_000 };

export interface GithubOptions
	extends Pick<Connection, "repository" | "now">,
		Partial<Pick<Connection, "apiUrl" | "fetch" | "sleep">> {
	auth: Credentials;
	branch?: string;
	/** An engine may allow few requests. */
	maxBatch?: number;
	limits?: Partial<typeof defaultLimits>;
}

/**
 * Waiting changes of a sender become one commit.
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
	const connectUntil = connect(connection, authorizeWith(options.auth, now, permissions));
	const used = new UsedRequests(() => now().getTime());
	const context = { ...connection, branch, heads: new Heads(now), used };
	const queue = new Queue({ ...limits, now, maxBatch }, (batch) =>
		makeBatch({ ...context, github: connectUntil(batch.deadlineMs) }, batch),
	);

	return {
		served: async () => {
			const head = await readHead(connectUntil(now().getTime() + limits.batchMs), branch);
			return readerOf(head.files);
		},
		change: async (decide, meta) => {
			const outcome = await queue.add({ decide, meta });
			for (const use of usesOf(meta, outcome)) used.note(use);
			return outcome;
		},
		remember: async (use) => used.note(use),
	};
}

interface QueuedChange extends Change {
	outcome: Outcome;
}

/**
 * The caller of its first change runs a batch, since on Workers work belongs to one request. That may be
 * cancelled, and its batch then never ends; after `batchMs` another caller runs the next.
 */
class Queue {
	#waiting: QueuedChange[] = [];
	#running = { deadlineMs: Number.NEGATIVE_INFINITY, end: Promise.resolve() };

	/** @param run returns outcomes in order */
	constructor(
		readonly limits: { now: () => Date; maxBatch: number; waitMs: number; batchMs: number },
		readonly run: (batch: Batch) => Promise<Outcome[]>,
	) {}

	/** @throws {StoreBusy} if no batch takes the change within `waitMs` */
	async add(change: Change): Promise<Commit | Refusal> {
		const { now, waitMs } = this.limits;
		const queued: QueuedChange = { ...change, outcome: null };
		const endMs = now().getTime() + waitMs;
		this.#waiting.push(queued);
		while (!queued.outcome) {
			const { deadlineMs, end } = this.#running;
			const nowMs = now().getTime();
			const leftMs = (this.#waiting.includes(queued) ? Math.min(endMs, deadlineMs) : deadlineMs) - nowMs;
			if (deadlineMs < nowMs) await this.#runBatch(queued);
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
		const deadlineMs = now().getTime() + batchMs;
		const changes = [first];
		this.#remove(changes);
		const fill = () => {
			const nameOf = ({ meta }: Change) => `${groupOf(meta)} ${meta.author}`;
			const group = this.#waiting.filter((change) => nameOf(change) === nameOf(first));
			changes.push(...group.slice(0, maxBatch - changes.length));
			this.#remove(changes);
		};
		const end = this.run({ changes, deadlineMs, fill })
			.catch((error) => changes.map((): Outcome => ({ error })))
			.then((outcomes) => {
				for (const [index, change] of changes.entries()) change.outcome ??= outcomes[index] ?? null;
				if (this.#running.deadlineMs === deadlineMs) this.#running.deadlineMs = Number.NEGATIVE_INFINITY;
			});
		this.#running = { deadlineMs, end };
		await end;
	}
}

function within(task: Promise<void>, ms: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		void task.then(() => {
			clearTimeout(timer);
			resolve();
		});
	});
}
