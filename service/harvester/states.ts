import type { HarvestLine } from "./commit.ts";

/** The state of a layer's harvest. Times are in milliseconds since 1970. */
export type HarvestState =
	/** Queued or running. */
	| { state: "waiting" }
	/** `done`: at least one service answered. `failed`: none did, and the previous description is kept. */
	| { state: "done" | "failed"; at: number; findings: string[]; nextTry: number };

/** What is known of a layer since the start of the harvester. */
export interface Track {
	/** Whether it is queued, or will be. */
	isWaiting: boolean;
	/** Whether it is being harvested; it may be queued again meanwhile. */
	isRunning: boolean;
	/** The end of its last harvest, with the time of the retry; null: it is harvested again when it is next due. */
	last: { state: "done" | "failed"; at: number; findings: string[]; retryAt: number | null } | null;
	/** Failed attempts since the last one that succeeded. */
	failures: number;
	/** The timer of the retry. */
	retry: unknown;
}

/**
 * The harvests of a start, as one line of the log, so that they do not flood it: how many layers, with which outcome, how
 * many have findings, and the command that prints those.
 */
export type StartLine = Record<"harvested" | HarvestLine["outcome"] | "findings", number> & { read: string };
