import { GitFailure } from "../../git/run.ts";
import { type Commit, type Edit, type Edits, isRefusal, type Meta, type Refusal } from "../store.ts";
import type { Condition } from "./condition.ts";
import type { NewCommit } from "./new-commit.ts";
import { type CommitFolders, CommitReader } from "./reader.ts";
import { answerRepeat, mayBeUsed } from "./repeats.ts";
import type { UsedRequests } from "./used-requests.ts";

/** A change that somebody waits for. */
export interface Waiting {
	edits: Edits;
	meta: Meta;
	/** When it came, by the monotonic clock. */
	sinceMs: number;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

/** What was decided for one waiting change, to be answered once the branch has it. */
export interface Decided {
	waiting: Waiting;
	edits: Edit[];
	refusal: Refusal | null;
	/** Id of the commit that holds the state asked for, where that is known apart from the branch's last. */
	commit: Promise<string> | null;
}

/** What decisions need from the store. */
export interface DeciderOptions {
	/** The commit that the first decision is made on, and its folders. */
	base: string;
	folders: CommitFolders;
	requests: UsedRequests;
	condition: Condition;
	/** Milliseconds since 1970. */
	now: () => number;
	/** Hands a commit to the writer; its id comes later. */
	write: (commit: NewCommit) => Promise<string>;
}

/** Decides changes one after the other, each on what the ones before it will have changed. */
export class Decider {
	readonly #options: DeciderOptions;
	/** The state that the next change is decided on. */
	readonly #reader: CommitReader;
	/** The signed requests that were decided here, and may not be answered yet. */
	readonly #requests = new Map<string, Decided>();

	constructor(options: DeciderOptions) {
		this.#options = options;
		this.#reader = new CommitReader(options.folders);
	}

	/** Begins to read what a change will be decided on. */
	prefetch({ meta }: Waiting): void {
		if (meta.smallkey !== null) this.#reader.prefetch(meta.smallkey);
	}

	/** Decides changes in their order; without those whose own code failed, which they were told. */
	async decideAll(batch: readonly Waiting[]): Promise<Decided[]> {
		for (const waiting of batch) this.prefetch(waiting);
		const decided: Decided[] = [];
		for (const waiting of batch) {
			const one = await this.decide(waiting);
			if (one) decided.push(one);
		}
		return decided;
	}

	/** Decides one change and hands its commit to the writer; null where its own code failed, which it was told. */
	async decide(waiting: Waiting): Promise<Decided | null> {
		try {
			const decided = this.#judge(waiting, await waiting.edits(this.#reader));
			const { request } = waiting.meta;
			if (request !== null && !this.#requests.has(request)) this.#requests.set(request, decided);
			return decided;
		} catch (error) {
			waiting.reject(error instanceof GitFailure ? this.#options.condition.failed(error) : error);
			return null;
		}
	}

	#judge(waiting: Waiting, outcome: Edit[] | Refusal): Decided {
		const repeated = this.#judgeRepeat(waiting, outcome);
		if (repeated) return repeated;
		if (isRefusal(outcome)) return refused(waiting, outcome);
		if (outcome.length === 0) return { waiting, edits: [], refusal: null, commit: null };
		const { request, time } = waiting.meta;
		if (request !== null && this.#options.requests.isForgotten(time)) return refused(waiting, mayBeUsed);
		return this.#commit(waiting, outcome);
	}

	/** What becomes of a request that came before; null where it did not. */
	#judgeRepeat(waiting: Waiting, outcome: Edit[] | Refusal): Decided | null {
		const { request, method = "-" } = waiting.meta;
		if (request === null) return null;
		const underWay = this.#requests.get(request);
		const use = underWay ? null : this.#options.requests.find(request);
		if (!underWay && !use) return null;
		const first = underWay
			? { method: underWay.waiting.meta.method ?? "-", status: underWay.refusal?.status ?? null }
			: { method: use?.method ?? "-", status: typeof use?.outcome === "number" ? use.outcome : null };
		const refusal = answerRepeat(first, method, outcome);
		if (refusal) return refused(waiting, refusal);
		const commit = underWay ? underWay.commit : Promise.resolve(String(use?.outcome));
		return { waiting, edits: [], refusal: null, commit };
	}

	#commit(waiting: Waiting, edits: Edit[]): Decided {
		const { now, base, requests, write } = this.#options;
		const { meta } = waiting;
		const { request, method = "-", time: timeMs } = meta;
		this.#reader.overlay(edits);
		if (request !== null) requests.expect({ request, method, timeMs, base });
		const commit = write({ edits, meta, committed: now() });
		// Awaited after the checkpoint; until then a dead writer must not end the process.
		commit.catch(() => undefined);
		return { waiting, edits, refusal: null, commit };
	}
}

function refused(waiting: Waiting, refusal: Refusal): Decided {
	return { waiting, edits: [], refusal, commit: null };
}
