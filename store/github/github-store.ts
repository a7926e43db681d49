import { usesOf } from "../decide.ts";
import { readerOf } from "../reader.ts";
import type { Reader, Store } from "../store.ts";
import { UsedRequests } from "../used-requests.ts";
import { makeBatch } from "./batch.ts";
import { Heads, readHead } from "./branch.ts";
import { type Connection, connect } from "./client.ts";
import { authorizeWith, type Credentials } from "./credentials.ts";
import { Queue } from "./queue.ts";

/**
 * Longest times of a request, of a change's wait for the changes before it, and of a batch. Proxies wait a minute at most
 * for an answer, which takes the sum of the last two.
 */
const defaultLimits = { requestMs: 4_000, waitMs: 25_000, batchMs: 30_000 };

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
 * for all of them.
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
	const used = new UsedRequests(() => now().getTime());
	const context = { ...connection, branch, heads: new Heads(now), used };
	const queue = new Queue({ ...limits, now, maxBatch }, (batch) =>
		makeBatch({ ...context, github: githubUntil(batch.until) }, batch),
	);

	async function readNow(): Promise<Reader> {
		return readerOf((await readHead(githubUntil(now().getTime() + limits.batchMs), branch)).files);
	}

	return {
		publishesAtOnce: false,
		read: async (smallkey) => (await readNow()).read(smallkey),
		ids: async (smallkey) => (await readNow()).ids(smallkey),
		spellings: async (smallkey) => (await readNow()).spellings(smallkey),
		change: async (decide, meta) => {
			const outcome = await queue.add({ decide, meta });
			for (const use of usesOf(meta, outcome)) used.note(use);
			return outcome;
		},
		remember: async (use) => used.note(use),
	};
}
