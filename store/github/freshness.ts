import type { Head } from "./head.ts";
import { Conflict } from "./refusal.ts";

/** How long a read may lag behind a write. */
const maxLagMs = 10_000;

/** Tells a head that GitHub shows from before a change of ours. */
export interface Freshness {
	/** Says that a commit is no longer a branch's head: a change of ours followed it. */
	replaced(commit: string): void;
	/**
	 * @returns `head`
	 * @throws {Conflict} where a change of ours has followed it moments ago: deciding on it would undo that
	 */
	check<T extends Head | null>(head: T): T;
}

/** GitHub may answer a read from a copy that a write has not reached yet. */
export function createFreshness(now: () => Date): Freshness {
	const old = new Map<string, number>();
	return {
		replaced(commit) {
			const time = now().getTime();
			for (const [other, since] of old) if (since + maxLagMs < time) old.delete(other);
			old.set(commit, time);
		},
		check(head) {
			const since = old.get(head?.commit ?? "");
			if (since === undefined || since + maxLagMs < now().getTime()) return head;
			throw new Conflict("GitHub: a read lags behind the last change", true);
		},
	};
}
