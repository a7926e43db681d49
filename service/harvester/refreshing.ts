import type { Refresh } from "../../api/context.ts";
import type { HarvestState } from "./states.ts";

/** What asking services anew needs from the harvester. */
export interface RefreshingOptions {
	allKeys: () => Iterable<string>;
	stateOf: (smallkey: string) => HarvestState | null;
	/** Milliseconds since 1970. */
	time: () => number;
	/** Puts a layer behind what already waits. Never rejects. */
	enqueue: (smallkey: string) => Promise<void>;
}

/** Asks services anew because somebody wants it. */
export interface Refreshing {
	/** Returns at once; how many layers will be looked at. */
	refresh(refresh: Refresh): number;
	/** Forgets the layers that were not put into the queue yet, and ends. */
	close(): Promise<void>;
}

/** Makes what asks services anew; a layer that is wanted twice meanwhile is looked at once. */
export function createRefreshing({ allKeys, stateOf, time, enqueue }: RefreshingOptions): Refreshing {
	const wanted = new Set<string>();
	let working: Promise<void> = Promise.resolve();

	/** When a layer's last harvest ended, 0 where that is not known; one that waits is as good as asked. */
	function lastTry(smallkey: string): number {
		const state = stateOf(smallkey);
		if (state === null) return 0;
		return state.state === "waiting" ? time() : state.at;
	}

	/** A layer that no service has answered for is as old as can be, however often it was tried. */
	function isOlder(smallkey: string, ageMs: number): boolean {
		return stateOf(smallkey)?.state === "failed" || lastTry(smallkey) <= time() - ageMs;
	}

	async function work(): Promise<void> {
		for (const smallkey of wanted) {
			wanted.delete(smallkey);
			await enqueue(smallkey);
		}
	}

	return {
		refresh({ olderThanMs, maxLayers, isWanted }) {
			let smallkeys = [...allKeys()].filter(isWanted);
			if (olderThanMs !== null) smallkeys = smallkeys.filter((one) => isOlder(one, olderThanMs));
			if (maxLayers !== null) {
				smallkeys = smallkeys.sort((a, b) => lastTry(a) - lastTry(b)).slice(0, maxLayers);
			}
			for (const smallkey of smallkeys) wanted.add(smallkey);
			working = working.then(work);
			return smallkeys.length;
		},
		async close() {
			wanted.clear();
			await working;
		},
	};
}
