import type { HarvestLine } from "./commit.ts";

/** The state of a layer's harvest. Times are in milliseconds since 1970. */
export type HarvestState =
	/** Queued or running. */
	| { state: "waiting" }
	/** `done`: at least one service answered. `failed`: no service answered, and the previous description stays. */
	| { state: "done" | "failed"; at: number; findings: string[]; nextTry: number };

/** The harvests of a layer since the start of the harvester. */
export interface Track {
	/** Whether the layer is queued, or is about to be. */
	isWaiting: boolean;
	/** Whether a harvest of the layer is running; the layer may be queued again meanwhile. */
	isRunning: boolean;
	/** The end of the last harvest. A `retryAt` of null means that the layer is harvested again when it is next due. */
	last: { state: "done" | "failed"; at: number; findings: string[]; retryAt: number | null } | null;
	/** Failed attempts since the last success. */
	failures: number;
	/** The timer of the retry. */
	retry: unknown;
}

/**
 * All harvests of a start in one line of the log, so that they do not flood it: the number of layers, of each outcome and
 * of layers with findings, and in `read` the command that prints the findings.
 */
export type StartLine = Record<"harvested" | HarvestLine["outcome"] | "findings", number> & { read: string };
