import type { SyncPath } from "../../git/sync.ts";
import type { Log } from "../log.ts";

/** Name of the branch that is served. */
export const branchName = "main";

/** Limits of a local store. Times are in milliseconds, by the monotonic clock. */
export const defaultLimits = {
	/** Longest silence of a git process whose answer is awaited. After it, the process is ended and replaced. */
	silenceMs: 15_000,
	/** Longest time of a repack, which runs in the background. */
	repackMs: 600_000,
	/** Longest time that a change waits before it is judged. */
	waitMs: 25_000,
	/** Longest time that `close` waits for running changes. */
	closeMs: 40_000,
	/** A lock that stays unchanged for so long was left by a killed process. */
	lockMs: 2_000,
	/** How often the branch is checked for pushes. */
	pollMs: 200,
	/** How often an idle writer is checked, and a failed store is retried. */
	probeMs: 5_000,
	/** From so many packs on, an idle store repacks; from `maxPacks` on, a busy one does, too. */
	maxIdlePacks: 50,
	maxPacks: 200,
	/** A store is idle if its last change is so long ago. */
	restMs: 3_000,
};

export type StoreLimits = typeof defaultLimits;

/** Operations of git whose time is measured: making commits durable, publishing a push, repacking. */
export type GitOperation = "checkpoint" | "push" | "repack";

/** Settings and services that all parts of one local store share. */
export interface StoreBase {
	/** Path of the bare repository, which is made if it does not exist. `requests` beside it has the used requests. */
	repository: string;
	/** Gets repairs, pushed commits, and errors that no answer shows. */
	log: Log;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	/** Syncs a file, or the names in a folder, to the disk. */
	sync: SyncPath;
	limits: StoreLimits;
	/** Receives the duration of an operation in milliseconds. */
	measure: (operation: GitOperation, ms: number) => void;
}

/** Runs a task, and measures its duration if it succeeds. */
export async function measured<T>(
	{ measure }: StoreBase,
	operation: GitOperation,
	task: () => Promise<T>,
): Promise<T> {
	const start = performance.now();
	const result = await task();
	measure(operation, performance.now() - start);
	return result;
}
