import { type Store, StoreBusy } from "../store/store.ts";

/** Shortest time between two probes after a failure, in milliseconds. */
const probeMs = 30_000;
/** Any folder of layers, which a probe reads. */
const probeFolder = "00";

/** A store on GitHub whose write health is known. */
export interface WatchedStore {
	store: Store;
	/** Why the last write or probe failed, in one line; null where it succeeded. */
	state: () => string | null;
}

/**
 * Tracks whether writes reach GitHub. After a failure, reading the state probes GitHub from time to time, so that the
 * service becomes ready again without a write.
 * @param now the clock, in milliseconds
 */
export function watchStore(store: Store, now: () => number): WatchedStore {
	let problem: string | null = null;
	let askedMs = Number.NEGATIVE_INFINITY;

	async function noted<T>(task: Promise<T>): Promise<T> {
		try {
			const result = await task;
			problem = null;
			return result;
		} catch (error) {
			problem = error instanceof StoreBusy ? error.message : "GitHub fails: see the log";
			askedMs = now();
			throw error;
		}
	}

	function state(): string | null {
		if (problem !== null && now() - askedMs >= probeMs) {
			askedMs = now();
			void noted(store.keys(probeFolder)).catch(() => undefined);
		}
		return problem;
	}

	const change: Store["change"] = (edits, meta) => noted(store.change(edits, meta));
	return { store: { ...store, change }, state };
}
