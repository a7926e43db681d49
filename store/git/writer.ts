import { dirname, join } from "node:path";
import { textOf } from "../../registry/texts.ts";
import { authorMail, commitMessage, type Edit, type Meta, StoreBusy, serviceAuthor } from "../store.ts";
import type { StoreBase } from "./base.ts";
import { commitCommands, importArgs, importConfig, moveCommand, storeCommand } from "./commands/commits.ts";
import { lineAt, startProcess } from "./commands/process.ts";
import { GitFailure } from "./commands/run.ts";

/** The branch does not have the commit on which a group was built, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	override name = "BranchHeld";
}

/** A change to commit. */
interface Change {
	edits: readonly Edit[];
	meta: Meta;
}

/**
 * Starts a `git fast-import` for one group of commits: it stores them as one pack, and then moves a branch. To be ended by
 * `move` or `kill`.
 */
export function startImport({ repository, now, sync, limits }: StoreBase) {
	const git = startProcess(repository, importArgs, lineAt, limits.silenceMs, importConfig);

	/**
	 * Stores commits on the disk, each on the one before it. No branch has them yet.
	 * @param from the parent of the first one, or null
	 * @returns their ids
	 * @throws {GitFailure | DiskTimeout} if git fails, or the disk does not answer
	 */
	async function store(from: string | null, group: readonly Change[]): Promise<string[]> {
		const committer = personAt(serviceAuthor, now());
		const answers = group.map(({ edits, meta }, index) => {
			const author = personAt(meta.author, meta.time);
			const commit = { author, committer, message: commitMessage(meta), edits };
			return git.ask(commitCommands(index === 0 ? from : null, commit));
		});
		const [ids] = await Promise.all([Promise.all(answers), git.ask([storeCommand])]);
		// The pack's name is on the disk before a branch needs it.
		await sync(join(repository, "objects", "pack"));
		return ids;
	}

	/**
	 * Moves a branch forward to a stored commit. Git syncs the branch's file, but not its folder: see `syncNames`.
	 * @throws {BranchHeld} if the branch has moved aside, or another process holds its lock
	 * @throws {StoreBusy} if the name of another branch excludes this one: `a` excludes `a/b`, and `a/b` excludes `a`
	 * @throws {GitTimeout} if git does not answer
	 */
	async function move(branch: string, to: string): Promise<void> {
		try {
			await git.finish(moveCommand(branch, to));
		} catch (error) {
			const { message } = error as Error;
			// Git's messages are in refs.c and, for a branch that has moved, in builtin/fast-import.c.
			const [, other] = /'refs\/heads\/([^']+)' exists; cannot create/.exec(message) ?? [];
			if (other) throw new StoreBusy(textOf("branch-in-way", other, branch), 60);
			throw /cannot lock ref|does not contain/.test(message) ? new BranchHeld(message) : error;
		}
	}

	return { store, move, kill: () => git.kill() };
}

/** Syncs the folders on the path to a branch's file, so that its name is on the disk. */
export async function syncNames({ repository, sync }: StoreBase, branch: string): Promise<void> {
	for (let folder = dirname(`refs/heads/${branch}`); folder !== "refs"; folder = dirname(folder))
		await sync(join(repository, folder));
}

/** `jstest <jstest@sender.invalid> 1772625600 +0000` */
function personAt(name: string, timeMs: number): string {
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
