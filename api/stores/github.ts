import {
	type Commit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	type Store,
	StoreBusy,
	usedBefore,
} from "../store.ts";
import { authorizeWith, type Credentials } from "./github/auth.ts";
import { connect, LostAnswer } from "./github/client.ts";
import { makeFreshness } from "./github/freshness.ts";
import { carriesRequest, makeReplays } from "./github/replay.ts";
import {
	Conflict,
	makeCommit,
	makeFirstCommit,
	moveBranch,
	readerAt,
	readHead,
} from "./github/repository.ts";
import { proposeChange } from "./github/review.ts";
import { makeTurns } from "./github/turns.ts";

/** Longest times, in milliseconds. */
export interface Limits {
	/** One request to GitHub. */
	request: number;
	/** A change's wait for the changes before it. */
	wait: number;
	/** How long a change is built anew because others were faster. */
	races: number;
	/** A change from call to answer: a publisher is answered within 15 s. */
	total: number;
}

const ordinaryLimits: Limits = { request: 4_000, wait: 9_000, races: 8_000, total: 14_000 };

/** How often a change is built when others are faster. */
const mostTries = 5;

/** Where the layers are on GitHub, and what the store needs from outside. */
export interface GithubOptions {
	/** `owner/name`. */
	repository: string;
	auth: Credentials;
	/** The clock; deadlines count by it, too. */
	now: () => Date;
	/** `main` without it. */
	branch?: string;
	/** `https://api.github.com` without it. */
	apiUrl?: string;
	/** The engine's own without it. */
	fetch?: typeof fetch;
	/** Waits a number of milliseconds. */
	sleep?: (ms: number) => Promise<void>;
	/** A number from 0 to 1, for jitter. */
	random?: () => number;
	/** Told why GitHub was given up on, where a publisher is told to come back later. */
	report?: (error: Error) => void;
	limits?: Partial<Limits>;
}

/**
 * The layers in a repository on GitHub: a change is a commit on its branch, or a pull request. Changes of one store
 * are made one after the other. Nothing is ever written that was not asked for: an empty repository is an empty
 * catalogue.
 * @throws {Error} where an option cannot be used
 */
export function githubStore(options: GithubOptions): Store {
	const { now, branch = "main", sleep = wait, random = Math.random } = options;
	const limits = { ...ordinaryLimits, ...options.limits };
	const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(options.repository) ?? [];
	if (!owner || !repo) throw new Error("GITHUB_REPOSITORY: must be owner/name");
	const connection = {
		owner,
		repo,
		apiUrl: (options.apiUrl ?? "https://api.github.com").replace(/(?<!\/)\/+$/, ""),
		fetch: options.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => fetch(input, init)),
		now,
		sleep,
		random,
		patience: limits.request,
		report: options.report,
	};
	const within = connect(connection, authorizeWith(options.auth, now));
	const turns = makeTurns(now, limits.total);
	const replays = makeReplays(now);
	const fresh = makeFreshness(now);

	async function readNow() {
		const call = within(now().getTime() + limits.total);
		return readerAt(call, await readHead(call, branch));
	}

	/** Tries again from a fresh read while others are faster, or nobody knows whether the branch was written. */
	async function racing<T>(deadline: number, attempt: () => Promise<T>): Promise<T> {
		const until = Math.min(deadline, now().getTime() + limits.races);
		for (let tries = 1; ; tries += 1) {
			try {
				return await attempt();
			} catch (error) {
				if (!(error instanceof Conflict) && !(error instanceof LostAnswer)) throw error;
				const pause = 50 * 2 ** tries * (0.5 + random());
				if (tries === mostTries || now().getTime() + pause >= until) {
					if (error instanceof LostAnswer || !error.isRace) throw error;
					throw new StoreBusy("others change the layers at the same moment", 2);
				}
				await sleep(pause);
			}
		}
	}

	async function commitChange(until: number, edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		const call = within(until);
		const started = now();
		const own = new Set<string>();
		let written = false;
		return racing(until, async () => {
			const head = fresh.check(await readHead(call, branch));
			// A write whose answer was lost may have been made all the same.
			const landed = head?.recent.find((commit) => {
				return own.has(commit.sha) || (written && carriesRequest(commit, meta));
			});
			if (landed) return { commit: landed.sha, changed: true };
			const wanted = await edits(readerAt(call, head));
			if (isRefusal(wanted)) return wanted;
			if (wanted.length === 0) return { commit: head?.commit ?? "", changed: false };
			if (!head) {
				written = true;
				return { commit: await makeFirstCommit(call, branch, wanted, meta, started), changed: true };
			}
			if (await replays.wasUsed(call, head, meta)) return usedBefore;
			const commit = await makeCommit(call, head, wanted, meta, started);
			if (commit === null) return { commit: head.commit, changed: false };
			own.add(commit);
			written = true;
			await moveBranch(call, branch, commit);
			fresh.replaced(head.commit);
			return { commit, changed: true };
		});
	}

	function propose(until: number, edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		const { owner } = connection;
		const proposing = { call: within(until), branch, owner, replays, fresh, started: now(), written: null };
		return racing(until, () => proposeChange(proposing, edits, meta));
	}

	async function change(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		const until = now().getTime() + limits.total;
		const release = await turns.take(limits.wait);
		if (!release) throw new StoreBusy("too many changes wait for GitHub", Math.ceil(limits.wait / 1000));
		try {
			const make = meta.review ? propose : commitChange;
			const outcome = await make(until, edits, meta);
			if (!isRefusal(outcome) && outcome.changed) replays.remember(meta);
			return outcome;
		} finally {
			release();
		}
	}

	return {
		published: false,
		read: async (smallkey) => (await readNow()).read(smallkey),
		keys: async (folder) => (await readNow()).keys(folder),
		change,
	};
}

function wait(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}
