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
import type { RequestUse, UsedRequests } from "./used-requests.ts";

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
	{ requests, health, writer }: StoreContext,
): Promise<Judged[]> {
	const judged: Judged[] = [];
	// What later ones are judged on is read meanwhile.
	for (const { meta } of group) if (meta.smallkey !== null) reader.prefetch(meta.smallkey);
	for (const pending of group) {
		const { edits, meta } = pending;
		try {
			const outcome = await edits(reader);
			const one = { pending, ...judge(meta, outcome, findFirst(meta, judged, requests), requests) };
			if (one.edits.length > 0) {
				reader.overlay(one.edits);
				one.commit = writer.commit(one.edits, meta);
			}
			judged.push(one);
		} catch (error) {
			pending.reject(error instanceof GitFailure ? health.failed(error) : error);
		}
	}
	return judged;
}

/** The signed requests among judged changes; `tip` is the commit of those that name no other. */
export function usesOf(judged: readonly Judged[], tip = ""): Promise<RequestUse[]> {
	const signed = judged.flatMap((one) => {
		const { request } = one.pending.meta;
		return request === null ? [] : [{ ...one, request }];
	});
	return Promise.all(
		signed.map(async ({ request, pending, refusal, commit }) => {
			const { method = "-", time: timeMs } = pending.meta;
			return [request, { method, timeMs, outcome: refusal?.status ?? (await commit) ?? tip }] as const;
		}),
	);
}

/** How a request was answered the first time. */
interface First {
	/** `""` where it is known by its commit alone: its method is not noted there, and only its own can take effect. */
	method: string;
	/** Its status where it was refused; null where it was accepted. */
	status: number | null;
	commit: Promise<string> | null;
}

/** The first use of a change's request, in the same group or before; null where there is none. */
function findFirst({ request }: Meta, judged: readonly Judged[], requests: UsedRequests): First | null {
	if (request === null) return null;
	const earlier = judged.find(({ pending }) => pending.meta.request === request);
	if (earlier) {
		const { pending, refusal, commit } = earlier;
		return { method: pending.meta.method ?? "-", status: refusal?.status ?? null, commit };
	}
	const use = requests.find(request);
	if (!use) return null;
	const { method, outcome } = use;
	if (typeof outcome === "number") return { method, status: outcome, commit: null };
	return { method, status: null, commit: Promise.resolve(outcome) };
}

/**
 * Judges one change.
 * @param outcome what it would do now
 * @param first how its request was answered before, if it was
 */
function judge(
	{ request, method = "-", time }: Meta,
	outcome: Edit[] | Refusal,
	first: First | null,
	requests: UsedRequests,
): Omit<Judged, "pending"> {
	const refused = (refusal: Refusal) => ({ edits: [], refusal, commit: null });
	if (first) {
		const refusal = judgeRepeat(first, method, outcome);
		return refusal ? refused(refusal) : { edits: [], refusal, commit: first.commit };
	}
	if (isRefusal(outcome)) return refused(outcome);
	if (request !== null && outcome.length > 0 && requests.isForgotten(time)) return refused(mayBeUsed);
	return { edits: outcome, refusal: null, commit: null };
}

/**
 * What a request that comes again is answered: as the first time where it would change nothing now, and otherwise that
 * it was used. The method is not signed: the same signature with another method is another request.
 * @returns a refusal; null for its first commit
 */
function judgeRepeat(first: First, method: string, outcome: Edit[] | Refusal): Refusal | null {
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
