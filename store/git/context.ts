import type { CatFile } from "../../git/cat-file.ts";
import type { StoreBase } from "./base.ts";
import type { Branch } from "./branch.ts";
import type { WriteHealth } from "./health.ts";
import type { Packs } from "./packs.ts";
import type { UsedRequests } from "./used-requests.ts";
import type { Writer } from "./writer.ts";

/** The parts of one local store. */
export interface StoreContext extends StoreBase {
	catFile: CatFile;
	branch: Branch;
	requests: UsedRequests;
	health: WriteHealth;
	writer: Writer;
	packs: Packs;
}
