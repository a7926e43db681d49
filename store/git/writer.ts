import { join } from "node:path";
import { FastImport } from "../../git/fast-import.ts";
import { type SyncPath, syncWithin } from "../../git/sync.ts";
import { RefUpdates } from "../../git/update-ref.ts";
import type { StoreLimits } from "./limits.ts";
import { importedCommit, type NewCommit } from "./new-commit.ts";

/** What a writer needs from outside. */
export interface WriterOptions {
	repository: string;
	sync: SyncPath;
	limits: StoreLimits;
}

/**
 * Writes commits: `git fast-import` stores a group of them in one pack, and then `git update-ref` moves a branch. Both
 * processes start when they are needed, and are replaced from time to time.
 */
export class Writer {
	readonly #options: WriterOptions;
	#import: FastImport | null = null;
	#refs: RefUpdates | null = null;
	/** The commit that the next one is built on; null: the last one of this group. */
	#from: string | null = null;
	/** Whether the processes keep packs open that were removed. */
	#isOutdated = false;
	/** When git last gave a sign of life, by the monotonic clock. */
	#heardMs = Number.NEGATIVE_INFINITY;

	constructor(options: WriterOptions) {
		this.#options = options;
	}

	/** Begins a group on top of a commit; null: the first commit of a repository. */
	begin(from: string | null): void {
		const { writerCommits } = this.#options.limits;
		const isLate = (number = 0) => number >= writerCommits;
		if (this.#isOutdated || isLate(this.#import?.commits) || isLate(this.#refs?.transactions)) {
			void this.renew();
		}
		this.#from = from;
	}

	/** Makes a commit on top of the last of this group. @returns its id */
	commit(commit: NewCommit): Promise<string> {
		const id = this.#startImport().commit(this.#from, importedCommit(commit));
		this.#from = null;
		// It is awaited after `store`; until then a process that dies must not end this one.
		id.catch(() => undefined);
		return id;
	}

	/**
	 * Puts the group on the disk, and the name of its pack; no branch has it yet.
	 * @throws {GitTimeout | DiskTimeout} where git or the disk does not answer
	 */
	async store(): Promise<void> {
		const { repository, sync, limits } = this.#options;
		await this.#startImport().store();
		await syncWithin(limits.silenceMs, sync, join(repository, "objects", "pack"));
	}

	/**
	 * Moves a branch to a commit that is stored, and puts that on the disk but for the name of its file.
	 * @throws {BranchHeld} where the branch is not at `from`, or another process holds its lock
	 * @throws {GitTimeout} where git does not answer
	 */
	async move(branch: string, from: string | null, to: string): Promise<void> {
		try {
			await this.#startRefs().move(branch, from, to);
			this.#heardMs = performance.now();
		} catch (error) {
			this.#refs = null;
			throw error;
		}
	}

	/** At rest: asks git for a sign of life, not more often than needed. @throws {GitTimeout} where it gives none */
	async probe(): Promise<void> {
		if (this.#isOutdated) await this.renew();
		if (performance.now() - this.#heardMs < this.#options.limits.probeMs) return;
		await Promise.all([this.#refs?.ping(), this.#import?.ping()]);
		this.#heardMs = performance.now();
	}

	/** Restarts both processes and checks that they answer. @throws {GitFailure} where they do not */
	async restart(): Promise<void> {
		this.kill();
		await Promise.all([this.#startRefs().ping(), this.#startImport().ping()]);
	}

	/** Has both processes replaced before the next group, or at rest: they keep packs open that were removed. */
	outdate(): void {
		this.#isOutdated = true;
	}

	/** Ends both processes once all that they were asked for is done; no group may be under way. */
	async renew(): Promise<void> {
		this.#isOutdated = false;
		const ending = [this.#import?.close(), this.#refs?.close()];
		this.#import = null;
		this.#refs = null;
		await Promise.all(ending);
	}

	/** Ends both processes at once; what is not stored is lost. */
	kill(): void {
		this.#import?.kill();
		this.#refs?.kill();
		this.#import = null;
		this.#refs = null;
	}

	#startImport(): FastImport {
		this.#import ??= new FastImport(this.#options.repository, this.#options.limits.silenceMs);
		return this.#import;
	}

	#startRefs(): RefUpdates {
		this.#refs ??= new RefUpdates(this.#options.repository, this.#options.limits.silenceMs);
		return this.#refs;
	}
}
