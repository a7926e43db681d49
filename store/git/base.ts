import type { SyncPath } from "../../git/sync.ts";
import type { Log } from "../log.ts";
import type { StoreLimits } from "./limits.ts";

/** What git does that others wait for: commits become durable, a push is taken in, packs are repacked. */
export type GitOperation = "checkpoint" | "push" | "repack";

/** Receives how long git took, in milliseconds. */
export type MeasureGit = (operation: GitOperation, ms: number) => void;

/** What all parts of one local store get. */
export interface StoreBase {
	/** Path of the bare repository. */
	repository: string;
	log: Log;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	/** Puts a file, or the names in a folder, on the disk. */
	sync: SyncPath;
	limits: StoreLimits;
	measure: MeasureGit;
}

/** Measures a task that succeeds. */
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
