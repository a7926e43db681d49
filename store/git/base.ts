import { open } from "node:fs/promises";
import type { Log } from "../log.ts";

/** Name of the branch that is served. */
export const branchName = "main";

/** Limits of a local store. Times are in milliseconds, by the monotonic clock. */
export const defaultLimits = {
	/** Longest time of a git process that writes a group, longest silence of one that reads, and longest sync. */
	silenceMs: 15_000,
	/** Longest time of the maintenance, which runs in the background. */
	maintenanceMs: 600_000,
	/** How long git waits for the lock of a ref. */
	lockMs: 2_000,
	/** How often the branch is checked for pushes. */
	pollMs: 200,
	/** How often a failed store checks whether it can be written again. */
	probeMs: 5_000,
	/** From so many packs on, an idle store repacks, and a busy one from four times as many on. */
	maxPacks: 50,
	/** A store is idle if its last change is so long ago. */
	restMs: 3_000,
};

export type StoreLimits = typeof defaultLimits;

/** Operations of git whose time is measured: making commits durable, publishing a push, maintenance. */
export type GitOperation = "checkpoint" | "push" | "repack";

/** Settings and services that all parts of one local store share. */
export interface StoreBase {
	/** Path of the bare repository, which is made if it does not exist. `requests` beside it has the used requests. */
	repository: string;
	/** Gets repairs, pushed commits, and errors that no answer shows. */
	log: Log;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	/** Syncs a file, or the names in a folder, to the disk. @throws {DiskTimeout} if that takes too long */
	sync: (path: string) => Promise<void>;
	limits: StoreLimits;
	/** Receives the duration of an operation in milliseconds. */
	measure: (operation: GitOperation, ms: number) => void;
}

/** Runs a task, and measures its duration if it succeeds. */
export async function measured<T>({ measure }: StoreBase, operation: GitOperation, task: () => Promise<T>) {
	const start = performance.now();
	const result = await task();
	measure(operation, performance.now() - start);
	return result;
}

/** Errors of folders that cannot be synced by themselves: network file systems, Windows, a parent of another user. */
const unsupported = ["EACCES", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

/**
 * Syncs a file, or the names in a folder, to the disk. Git syncs the files that it writes, but not the folders in which
 * it renames them. After a power cut, such a file may be missing (fsync(2)).
 */
export async function syncPath(path: string): Promise<void> {
	try {
		await using file = await open(path, "r");
		await file.sync();
	} catch (error) {
		if (!unsupported.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
	}
}

/** The disk did not finish a sync within the time limit. */
export class DiskTimeout extends Error {
	override name = "DiskTimeout";
}

/** Returns a function that syncs a path. @throws {DiskTimeout} if that takes longer than `maxMs` milliseconds */
export function syncWithin(maxMs: number, sync: StoreBase["sync"]): StoreBase["sync"] {
	return (path) =>
		new Promise((resolve, reject) => {
			const late = new DiskTimeout(`${path}: was not on the disk within ${maxMs / 1000} s`);
			const timer = setTimeout(reject, maxMs, late);
			sync(path)
				.then(resolve, reject)
				.finally(() => clearTimeout(timer));
		});
}
