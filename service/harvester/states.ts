/** The state of a layer's harvest. Times are in milliseconds since 1970. */
export type HarvestState =
	/** Queued or running. */
	| { state: "waiting" }
	/** At least one service answered; `findings` name what is missing. */
	| { state: "done"; at: number; findings: string[]; nextTry: number }
	/** No service answered; the previous description is kept. */
	| { state: "failed"; at: number; findings: string[]; nextTry: number };

/** The end of one harvest. */
export interface Ended {
	state: "done" | "failed";
	at: number;
	/** What the services report as wrong, each as `<JSON pointer>: <text>`. */
	findings: string[];
}

/** The states of all harvests since the start. */
export interface HarvestStates {
	/** The layer was queued. */
	wait(smallkey: string): void;
	/** The harvest has begun. The layer may be queued again meanwhile. */
	begin(smallkey: string): void;
	/** The layer is gone, or no longer harvested. */
	forget(smallkey: string): void;
	/** The result was dropped, because the layer was changed or removed meanwhile. */
	drop(smallkey: string): void;
	/** A harvest has ended. @param nextTry time of the retry; null: when the layer is next due */
	end(smallkey: string, ended: Ended, nextTry: number | null): void;
	/** The state of a layer; null where it was not harvested since the start. */
	of(smallkey: string): HarvestState | null;
}

/** Most remembered layers: those of the newest harvests. */
const maxRemembered = 20_000;

/**
 * Makes a `HarvestStates`.
 * @param nextMoment when a layer is next due, in milliseconds since 1970
 */
export function createStates(nextMoment: (smallkey: string) => number): HarvestStates {
	const waiting = new Set<string>();
	const underWay = new Set<string>();
	const ended = new Map<string, Ended & { nextTry: number | null }>();
	return {
		wait(smallkey) {
			waiting.add(smallkey);
		},
		begin(smallkey) {
			waiting.delete(smallkey);
			underWay.add(smallkey);
		},
		forget(smallkey) {
			waiting.delete(smallkey);
			underWay.delete(smallkey);
			ended.delete(smallkey);
		},
		drop(smallkey) {
			underWay.delete(smallkey);
			ended.delete(smallkey);
		},
		end(smallkey, end, nextTry) {
			underWay.delete(smallkey);
			// Deleted first, so that the map is ordered by age.
			ended.delete(smallkey);
			ended.set(smallkey, { ...end, nextTry });
			const [oldest] = ended.keys();
			if (ended.size > maxRemembered && oldest !== undefined) ended.delete(oldest);
		},
		of(smallkey) {
			if (waiting.has(smallkey) || underWay.has(smallkey)) return { state: "waiting" };
			const last = ended.get(smallkey);
			return last ? { ...last, nextTry: last.nextTry ?? nextMoment(smallkey) } : null;
		},
	};
}
