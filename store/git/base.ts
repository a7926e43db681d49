import { open } from "node:fs/promises";
import type { Log } from "../store.ts";

export const branchName = "main";

/** Limits of a local store. Times are in milliseconds, by the monotonic clock. */
export const defaultLimits = {
	/** Longest time of a git process that writes a group, longest silence of one that reads, and longest sync. */
	silenceMs: 15_000,
	maintenanceMs: 600_000,
	/** How long git waits for the lock of a ref. */
	lockMs: 2_000,
	pollMs: 200,
	probeMs: 5_000,
	/** From so many packs on, an idle store repacks, and a busy one from four times as many on. */
	maxPacks: 50,
	/** A store is idle if its last change is so long ago. */
	restMs: 3_000,
};

export type StoreLimits = typeof defaultLimits;

/** Operations of git whose time is measured: making commits durable, publishing a push, maintenance. */
export type GitOperation = "checkpoint" | "push" | "repack";

export interface StoreBase {
	/** Path of the bare repository, which is made if it does not exist. `requests` beside it has the used requests. */
	repository: string;
	/** Gets repairs, pushed commits, and errors that no answer shows. */
	log: Log;
	now: () => number;
	/** Syncs a file, or the names in a folder, to the disk. @throws {DiskTimeout} if that takes too long */
	sync: (path: string) => Promise<void>;
	limits: StoreLimits;
	measure: (operation: GitOperation, ms: number) => void;
}

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
