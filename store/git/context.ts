import type { CatFile } from "../../git/cat-file.ts";
import type { SyncPath } from "../../git/sync.ts";
import type { Log } from "../log.ts";
import type { Branch } from "./branch.ts";
import type { WriteHealth } from "./health.ts";
import type { StoreLimits } from "./limits.ts";
import type { MeasureGit } from "./measure.ts";
import type { Packs } from "./packs.ts";
import type { UsedRequests } from "./used-requests.ts";
import type { Writer } from "./writer.ts";

/** What the parts of one local store share. */
export interface StoreContext {
	/** Path of the bare repository. */
	repository: string;
	log: Log;
	/** The clock: milliseconds since 1970. */
	now: () => number;
	/** Puts a file, or the names in a folder, on the disk. */
	sync: SyncPath;
	limits: StoreLimits;
	catFile: CatFile;
	branch: Branch;
	requests: UsedRequests;
	health: WriteHealth;
	writer: Writer;
	packs: Packs;
	measure: MeasureGit;
}
