import type { CatFile } from "../../git/cat-file.ts";
import type { SyncPath } from "../../git/sync.ts";
import type { Trees } from "../../git/trees.ts";
import type { WrittenBlobs } from "../../git/written-blobs.ts";
import type { Branch } from "./branch.ts";
import type { Condition } from "./condition.ts";
import type { StoreLimits } from "./limits.ts";
import type { MeasureGit } from "./measure.ts";
import type { Packs } from "./packs.ts";
import type { Served } from "./served.ts";
import type { Turns } from "./turns.ts";
import type { UsedRequests } from "./used-requests.ts";

/** What the rooms of one local store share. */
export interface Parts {
	/** Path of the bare repository. */
	repository: string;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	/** Puts a file, or the names in a folder, on the disk. */
	sync: SyncPath;
	limits: StoreLimits;
	catFile: CatFile;
	trees: Trees;
	/** The files that were written here since the start: registrations among them are in the canonical form. */
	written: WrittenBlobs;
	branch: Branch;
	served: Served;
	requests: UsedRequests;
	packs: Packs;
	condition: Condition;
	turns: Turns;
	/** Told how long git took. */
	measure: MeasureGit;
}
