import type { NewCommit } from "../../git/fast-import.ts";
import {
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	usedBefore,
} from "../../store.ts";
import { type CommitFolders, CommitReader } from "./reader.ts";
import type { RequestMemory } from "./request-memory.ts";

/** A change that somebody waits for. */
export interface Waiting {
	edits: Edits;
	meta: Meta;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

/** What was decided for one waiting change, to be answered once the branch has it. */
export interface Decided {
	waiting: Waiting;
	edits: Edit[];
	refusal: Refusal | null;
	/** Id of its commit; null where none was needed. */
	commit: Promise<string> | null;
}

/** What decisions need from the store. */
export interface DeciderOptions {
	/** Of the commit that the first decision is made on. */
	folders: CommitFolders;
	requests: RequestMemory;
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
	/** Requests of the changes decided here. */
	readonly #used = new Set<string>();

	constructor(options: DeciderOptions) {
		this.#options = options;
		this.#reader = new CommitReader(options.folders);
	}

	/** Begins to read what a change will be decided on. */
	prefetch({ meta }: Waiting): void {
		if (meta.smallkey !== null) this.#reader.prefetch(meta.smallkey);
	}

	/** Decides one change and hands its commit to the writer; null where its own code failed, which it was told. */
	async decide(waiting: Waiting): Promise<Decided | null> {
		try {
			return await this.#decide(waiting);
		} catch (error) {
			waiting.reject(error);
			return null;
		}
	}

	async #decide(waiting: Waiting): Promise<Decided> {
		const outcome = await waiting.edits(this.#reader);
		if (isRefusal(outcome)) return { waiting, edits: [], refusal: outcome, commit: null };
		if (outcome.length === 0) return { waiting, edits: [], refusal: null, commit: null };
		const { request } = waiting.meta;
		const committed = this.#options.now();
		if (request !== null && (this.#used.has(request) || this.#options.requests.has(request, committed))) {
			return { waiting, edits: [], refusal: usedBefore, commit: null };
		}
		if (request !== null) this.#used.add(request);
		this.#reader.overlay(outcome);
		const commit = this.#options.write({ edits: outcome, meta: waiting.meta, committed });
		// Awaited after the checkpoint; until then a dead writer must not end the process.
		commit.catch(() => undefined);
		return { waiting, edits: outcome, refusal: null, commit };
	}
}
