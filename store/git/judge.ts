import { GitFailure } from "../../git/run.ts";
import { textAt } from "../../registry/texts.ts";
import {
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	usedBefore,
} from "../store.ts";
import type { StoreContext } from "./context.ts";
import type { CommitReader } from "./reader.ts";
import type { UsedRequests } from "./used-requests.ts";

/** A change that waits for its answer. */
export interface Pending {
	edits: Edits;
	meta: Meta;
	/** When it came, by the monotonic clock. */
	sinceMs: number;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

/** What becomes of one change once its group is on the branch. */
export interface Judged {
	pending: Pending;
	/** None where it is refused, or nothing has to change. */
	edits: Edit[];
	refusal: Refusal | null;
	/** Id of the commit that holds the state asked for; null: the branch's last one, or a refusal. */
	commit: Promise<string> | null;
}

/**
 * Judges the changes of a group in their order, each on what the ones before it will have changed, and hands the
 * commits to git. A change whose own code fails is rejected, and is not among the results.
 * @param reader the state that they are built on; then the state with all of them
 */
export async function judgeGroup(
	group: readonly Pending[],
	reader: CommitReader,
	{ requests, health, writer, now }: StoreContext,
): Promise<Judged[]> {
	const judged: Judged[] = [];
	// What later ones are judged on is read meanwhile.
	for (const { meta } of group) if (meta.smallkey !== null) reader.prefetch(meta.smallkey);
	for (const pending of group) {
		const { edits, meta } = pending;
		try {
			const outcome = await edits(reader);
			const isSame = (one: Judged) => one.pending.meta.request === meta.request;
			const one = judge(pending, outcome, requests, meta.request === null ? undefined : judged.find(isSame));
			if (one.edits.length > 0) {
				reader.overlay(one.edits);
				one.commit = writer.commit({ edits: one.edits, meta, committed: now() });
			}
			judged.push(one);
		} catch (error) {
			pending.reject(error instanceof GitFailure ? health.failed(error) : error);
		}
	}
	return judged;
}

/**
 * Judges one change.
 * @param outcome what it would do now
 * @param earlier the same request in the same group
 */
export function judge(
	pending: Pending,
	outcome: Edit[] | Refusal,
	requests: UsedRequests,
	earlier?: Judged,
): Judged {
	const { request, method = "-", time } = pending.meta;
	const use = request === null || earlier ? null : requests.find(request);
	if (earlier || use) {
		const firstMethod = earlier ? (earlier.pending.meta.method ?? "-") : (use?.method ?? "-");
		const status = earlier
			? (earlier.refusal?.status ?? null)
			: typeof use?.outcome === "number"
				? use.outcome
				: null;
		const refusal = judgeRepeat({ method: firstMethod, status }, method, outcome);
		const commit = earlier ? earlier.commit : Promise.resolve(String(use?.outcome));
		return { pending, edits: [], refusal, commit: refusal ? null : commit };
	}
	if (isRefusal(outcome)) return { pending, edits: [], refusal: outcome, commit: null };
	const isForgotten = request !== null && outcome.length > 0 && requests.isForgotten(time);
	if (isForgotten) return { pending, edits: [], refusal: mayBeUsed, commit: null };
	return { pending, edits: outcome, refusal: null, commit: null };
}

/**
 * What a request that comes again is answered: as the first time where it would change nothing now, and otherwise that
 * it was used. The method is not signed: the same signature with another method is another request.
 * @param first how it was answered: its status where it was refused, null where it was accepted
 * @returns a refusal; null for its first commit
 */
function judgeRepeat(
	first: { method: string; status: number | null },
	method: string,
	outcome: Edit[] | Refusal,
): Refusal | null {
	// The method of a request that is known by its commit alone is not noted there; only its own method can take effect.
	if (first.method !== "" && first.method !== method) return usedBefore;
	if (isRefusal(outcome)) {
		// What was removed the first time is not there the second time.
		const isStillGone = first.status === null && method === "DELETE" && outcome.status === 404;
		if (isStillGone) return null;
		return first.status === outcome.status ? outcome : usedBefore;
	}
	return first.status === null && outcome.length === 0 ? null : usedBefore;
}

/** The refusal of a request of a time whose requests are forgotten. */
const mayBeUsed: Refusal = {
	status: 401,
	reason: "used before",
	errors: [textAt("TimeStamp", "clock")],
};
