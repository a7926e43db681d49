import { formatOf } from "../../git/object.ts";
import type { SyncPath } from "../../git/sync.ts";
import type { Trees } from "../../git/trees.ts";
import { BranchHeld, RefUpdates } from "../../git/update-ref.ts";
import { writePack } from "../../git/write-pack.ts";
import type { WrittenBlobs } from "../../git/written-blobs.ts";
import { Chain } from "./chain.ts";
import type { StoreLimits } from "./limits.ts";
import type { NewCommit } from "./new-commit.ts";

/** What a writer needs from outside. */
export interface WriterOptions {
	repository: string;
	branch: string;
	trees: Trees;
	written: WrittenBlobs;
	sync: SyncPath;
	limits: StoreLimits;
}

/**
 * Writes commits to one branch: makes them in memory, stores those of a group in one pack, and has a `git update-ref`,
 * that is started when it is needed and replaced in time, move the branch.
 */
export class Writer {
	readonly #options: WriterOptions;
	#chain: Chain | null = null;
	#refs: RefUpdates | null = null;
	/** Where the branch is, if nobody else has moved it. */
	#tip: string;
	/** When git last gave a sign of life, by the monotonic clock. */
	#heardMs = 0;

	constructor(options: WriterOptions, tip: string) {
		this.#options = options;
		this.#tip = tip;
	}

	/** Goes on from a commit of the branch: what was made on top of another one is given up. */
	goOnFrom(tip: string): void {
		if (this.#tip === tip) return;
		this.#chain = null;
		this.#tip = tip;
	}

	/** Makes a commit on top of the last one. @returns its id */
	commit(commit: NewCommit): Promise<string> {
		this.#chain ??= new Chain(this.#options, formatOf(this.#tip), this.#tip);
		return this.#chain.commit(commit);
	}

	/**
	 * Puts everything that was made so far on the disk; the branch does not have it yet.
	 * @returns the last commit; null where nothing was made
	 * @throws {DiskTimeout} where the disk does not write
	 */
	async store(): Promise<string | null> {
		return this.#orGiveUp(async () => {
			const made = await this.#chain?.take();
			if (!made) return null;
			if (made.base !== this.#tip) throw new BranchHeld(`${made.base}: is not where the branch is`);
			const { repository, sync, limits } = this.#options;
			await writePack(repository, made.pack.files(), sync, limits.silenceMs);
			made.stored();
			return made.tip;
		});
	}

	/**
	 * Moves the branch to a commit that is stored.
	 * @throws {BranchHeld} where somebody else has moved the branch, or holds it
	 * @throws {GitTimeout} where git does not answer
	 */
	async move(to: string): Promise<void> {
		await this.#orGiveUp(() => this.#start().move(this.#options.branch, this.#tip, to));
		this.#heardMs = performance.now();
		this.#tip = to;
	}

	/** Asks whether the branch could be moved, not more often than needed. @throws {GitTimeout} where git does not answer */
	async probe(): Promise<void> {
		if (!this.#refs || performance.now() - this.#heardMs < this.#options.limits.probeMs) return;
		await this.ping();
	}

	/** Asks whether the branch could be moved. @throws {GitTimeout} where git does not answer */
	async ping(): Promise<void> {
		await this.#start().ping();
		this.#heardMs = performance.now();
	}

	/** Has another process of git's go on, once this one has done what it was asked: it keeps packs open that have been gathered. */
	renew(): void {
		void this.#refs?.close();
		this.#refs = null;
	}

	/** Ends git's process, and gives up what is not stored; the next commit starts anew. */
	async close(): Promise<void> {
		const ending = this.#refs;
		this.#chain = null;
		this.#refs = null;
		await ending?.close();
	}

	/** Ends git's process at once. */
	kill(): void {
		this.#refs?.kill();
		this.#refs = null;
	}

	/** What is built on a commit that the branch does not get must never reach it. */
	async #orGiveUp<T>(task: () => Promise<T>): Promise<T> {
		try {
			return await task();
		} catch (error) {
			this.#chain = null;
			throw error;
		}
	}

	#start(): RefUpdates {
		const { repository, limits } = this.#options;
		if (this.#refs && this.#refs.transactions >= limits.writerMoves) this.renew();
		this.#refs ??= new RefUpdates(repository, limits.silenceMs);
		return this.#refs;
	}
}
