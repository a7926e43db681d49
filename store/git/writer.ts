import { existsSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { authorMail, commitMessage, type Edit, type Meta, StoreBusy, serviceAuthor } from "../store.ts";
import { measured, type StoreBase } from "./base.ts";
import { commitCommands, importArgs, importConfig } from "./commands/commits.ts";
import { GitFailure, GitKilled, GitTimeout, gitText, runGit } from "./commands/run.ts";

/** Git's own maintenance has a lower priority than answers to readers and publishers. */
const niceness = 5;

/** For row `put-cpu`: a repack takes as long as some ten groups. */
const busyFactor = 4;

/**
 * Returns git's maintenance of the repository. Each group of commits and each push leaves a pack, and with a commit graph
 * the last commit of a layer is found in 0.01 s in place of 0.1 to 0.8 s (40,000 commits).
 * @param after runs after a repack: processes may keep packs open that it has removed
 */
export function createMaintenance(base: StoreBase, after: () => Promise<void>) {
	const { repository, limits, log } = base;
	const objects = join(repository, "objects");
	const ending = new AbortController();
	let running: Promise<void> | null = null;
	let pausedUntilMs = Number.NEGATIVE_INFINITY;

	async function maintain(): Promise<void> {
		const options = { limitMs: limits.maintenanceMs, niceness, signal: ending.signal };
		const git = (...args: string[]) => runGit(repository, args, options);
		try {
			await measured(base, "repack", () => git("repack", "-q", "-d", "-l", "--geometric=2", "--threads=1"));
			await git("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress");
			await after();
		} catch (error) {
			if (!ending.signal.aborted) log.error(error);
			pausedUntilMs = performance.now() + limits.maintenanceMs;
		}
		running = null;
	}

	async function startIfDue(isIdle: boolean): Promise<void> {
		if (running || performance.now() < pausedUntilMs) return;
		const packs = (await readdir(join(objects, "pack"))).filter((name) => name.endsWith(".pack"));
		// A history may come without a graph, such as from a backup or of an earlier version.
		const isNew = isIdle && !existsSync(join(objects, "info", "commit-graph"));
		if (isNew || packs.length >= limits.maxPacks * (isIdle ? 1 : busyFactor)) running = maintain();
	}

	async function close(): Promise<void> {
		ending.abort();
		await running;
	}

	return { startIfDue, close };
}

/** The branch does not have the commit on which a group was built, or another process holds its lock. */
export class BranchHeld extends GitFailure {
	override name = "BranchHeld";
}

interface Change {
	edits: readonly Edit[];
	meta: Meta;
}

/** Returns functions that write groups of commits. */
export function createImport({ repository, log, now, sync, limits }: StoreBase) {
	/** Folders with names that may not be on the disk yet: of the last group, or of failed ones. */
	const unsynced = new Set<string>();

	/**
	 * Stores commits on a branch as one pack, each on the one before it, and moves the branch to the last one.
	 * @param from the branch's commit; null: it is new, and so is the history
	 * @returns their ids. They are durable once `persist` has resolved.
	 * @throws {BranchHeld} if the branch has moved, or another process holds its lock
	 * @throws {StoreBusy} if the name of another branch excludes this one: `a` excludes `a/b`, and `a/b` excludes `a`
	 * @throws {GitFailure} if git fails; the branch may have the commits
	 */
	async function importGroup(
		branch: string,
		from: string | null,
		group: readonly Change[],
	): Promise<string[]> {
		const ref = `refs/heads/${branch}`;
		const committer = personAt(serviceAuthor, now());
		const input = group.flatMap(({ edits, meta }, index) => {
			const author = personAt(meta.author, meta.time);
			const commit = { author, committer, message: commitMessage(meta), edits };
			return commitCommands(ref, index === 0 ? from : null, commit);
		});
		unsynced.add(join(repository, "objects", "pack"));
		for (let folder = dirname(ref); folder !== "refs"; folder = dirname(folder))
			unsynced.add(join(repository, folder));
		const config = [...importConfig, `core.filesRefLockTimeout=${limits.lockMs}`];
		const options = { input: [...input, "done\n"], config, limitMs: limits.silenceMs };
		const output = await gitText(repository, importArgs, options).catch((error) => fail(branch, error));
		return output.split("\n");
	}

	/** @throws {BranchHeld | StoreBusy | GitFailure} the reason, from git's message in refs.c or builtin/fast-import.c */
	async function fail(branch: string, error: Error): Promise<never> {
		const { message } = error;
		const [, other] = /'refs\/heads\/([^']+)' exists; cannot create/.exec(message) ?? [];
		if (other) throw new StoreBusy("read-only", 60, `the branch ${other} is in the way of ${branch}`);
		const [, lock] = /Unable to create '(.+\.lock)': File exists/.exec(message) ?? [];
		const isEnded = error instanceof GitTimeout || error instanceof GitKilled;
		const locks = isEnded
			? [join(repository, "HEAD.lock"), join(repository, `refs/heads/${branch}.lock`)]
			: [];
		for (const path of lock ? [lock] : locks) await clearLock(path);
		throw lock || /cannot lock ref|does not contain/.test(message) ? new BranchHeld(message) : error;
	}

	/**
	 * Removes a lock that a killed process left: it stays the same file for longer than git ever holds one. Its modification
	 * time does not help, because the system's clock may have been changed.
	 */
	async function clearLock(path: string): Promise<void> {
		const look = () =>
			stat(path, { bigint: true }).then(
				({ ino, ctimeNs }) => `${ino} ${ctimeNs}`,
				() => null,
			);
		const before = await look();
		if (before === null) return;
		await sleep(limits.lockMs);
		if ((await look()) !== before) return;
		await rm(path, { force: true });
		log.warn(`${join(path)}: removed, since a killed process left it`);
	}

	/** Syncs the names that git has made: it syncs files, but not folders. */
	async function persist(): Promise<void> {
		for (const folder of unsynced) {
			await sync(folder);
			unsynced.delete(folder);
		}
	}

	return {
		importGroup,
		persist,
		/** Whether an earlier group may be on a branch although it failed. */
		get isUncertain() {
			return unsynced.size > 0;
		},
	};
}

/** `jstest <jstest@sender.invalid> 1772625600 +0000` */
function personAt(name: string, timeMs: number): string {
	return `${name} <${authorMail(name)}> ${Math.floor(timeMs / 1000)} +0000`;
}
