import type { Refresh } from "../../api/context.ts";
import type { HarvestState } from "./states.ts";

/** The dependencies on the harvester. */
export interface RefreshingOptions {
	allKeys: () => Iterable<string>;
	stateOf: (smallkey: string) => HarvestState | null;
	/** Milliseconds since 1970. */
	time: () => number;
	/** Queues a layer behind all others. Never rejects. */
	enqueue: (smallkey: string) => Promise<void>;
}

/** Queues layers again on request. */
export interface Refreshing {
	/** Returns at once, with the number of layers that will be looked at. */
	refresh(refresh: Refresh): number;
	/** Drops the layers that are not queued yet, and ends. */
	close(): Promise<void>;
}

/** Makes a `Refreshing`. A layer that is requested twice meanwhile is queued once. */
export function createRefreshing({ allKeys, stateOf, time, enqueue }: RefreshingOptions): Refreshing {
	const wanted = new Set<string>();
	let working: Promise<void> = Promise.resolve();

	/** The end of a layer's last harvest, 0 where it is not known; now for a waiting layer. */
	function lastTry(smallkey: string): number {
		const state = stateOf(smallkey);
		if (state === null) return 0;
		return state.state === "waiting" ? time() : state.at;
	}

	/** Whether the last harvest is older; always true after a failed one. */
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
