import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { StoreBase } from "./base.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { runGit } from "./commands/run.ts";
import { clearLeftovers } from "./repository.ts";

/** Longest time of a repack, and the pause after one that failed. */
const maintenanceMs = 600_000;

/** A repack takes as long as some ten groups. */
const busyFactor = 4;

/**
 * Each group of commits and each push leaves a pack. With a commit graph the last commit of a layer is found in 0.01 s in
 * place of 0.1 to 0.8 s (40,000 commits).
 */
export class Maintenance {
	readonly #ending = new AbortController();
	#running: Promise<void> | null = null;
	#pausedUntilMs = Number.NEGATIVE_INFINITY;

	/** @param catFile may keep packs open that a repack has removed */
	constructor(
		readonly base: StoreBase,
		readonly catFile: CatFile,
	) {}

	async startIfDue(isIdle: boolean): Promise<void> {
		if (this.#running || performance.now() < this.#pausedUntilMs) return;
		const { repository, limits, log } = this.base;
		const objects = join(repository, "objects");
		const packs = (await readdir(join(objects, "pack"))).filter((name) => name.endsWith(".pack"));
		// A history may come without a graph, such as from a backup or of an earlier version.
		const isNew = isIdle && !existsSync(join(objects, "info", "commit-graph"));
		if (!isNew && packs.length < limits.maxPacks * (isIdle ? 1 : busyFactor)) return;
		// The files of a repack that runs look like those that a killed one left.
		await clearLeftovers(repository).catch(log.error);
		this.#running = this.#maintain();
	}

	async close(): Promise<void> {
		this.#ending.abort();
		await this.#running;
	}

	async #maintain(): Promise<void> {
		const { signal } = this.#ending;
		const git = (...args: string[]) => runGit(this.base.repository, args, { limitMs: maintenanceMs, signal });
		try {
			await git("repack", "-q", "-d", "-l", "--geometric=2", "--threads=1");
			await git("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress");
			await this.catFile.renew();
		} catch (error) {
			if (!signal.aborted) this.base.log.error(error);
			this.#pausedUntilMs = performance.now() + maintenanceMs;
		}
		this.#running = null;
	}
}
