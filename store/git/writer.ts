import { join } from "node:path";
import { FastImport } from "../../git/fast-import.ts";
import { GitProcess, lineAt } from "../../git/process.ts";
import { GitFailure } from "../../git/run.ts";
import { syncWithin } from "../../git/sync.ts";
import { authorMail, commitMessage, type Edit, type Meta, serviceAuthor } from "../store.ts";
import type { StoreBase } from "./base.ts";

/** The branch is not at the expected commit, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	override name = "BranchHeld";
}

type Base = Pick<StoreBase, "repository" | "now" | "sync" | "limits">;

/**
 * Writes commits: `git fast-import` stores a group of commits in one pack, and then `git update-ref` moves a branch. Both
 * processes are long-lived, start when they are needed, and are replaced from time to time. A new `git update-ref` for
 * each group would take about 3 ms of row `put-alone` of `npx fragments bench`.
 */
export class Writer {
	readonly #base: Base;
	#import: FastImport | null = null;
	/** The process ends at the first transaction that fails. */
	#refs: GitProcess<string> | null = null;
	/** The parent of the next commit; null: the last commit of this group. */
	#from: string | null = null;
	/** Number of commits by the current processes. */
	#commits = 0;
	/** Whether the processes have packs open that a repack has removed. */
	#isOutdated = false;

	constructor(base: Base) {
		this.#base = base;
	}

	/** Begins a group. @param from the parent of its first commit; null: the first commit of the repository */
	begin(from: string | null): void {
		if (this.#isOutdated || this.#commits >= this.#base.limits.maxWriterCommits) void this.renew();
		this.#from = from;
	}

	/** Makes the next commit of the group. @returns its id */
	commit(edits: readonly Edit[], meta: Meta): Promise<string> {
		const author = personAt(meta.author, meta.time);
		const committer = personAt(serviceAuthor, this.#base.now());
		const id = this.#startImport().commit(this.#from, {
			author,
			committer,
			message: commitMessage(meta),
			edits,
		});
		this.#from = null;
		this.#commits += 1;
		// The id is awaited only after `store`. Until then, a failure must not be an unhandled rejection.
		id.catch(() => undefined);
		return id;
	}

	/**
	 * Syncs the group to the disk, with the name of its pack. No branch has the group yet.
	 * @throws {GitTimeout | DiskTimeout} if git or the disk does not answer
	 */
	async store(): Promise<void> {
		const { repository, sync, limits } = this.#base;
		await this.#startImport().store();
		await syncWithin(limits.silenceMs, sync, join(repository, "objects", "pack"));
	}

	/**
	 * Moves a branch to a stored commit, if the branch is at `from` (compare and swap). Git syncs the branch's file, but
	 * not its folder.
	 * @param from the commit that the branch must be at; null: the branch must not exist
	 * @throws {BranchHeld} if the branch is at another commit, or another process holds its lock
	 * @throws {GitTimeout} if git does not answer
	 */
	async move(branch: string, from: string | null, to: string): Promise<void> {
		const ref = `refs/heads/${branch}`;
		const command = from === null ? `create ${ref} ${to}` : `update ${ref} ${to} ${from}`;
		try {
			await this.#askRefs(`${command}\nprepare\ncommit`, "commit: ok");
		} catch (error) {
			this.#refs = null;
			// Git's message is the same if the branch has moved (files_transaction_prepare in git's refs/files-backend.c).
			throw /cannot lock ref/.test(String(error)) ? new BranchHeld((error as Error).message) : error;
		}
	}

	/**
	 * Checks that git answers. To be called while no group is being written.
	 * @param starts whether processes that are not running are started and checked, too
	 * @throws {GitFailure} if git does not answer
	 */
	async probe(starts: boolean): Promise<void> {
		if (this.#isOutdated) await this.renew();
		const isWanted = (process: unknown) => starts || process !== null;
		await Promise.all([
			isWanted(this.#refs) && this.#askRefs("abort", "abort: ok"),
			isWanted(this.#import) && this.#startImport().ping(),
		]);
	}

	/** Marks both processes for replacement, because they have packs open that a repack has removed. */
	markOutdated(): void {
		this.#isOutdated = true;
	}

	/** Ends both processes after all commands so far. To be called while no group is being written. */
	async renew(): Promise<void> {
		await Promise.all(this.#detach().map((process) => process?.close()));
	}

	/** Ends both processes immediately. Commits that are not stored are lost. */
	kill(): void {
		for (const process of this.#detach()) process?.kill();
	}

	/** Returns both processes, and forgets them: this writer no longer uses them. */
	#detach() {
		const detached = [this.#import, this.#refs];
		this.#import = null;
		this.#refs = null;
		this.#commits = 0;
		this.#isOutdated = false;
		return detached;
	}

	#startImport(): FastImport {
		this.#import ??= new FastImport(this.#base.repository, this.#base.limits.silenceMs);
		return this.#import;
	}

	/** Runs a transaction of `git update-ref`. @param answer the line that ends its output */
	async #askRefs(commands: string, answer: string): Promise<void> {
		const { repository, limits } = this.#base;
		this.#refs ??= new GitProcess(repository, ["update-ref", "--stdin"], lineAt, limits.silenceMs);
		await this.#refs.ask([`start\n${commands}\n`], (line) => line === answer);
	}
}

/** `jstest <jstest@sender.invalid> 1772625600 +0000`. @throws {Error} if the name would break the commit's header */
function personAt(name: string, timeMs: number): string {
	if (/[<>\n\0]/.test(name)) throw new Error(`${JSON.stringify(name)}: cannot be the name of an author`);
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
