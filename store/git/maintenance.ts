import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { measured, type StoreBase } from "./base.ts";
import { runGit } from "./commands/run.ts";

/** Git's own maintenance has a lower priority than answers to readers and publishers. */
const niceness = 5;

/** For row `put-cpu`: a repack takes as long as some ten groups. */
const busyFactor = 4;

/** From so many bytes of packs on, a repository has a history that is worth a commit graph, in bytes. */
const minGraphBytes = 1 << 20;

/**
 * Returns git's maintenance of the repository. Each group of commits and each push leaves a pack, and with a commit graph
 * the last commit of a layer is found in 0.01 s in place of 0.1 to 0.8 s (40,000 commits).
 * @param after runs after a repack: processes may keep packs open that it has removed
 */
export function createMaintenance(base: StoreBase, after: () => Promise<void>) {
	const { repository, limits, log } = base;
	const packFolder = join(repository, "objects", "pack");
	let running: Promise<void> | null = null;
	/** The end of a pause after a failure. */
	let pausedUntilMs = Number.NEGATIVE_INFINITY;
	let isGraphChecked = false;

	async function maintain(): Promise<void> {
		const git = (...args: string[]) => runGit(repository, args, { limitMs: limits.maintenanceMs, niceness });
		try {
			await measured(base, "repack", () => git("repack", "-q", "-d", "-l", "--geometric=2", "--threads=1"));
			await git("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress");
			await after();
		} catch (error) {
			log.error(error);
			pausedUntilMs = performance.now() + limits.maintenanceMs;
		}
		running = null;
	}

	/** Whether a longer history has no commit graph yet, such as that of a backup or of an earlier version. */
	async function lacksGraph(packs: readonly string[]): Promise<boolean> {
		if (isGraphChecked) return false;
		isGraphChecked = true;
		const sizes = packs.map((name) =>
			stat(join(packFolder, name)).then(
				({ size }) => size,
				() => 0,
			),
		);
		const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
		const graph = join(repository, "objects", "info", "commit-graph");
		return bytes >= minGraphBytes && (await stat(graph).catch(() => null)) === null;
	}

	/** Starts the maintenance in the background if it is needed. */
	async function startIfDue(isIdle: boolean): Promise<void> {
		if (running || performance.now() < pausedUntilMs) return;
		const packs = (await readdir(packFolder)).filter((name) => name.endsWith(".pack"));
		if (packs.length >= limits.maxPacks * (isIdle ? 1 : busyFactor) || (await lacksGraph(packs)))
			running = maintain();
	}

	return { startIfDue, ended: async () => running };
}
