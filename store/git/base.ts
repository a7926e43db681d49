import type { Log } from "../store.ts";

export const defaultLimits = {
	/** For git to write a group or to read an object, and for a sync. */
	silenceMs: 15_000,
	lockMs: 2_000,
	pollMs: 200,
	/** How long a failure is reported while no change succeeds. */
	failureMs: 60_000,
	maxPacks: 50,
};

export type StoreLimits = typeof defaultLimits;

/** Syncs a file, or the names in a folder. @throws {DiskTimeout} */
export type Sync = (path: string) => Promise<void>;

export interface StoreBase {
	/** Bare. `requests` beside it has the used requests. */
	repository: string;
	log: Log;
	now: () => number;
	sync: Sync;
	limits: StoreLimits;
}
