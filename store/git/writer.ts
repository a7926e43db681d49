import { join } from "node:path";
import { commitCommands, endCommand, importArgs, importConfig, storeCommand } from "../../git/fast-import.ts";
import { type GitProcess, lineAt, startProcess } from "../../git/process.ts";
import { GitFailure } from "../../git/run.ts";
import { syncWithin } from "../../git/sync.ts";
import { authorMail, commitMessage, type Edit, type Meta, serviceAuthor } from "../store.ts";
import type { StoreBase } from "./base.ts";

/** The branch is not at the expected commit, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	override name = "BranchHeld";
}

/**
 * Writes commits: `git fast-import` stores a group of commits in one pack, and then `git update-ref` moves a branch. Both
 * processes are long-lived, start when they are needed, and are replaced after a repack. A new `git update-ref` for
 * each group would take about 3 ms of row `put-alone` of `npx fragments bench`.
 */
export type Writer = ReturnType<typeof openWriter>;

export function openWriter(base: Pick<StoreBase, "repository" | "now" | "sync" | "limits">) {
	const { repository, now, sync, limits } = base;
	let importing: GitProcess<string> | null = null;
	/** The process ends at the first transaction that fails. */
	let moving: GitProcess<string> | null = null;
	/** Whether the processes have packs open that a repack has removed. */
	let isOutdated = false;

	/** Asks `git fast-import`. */
	function askImport(commands: Iterable<string>): Promise<string> {
		importing ??= startProcess(repository, importArgs, lineAt, limits.silenceMs, importConfig);
		return importing.ask(commands);
	}

	/** Runs a transaction of `git update-ref`, which prints a line for each command. */
	async function askRefs(...commands: string[]): Promise<void> {
		moving ??= startProcess(repository, ["update-ref", "--stdin"], lineAt, limits.silenceMs);
		const { ask } = moving;
		await Promise.all(["start\n", ...commands].map((command) => ask([command])));
	}

	/**
	 * Stores a group of commits on the disk, each on the one before it. No branch has them yet.
	 * @param from the parent of the first one
	 * @returns their ids
	 * @throws {GitTimeout | DiskTimeout} if git or the disk does not answer
	 */
	async function store(
		from: string,
		group: readonly { edits: readonly Edit[]; meta: Meta }[],
	): Promise<string[]> {
		if (isOutdated) void renew();
		const committer = personAt(serviceAuthor, now());
		const answers = group.map(({ edits, meta }, index) => {
			const author = personAt(meta.author, meta.time);
			const commit = { author, committer, message: commitMessage(meta), edits };
			return askImport(commitCommands(index === 0 ? from : null, commit));
		});
		const [ids] = await Promise.all([Promise.all(answers), askImport([storeCommand])]);
		await syncWithin(limits.silenceMs, sync, join(repository, "objects", "pack"));
		return ids;
	}

	/**
	 * Moves a branch to a stored commit, if the branch is at `from` (compare and swap). Git syncs the branch's file, but
	 * not its folder.
	 * @param from the commit that the branch must be at; null: the branch must not exist
	 * @throws {BranchHeld} if the branch is at another commit, or another process holds its lock
	 * @throws {GitTimeout} if git does not answer
	 */
	async function move(branch: string, from: string | null, to: string): Promise<void> {
		const ref = `refs/heads/${branch}`;
		const command = from === null ? `create ${ref} ${to}` : `update ${ref} ${to} ${from}`;
		try {
			await askRefs(`${command}\nprepare\n`, "commit\n");
		} catch (error) {
			moving = null;
			// Git's message is the same if the branch has moved (files_transaction_prepare in git's refs/files-backend.c).
			throw /cannot lock ref/.test(String(error)) ? new BranchHeld((error as Error).message) : error;
		}
	}

	/**
	 * Checks that git answers. To be called while no group is being written.
	 * @param starts whether processes that are not running are started and checked, too
	 * @throws {GitFailure} if git does not answer
	 */
	async function probe(starts: boolean): Promise<void> {
		if (isOutdated) await renew();
		await Promise.all([
			(starts || moving) && askRefs("abort\n"),
			(starts || importing) && askImport(["progress alive\n"]),
		]);
	}

	/** Marks both processes for replacement, because they have packs open that a repack has removed. */
	function markOutdated(): void {
		isOutdated = true;
	}

	/** Ends both processes after all commands so far. To be called while no group is being written. */
	async function renew(): Promise<void> {
		const ends = [importing?.close(endCommand), moving?.close()];
		forget();
		await Promise.all(ends);
	}

	/** Ends both processes immediately. Commits that are not stored are lost. */
	function kill(): void {
		importing?.kill();
		moving?.kill();
		forget();
	}

	function forget(): void {
		[importing, moving, isOutdated] = [null, null, false];
	}

	return { store, move, probe, markOutdated, renew, kill };
}

/** `jstest <jstest@sender.invalid> 1772625600 +0000` */
function personAt(name: string, timeMs: number): string {
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
