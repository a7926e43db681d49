import type { GitOperation } from "../store/git/store.ts";
import { isRefusal, type Store } from "../store/store.ts";

/** Told what a running service does, as it does it. */
export interface Measures {
	/** A commit was made: of a sender's write, or the service's own. */
	commit(by: "sender" | "service"): void;
	/** Git has ended something that others wait for. */
	git(operation: GitOperation, ms: number): void;
	/** A layer's services were asked: `changed`, `unchanged`, `dropped` or `failed`. */
	harvest(outcome: string): void;
}

/** The same store, whose commits are counted. */
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

/** How a running service is now; null where it cannot know. */
export interface Gauges {
	/** Layers that are served. */
	layers: number;
	/** Changes that wait, or are under way. */
	queue: number | null;
	/** Commits of the branch that are not served yet. */
	commitsBehind: number | null;
	/** Layers whose rendered files are not in step. */
	filesBehind: number | null;
	/** Layers that wait to be harvested. */
	harvestsWaiting: number | null;
	/** Whether `/readyz` says 200. */
	isReady: boolean;
}
