import type { Log } from "../store.ts";

export const defaultLimits = {
	/** Longest time of a git process that writes a group, of a read of one object, and of a sync. */
	silenceMs: 15_000,
	lockMs: 2_000,
	pollMs: 200,
	/** How long a failure is named after which no change succeeds. */
	failureMs: 60_000,
	/** From so many packs on, an idle store repacks, and a busy one from four times as many on. */
	maxPacks: 50,
	restMs: 3_000,
};

export type StoreLimits = typeof defaultLimits;

/** Syncs a file, or the names in a folder, to the disk. @throws {DiskTimeout} */
export type Sync = (path: string) => Promise<void>;

/** What the parts of a store have in common. */
export interface StoreBase {
	/** Path of the bare repository, which is made if it does not exist. `requests` beside it has the used requests. */
	repository: string;
	log: Log;
	now: () => number;
	sync: Sync;
	limits: StoreLimits;
}
