import type { GitOperation } from "../store/git/measure.ts";
import { isRefusal, type Store } from "../store/store.ts";

/** Callbacks for the metrics of a running service. */
export interface Measures {
	/** A commit was made, for a sender's write or for the service itself. */
	commit(by: "sender" | "service"): void;
	/** An operation of git that others wait for has ended. */
	git: (operation: GitOperation, ms: number) => void;
	/** A layer was harvested: `changed`, `unchanged`, `dropped` or `failed`. */
	harvest(outcome: string): void;
}

/** What watches a running service. */
export interface Reports {
	measures?: Measures | null;
	/** Why the senders are not as their file says, in one line; null where they are. */
	sendersState?: (() => string | null) | undefined;
}

/** The same store, which counts its commits from now on. */
export function countCommits<S extends Store>(store: S, measures: Measures | null = null): S {
	const change = store.change.bind(store);
	if (measures) {
		store.change = async (edits, meta) => {
			const outcome = await change(edits, meta);
			const by = meta.request === null ? "service" : "sender";
			if (!isRefusal(outcome) && outcome.changed) measures.commit(by);
			return outcome;
		};
	}
	return store;
}

/** The present state of a running service; null where it is not known. */
export interface Gauges {
	/** Served layers. */
	layers: number;
	/** Waiting and running changes. */
	queue: number | null;
	/** Commits of the branch that are not served yet. */
	commitsBehind: number | null;
	/** Layers whose rendered files are outdated. */
	filesBehind: number | null;
	/** Layers that wait to be harvested. */
	harvestsWaiting: number | null;
	/** Whether `/readyz` says 200. */
	isReady: boolean;
}
