import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { textOf } from "../../registry/texts.ts";
import { authorMail, commitMessage, type Edit, type Meta, StoreBusy, serviceAuthor } from "../store.ts";
import { measured, type StoreBase } from "./base.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { commitCommands, endCommand, importArgs, importConfig, storeCommand } from "./commands/commits.ts";
import { type GitProcess, lineAt, startProcess } from "./commands/process.ts";
import { GitFailure, runGit } from "./commands/run.ts";

/** The branch is not at the expected commit, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	override name = "BranchHeld";
}

const repackArgs = ["repack", "-q", "-d", "-l", "--geometric=2", "--threads=1"];

/** A repack has a lower priority than answers to readers and publishers. */
const repackNiceness = 5;

/**
 * Writes commits: `git fast-import` stores a group of commits in one pack, and then `git update-ref` moves a branch. Both
 * processes are long-lived, and start when they are needed. A new `git update-ref` for each group would take about 3 ms
 * of row `put-alone` of `npm run bench`.
 */
export type Writer = ReturnType<typeof openWriter>;

/** @param catFile is renewed after a repack */
export function openWriter(base: StoreBase, catFile: Pick<CatFile, "renew">) {
	const { repository, now, sync, limits, log } = base;
	const packFolder = join(repository, "objects", "pack");
	let importing: GitProcess<string> | null = null;
	/** The process ends at the first transaction that fails. */
	let moving: GitProcess<string> | null = null;
	let repacking: Promise<void> | null = null;
	/** The end of a pause after a failed repack. */
	let pausedUntilMs = Number.NEGATIVE_INFINITY;

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
	 * @param from the parent of the first one, or null
	 * @returns their ids
	 * @throws {GitTimeout | DiskTimeout} if git or the disk does not answer
	 */
	async function store(
		from: string | null,
		group: readonly { edits: readonly Edit[]; meta: Meta }[],
	): Promise<string[]> {
		const committer = personAt(serviceAuthor, now());
		const answers = group.map(({ edits, meta }, index) => {
			const author = personAt(meta.author, meta.time);
			const commit = { author, committer, message: commitMessage(meta), edits };
			return askImport(commitCommands(index === 0 ? from : null, commit));
		});
		const [ids] = await Promise.all([Promise.all(answers), askImport([storeCommand])]);
		await sync(packFolder);
		return ids;
	}

	/**
	 * Moves a branch to a stored commit, if the branch is at `from` (compare and swap). Git syncs the branch's file, but
	 * not its folder: see `syncNames`.
	 * @param from the commit that the branch must be at; null: the branch must not exist
	 * @throws {BranchHeld} if the branch is at another commit, or another process holds its lock
	 * @throws {StoreBusy} if the name of another branch excludes this one: `a` excludes `a/b`, and `a/b` excludes `a`
	 * @throws {GitTimeout} if git does not answer
	 */
	async function move(branch: string, from: string | null, to: string): Promise<void> {
		const ref = `refs/heads/${branch}`;
		const command = from === null ? `create ${ref} ${to}` : `update ${ref} ${to} ${from}`;
		try {
			await askRefs(`${command}\nprepare\n`, "commit\n");
		} catch (error) {
			moving = null;
			const { message } = error as Error;
			// Git's messages are in refs.c and, the same one for a branch that has moved, in refs/files-backend.c.
			const [, other] = /'refs\/heads\/([^']+)' exists; cannot create/.exec(message) ?? [];
			if (other) throw new StoreBusy(textOf("branch-in-way", other, branch), 60);
			throw /cannot lock ref/.test(message) ? new BranchHeld(message) : error;
		}
	}

	/** Syncs the folders on the path to a branch's file, so that its name is on the disk. */
	async function syncNames(branch: string): Promise<void> {
		for (let folder = dirname(`refs/heads/${branch}`); folder !== "refs"; folder = dirname(folder))
			await sync(join(repository, folder));
	}

	/**
	 * Checks that git answers. To be called while no group is being written.
	 * @param starts whether processes that are not running are started and checked, too
	 * @throws {GitFailure} if git does not answer
	 */
	async function probe(starts: boolean): Promise<void> {
		if (starts || moving) await askRefs("abort\n");
		if (starts || importing) await askImport(["progress alive\n"]);
	}

	/**
	 * Starts a repack in the background if there are many packs. Each group of commits and each push leaves one, and git
	 * looks for every object that it writes in all packs. To be called while no group is being written.
	 */
	async function repackIfMany(isIdle: boolean): Promise<void> {
		if (repacking || performance.now() < pausedUntilMs) return;
		const packs = (await readdir(packFolder)).filter((name) => name.endsWith(".pack")).length;
		if (packs < (isIdle ? limits.maxIdlePacks : limits.maxPacks)) return;
		// Git leaves the packs of a running fast-import out of a repack.
		await renew();
		repacking = repack();
	}

	async function repack(): Promise<void> {
		const options = { limitMs: limits.repackMs, niceness: repackNiceness };
		try {
			await measured(base, "repack", () => runGit(repository, repackArgs, options));
			// The processes would keep packs open that the repack has removed.
			catFile.renew();
			await renew();
		} catch (error) {
			log.error(error);
			pausedUntilMs = performance.now() + limits.repackMs;
		}
		repacking = null;
	}

	/** Replaces both processes: they end after all commands so far. */
	async function renew(): Promise<void> {
		const ends = [importing?.close(endCommand), moving?.close()];
		[importing, moving] = [null, null];
		await Promise.all(ends);
	}

	/** Waits for a repack, and ends both processes. To be called while no group is being written. */
	async function close(): Promise<void> {
		await repacking;
		await renew();
	}

	/** Ends both processes immediately. Commits that are not stored are lost. */
	function kill(): void {
		importing?.kill();
		moving?.kill();
		[importing, moving] = [null, null];
	}

	return { store, move, syncNames, probe, repackIfMany, renew, close, kill };
}

/** `jstest <jstest@sender.invalid> 1772625600 +0000` */
function personAt(name: string, timeMs: number): string {
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
