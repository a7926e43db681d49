import { type Store, StoreBusy } from "../store/store.ts";

/** How often GitHub is asked again at most while it could not be used, in milliseconds. */
const probeMs = 30_000;
/** A folder of layers like any other: it is only asked for. */
const probeFolder = "00";

/** A store on GitHub that is watched. */
export interface WatchedStore {
	store: Store;
	/** Why layers cannot be changed now, in one line; null where they can. */
	state: () => string | null;
}

/**
 * Watches whether changes reach GitHub. Once one did not, whoever asks for the state has GitHub asked again from time
 * to time: nobody has to write for the service to be ready again.
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
