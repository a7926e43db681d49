import type { GitOperation } from "../store/git/store.ts";
import { isRefusal, type Store } from "../store/store.ts";

/** Callbacks for the metrics of a running service. */
export interface Measures {
	/** A commit was made, for a sender's write or for the service itself. */
	commit(by: "sender" | "service"): void;
	/** An operation of git that others wait for has ended. */
	git(operation: GitOperation, ms: number): void;
	/** A layer was harvested: `changed`, `unchanged`, `dropped` or `failed`. */
	harvest(outcome: string): void;
}

/** Wraps a store and counts its commits. */
export function countCommits(store: Store, measures: Measures | null): Store {
	if (!measures) return store;
	const change: Store["change"] = async (edits, meta) => {
		const outcome = await store.change(edits, meta);
		if (!isRefusal(outcome) && outcome.changed) measures.commit(meta.request === null ? "service" : "sender");
		return outcome;
	};
	const counting: Store = {
		published: store.published,
		read: (smallkey) => store.read(smallkey),
		ids: (smallkey) => store.ids(smallkey),
		keys: (folder) => store.keys(folder),
		change,
	};
	if (store.remember) counting.remember = (used) => (store.remember as NonNullable<Store["remember"]>)(used);
	return counting;
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
