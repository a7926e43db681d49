import { readerOf } from "../reader.ts";
import type { Log } from "../store.ts";
import {
	type Commit,
	type Edits,
	isRefusal,
	type Meta,
	type Reader,
	type Refusal,
	reviewBranch,
	type Store,
	StoreBusy,
} from "../store.ts";
import { authorizeWith, type Credentials } from "./auth.ts";
import { Heads, noFiles, readHead } from "./branch.ts";
import { type Connection, connect, GithubBusy } from "./client.ts";
import { type Batch, batchQueue, failing, rememberRequests } from "./commits.ts";
import { type Change, type ChangeContext, makeTogether, type Outcome } from "./group.ts";

/**
 * Longest times of a request, of a change's wait for the changes before it, and of a batch. A publisher gets an answer
 * within the sum of the last two, since proxies wait a minute at most.
 */
const defaultLimits = { requestMs: 4_000, waitMs: 25_000, batchMs: 20_000 };

/** Most changes of a batch, for which the branch is moved once. */
const defaultMaxBatch = 20;

/** Where the layers are, and the store's dependencies: by default GitHub's API and the engine's own functions. */
export interface GithubOptions
	extends Pick<Connection, "repository" | "now">,
		Partial<Pick<Connection, "apiUrl" | "fetch" | "sleep">> {
	auth: Credentials;
	/** By default `main`. */
	branch?: string;
	/** Gets the reason why a change was not made, if its publisher has to try again later. */
	log?: Pick<Log, "error">;
	/** Most changes of a batch: an engine may allow few requests. */
	maxBatch?: number;
	limits?: Partial<typeof defaultLimits>;
}

/**
 * The layers in a repository on GitHub. A change is a commit on the branch, or a pull request. Waiting changes become
 * commits on top of each other, and the branch is moved once for all of them. An empty repository is an empty catalogue.
 * @throws {Error} if an option cannot be used
 */
export function githubStore(options: GithubOptions): Store {
	const { now, branch = "main", log } = options;
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
	const heads = new Heads(now);
	const used = rememberRequests(now);
	const submit = batchQueue<Change, Commit | Refusal>({
		now,
		maxBatchMs: limits.batchMs,
		maxWaitMs: limits.waitMs,
		maxJobs: options.maxBatch ?? defaultMaxBatch,
		mayJoin: ({ meta }, first) => groupOf(meta) === groupOf(first.meta),
		run: (batch) =>
			makeChanges({ ...connection, github: githubUntil(batch.until), branch, heads, used }, batch),
	});

	async function change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		try {
			const outcome = await submit({ edits, meta, started: now() });
			if (!outcome) throw new GithubBusy(limits.waitMs / 1000, "too many changes wait for GitHub");
			const { request, method = "-", time } = meta;
			const answer = isRefusal(outcome) ? outcome.status : outcome.commit;
			if (request !== null) used.note({ request, method, time, outcome: answer });
			return outcome;
		} catch (error) {
			if (error instanceof StoreBusy) log?.error(new Error(`${meta.subject}: ${error.message}`));
			throw error;
		}
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
		remember: async (request) => used.note(request),
	};
}

/** The branch that a change shares with others: a review has one sender. */
function groupOf(meta: Meta): string {
	return meta.review ? `${reviewBranch(meta)} ${meta.author}` : "";
}

/**
 * Makes the changes of a batch. GitHub's refusal of a batch does not say which change caused it, so each change is then
 * made alone.
 */
async function makeChanges(context: ChangeContext, batch: Batch<Change>): Promise<Outcome[]> {
	try {
		return await makeTogether(context, batch);
	} catch (error) {
		if (error instanceof StoreBusy || batch.jobs.length === 1) throw error;
		const outcomes: Outcome[] = [];
		for (const change of batch.jobs) {
			const alone = { ...batch, jobs: [change], fill: () => undefined };
			const made = makeTogether(context, alone).catch((failure: unknown) => [failing(failure)]);
			outcomes.push(...(await made));
		}
		return outcomes;
	}
}
