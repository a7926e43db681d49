/** What is known of the harvest of one layer. Times are in milliseconds since 1970. */
export type HarvestState =
	/** It waits for its turn, or is under way. */
	| { state: "waiting" }
	/** Its services answered; `findings` where one of the two did not, or not wholly. */
	| { state: "done"; at: number; findings: string[]; nextTry: number }
	/** No service of it answered; what was known of it stays. */
	| { state: "failed"; at: number; findings: string[]; nextTry: number };

/** How one harvest ended, in the publisher's words. */
export interface Ended {
	state: "done" | "failed";
	at: number;
	/** What the services said that is wrong, each as `<JSON pointer>: <text>`. */
	findings: string[];
}

/** What is known of the harvests of a running service. */
export interface HarvestStates {
	/** The layer waits for its turn. */
	wait(smallkey: string): void;
	/** The layer's turn has come. It may wait again meanwhile: it was registered anew. */
	begin(smallkey: string): void;
	/** There is nothing to be asked for the layer: it is gone, or of another type. */
	forget(smallkey: string): void;
	/** What was found was of no use: the layer was changed or removed meanwhile. */
	drop(smallkey: string): void;
	/** A harvest has ended. @param nextTry when it is asked again; null: when its moment in the period comes */
	end(smallkey: string, ended: Ended, nextTry: number | null): void;
	/** null where nothing is known: the layer was not asked for since the start. */
	of(smallkey: string): HarvestState | null;
}

/** Most layers whose last harvest is remembered: the newest. */
const maxRemembered = 20_000;

/**
 * Remembers the harvests since the start.
 * @param nextMoment when a layer's own moment in the period comes, in milliseconds since 1970
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
			// Set anew, so that the oldest is the first of the map.
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
