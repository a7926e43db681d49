import { join } from "node:path";
import { FastImport } from "../../git/fast-import.ts";
import { GitProcess, lineAt } from "../../git/process.ts";
import { GitFailure } from "../../git/run.ts";
import { syncWithin } from "../../git/sync.ts";
import { authorMail, commitMessage, type Edit, type Meta, serviceAuthor } from "../store.ts";
import type { StoreBase } from "./base.ts";

/** A branch is at another commit than expected, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	override name = "BranchHeld";
}

type Base = Pick<StoreBase, "repository" | "now" | "sync" | "limits">;

/**
 * Writes commits: `git fast-import` stores a group of them in one pack, and then `git update-ref` moves a branch. Both
 * processes start when they are needed, and are replaced from time to time. One `git update-ref` for each group would
 * cost some 3 ms of row `put-alone` of `npx fragments bench`.
 */
export class Writer {
	readonly #base: Base;
	#import: FastImport | null = null;
	/** Ends with the first transaction that fails. */
	#refs: GitProcess<string> | null = null;
	/** The commit that the next one is built on; null: the last one of this group. */
	#from: string | null = null;
	/** Commits that these processes have made. */
	#commits = 0;
	/** Whether the processes keep packs open that were removed. */
	#isOutdated = false;

	constructor(base: Base) {
		this.#base = base;
	}

	/** Begins a group on top of a commit; null: the first commit of a repository. */
	begin(from: string | null): void {
		if (this.#isOutdated || this.#commits >= this.#base.limits.writerCommits) void this.renew();
		this.#from = from;
	}

	/** Makes a commit on top of the last of this group. @returns its id */
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
		// It is awaited after `store`; until then a process that dies must not end this one.
		id.catch(() => undefined);
		return id;
	}

	/**
	 * Puts the group on the disk, and the name of its pack; no branch has it yet.
	 * @throws {GitTimeout | DiskTimeout} where git or the disk does not answer
	 */
	async store(): Promise<void> {
		const { repository, sync, limits } = this.#base;
		await this.#startImport().store();
		await syncWithin(limits.silenceMs, sync, join(repository, "objects", "pack"));
	}

	/**
	 * Compares and swaps: moves a branch to a commit that is stored, and puts that on the disk but for the name of its file.
	 * @param from where the branch has to be now; null: it must not exist
	 * @throws {BranchHeld} where it is somewhere else, or another process holds its lock
	 * @throws {GitTimeout} where git does not answer
	 */
	async move(branch: string, from: string | null, to: string): Promise<void> {
		const ref = `refs/heads/${branch}`;
		const command = from === null ? `create ${ref} ${to}` : `update ${ref} ${to} ${from}`;
		try {
			await this.#askRefs(`${command}\nprepare\ncommit`, "commit: ok");
		} catch (error) {
			this.#refs = null;
			// Git says the same of a branch that has moved (files_transaction_prepare of git's refs/files-backend.c).
			throw /cannot lock ref/.test(String(error)) ? new BranchHeld((error as Error).message) : error;
		}
	}

	/**
	 * At rest: asks git for a sign of life.
	 * @param starts whether a process that does not run is started
	 * @throws {GitFailure} where there is none
	 */
	async probe(starts: boolean): Promise<void> {
		if (this.#isOutdated) await this.renew();
		const isWanted = (process: unknown) => starts || process !== null;
		await Promise.all([
			isWanted(this.#refs) && this.#askRefs("abort", "abort: ok"),
			isWanted(this.#import) && this.#startImport().ping(),
		]);
	}

	/** Has both processes replaced before the next group, or at rest: they keep packs open that were removed. */
	outdate(): void {
		this.#isOutdated = true;
	}

	/** Ends both processes once all that they were asked for is done; no group may be under way. */
	async renew(): Promise<void> {
		await Promise.all(this.#leave().map((process) => process?.close()));
	}

	/** Ends both processes at once; what is not stored is lost. */
	kill(): void {
		for (const process of this.#leave()) process?.kill();
	}

	/** The processes, which this writer does not use from now on. */
	#leave() {
		const left = [this.#import, this.#refs];
		this.#import = null;
		this.#refs = null;
		this.#commits = 0;
		this.#isOutdated = false;
		return left;
	}

	#startImport(): FastImport {
		this.#import ??= new FastImport(this.#base.repository, this.#base.limits.silenceMs);
		return this.#import;
	}

	/** Has a transaction made. @param answer the line that says that it is over */
	async #askRefs(commands: string, answer: string): Promise<void> {
		const { repository, limits } = this.#base;
		this.#refs ??= new GitProcess(repository, ["update-ref", "--stdin"], lineAt, limits.silenceMs);
		await this.#refs.ask([`start\n${commands}\n`], (line) => line === answer);
	}
}

/** `jstest <jstest@sender.invalid> 1772625600 +0000`. @throws {Error} where the name would break the commit's lines */
function personAt(name: string, timeMs: number): string {
	if (/[<>\n\0]/.test(name)) throw new Error(`${JSON.stringify(name)}: cannot be the name of an author`);
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
