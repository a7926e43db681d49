import type { SyncPath } from "../../git/sync.ts";
import type { Log } from "../log.ts";
import type { StoreLimits } from "./limits.ts";

/** Operations of git whose time is measured: making commits durable, publishing a push, repacking. */
export type GitOperation = "checkpoint" | "push" | "repack";

/** Receives the duration of an operation in milliseconds. */
export type MeasureGit = (operation: GitOperation, ms: number) => void;

/** Settings and services that all parts of one local store share. */
export interface StoreBase {
	/** Path of the bare repository. */
	repository: string;
	log: Log;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	/** Syncs a file, or the names in a folder, to the disk. */
	sync: SyncPath;
	limits: StoreLimits;
	measure: MeasureGit;
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
