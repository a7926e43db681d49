import { textOf } from "../../registry/texts.ts";
import type { Log } from "../log.ts";
import { readerOf } from "../reader.ts";
import {
	type Commit,
	type Edits,
	type Meta,
	type Reader,
	type Refusal,
	reviewBranch,
	type Store,
	StoreBusy,
} from "../store.ts";
import { authorizeWith, type Credentials } from "./auth.ts";
import { type Connection, connect, GithubBusy, spread } from "./client.ts";
import { filesAt } from "./commit-files.ts";
import { Heads, readHead } from "./history.ts";
import {
	type Change,
	type ChangeBatch,
	type ChangeContext,
	commitTogether,
	retryRaces,
} from "./pending-commits.ts";
import { proposeChange } from "./pull-request.ts";
import { batchQueue, failing } from "./queue.ts";
import { proposeTogether } from "./review-group.ts";
import { rememberRequests } from "./used-here.ts";

/** A publisher gets an answer within the sum of `waitMs` and `batchMs`, since proxies wait a minute at most. */
const defaultLimits = {
	requestMs: 4_000,
	/** Longest wait of a change for the changes before it. */
	waitMs: 25_000,
	/** How long changes are retried because other writers were faster. */
	raceMs: 8_000,
	/** Longest time of a batch, from its first request on. */
	batchMs: 20_000,
};

/** Most changes of a batch, for which the branch is moved once. */
const defaultMaxBatch = 20;

/** Commits are begun in this part of a batch's time. */
const commitsShare = 0.75;

const permissions = { contents: "write", pull_requests: "write" } as const;

/** Where the layers are on GitHub, and the store's dependencies: by default GitHub's API and the engine's own functions. */
export interface GithubOptions
	extends Pick<Connection, "repository" | "now">,
		Partial<Pick<Connection, "apiUrl" | "fetch" | "sleep" | "random">> {
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
 * commits on top of each other, and the branch is moved once for all of them. The store writes nothing of its own: an
 * empty repository is an empty catalogue.
 * @throws {Error} if an option cannot be used
 */
export function githubStore(options: GithubOptions): Store {
	const { now, branch = "main", random = Math.random, log } = options;
	const sleep = options.sleep ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
	const limits = { ...defaultLimits, ...options.limits };
	const ask: typeof fetch = (input, init) => fetch(input, init);
	const defaults = { apiUrl: "https://api.github.com", fetch: ask, requestTimeoutMs: limits.requestMs };
	const githubUntil = connect(
		{ ...defaults, ...options, sleep, random },
		authorizeWith(options.auth, now, permissions),
	);
	const heads = new Heads(now);
	const used = rememberRequests(now);
	const submit = batchQueue<Change, Commit | Refusal>({
		now,
		maxBatchMs: limits.batchMs,
		maxJobs: options.maxBatch ?? defaultMaxBatch,
		mayJoin: ({ meta }, first) => groupOf(meta) !== null && groupOf(meta) === groupOf(first.meta),
		run: (batch) => {
			const { raceMs, batchMs } = limits;
			const lastCommitAt = batch.until - batchMs * (1 - commitsShare);
			const github = githubUntil(batch.until);
			return makeChanges({ github, branch, heads, now, sleep, random, raceMs, lastCommitAt }, batch);
		},
	});

	async function change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		try {
			return await used.once(edits, meta, async (guarded) => {
				const outcome = await submit({ edits: guarded, meta, started: now() }, limits.waitMs);
				if (outcome) return outcome;
				const seconds = spread(limits.waitMs / 1000, random);
				throw new GithubBusy(textOf("github-queue"), seconds, "its turn did not come in time");
			});
		} catch (error) {
			const reason = error instanceof GithubBusy ? ` (${error.reason})` : "";
			if (error instanceof StoreBusy) log?.error(new Error(`${meta.subject}: ${error.message}${reason}`));
			throw error;
		}
	}

	async function readNow(): Promise<Reader> {
		const github = githubUntil(now().getTime() + limits.batchMs);
		return readerOf(filesAt(github, await readHead(github, branch)));
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

/** The branch that a change shares with others; null if it has its own. */
function groupOf(meta: Meta): string | null {
	if (!meta.review) return "";
	return meta.reviewName === undefined ? null : reviewBranch(meta);
}

/**
 * Makes the changes of a batch. A change for review becomes a pull request. GitHub's refusal of a batch does not say which
 * change caused it, so each change is then made alone.
 * @throws {Error} with which all changes of the batch fail that have no outcome yet
 */
async function makeChanges(context: ChangeContext, batch: ChangeBatch): Promise<void> {
	const [first] = batch.jobs;
	const make = groupOf(first?.job.meta as Meta) === "" ? commitTogether : proposeTogether;
	if (first && groupOf(first.job.meta) === null) {
		const tried = { text: null };
		const done = await retryRaces(context, batch.until, () => proposeChange(context, first.job, tried));
		return first.settle(() => done);
	}
	try {
		await make(context, batch);
	} catch (error) {
		if (error instanceof StoreBusy || batch.jobs.length === 1) throw error;
		for (const entry of batch.jobs) {
			const alone = { ...batch, jobs: [entry], fill: () => undefined };
			await make(context, alone).catch((error: unknown) => entry.settle(failing(error)));
		}
	}
}
