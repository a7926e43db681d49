import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { measured, type StoreBase } from "./base.ts";
import { runGit } from "./commands/run.ts";

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
