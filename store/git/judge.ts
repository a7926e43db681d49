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
	/** When it arrived, by the monotonic clock. */
	sinceMs: number;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

/** The result of judging one change. */
export interface Judged {
	pending: Pending;
	/** Empty if the change is refused, or changes nothing. */
	edits: Edit[];
	refusal: Refusal | null;
	/** Id of the commit with the requested state; null for the branch's last commit, or a refusal. */
	commit: Promise<string> | null;
}

/**
 * Judges the changes of a group in their order, each on the state after the ones before it, and passes the commits to
 * git. If the function of a change throws, the change is rejected and left out of the results.
 * @param reader the state before the group; the edits of the group are added to it
 */
export async function judgeGroup(
	group: readonly Pending[],
	reader: CommitReader,
	{ requests, health, writer }: StoreContext,
): Promise<Judged[]> {
	const judged: Judged[] = [];
	// Reads the state of all changes in advance, while the first ones are judged.
	for (const { meta } of group) if (meta.smallkey !== null) reader.prefetch(meta.smallkey);
	for (const pending of group) {
		const { edits, meta } = pending;
		try {
			const outcome = await edits(reader);
			const result = { pending, ...judge(meta, outcome, findFirst(meta, judged, requests), requests) };
			if (result.edits.length > 0) {
				reader.overlay(result.edits);
				result.commit = writer.commit(result.edits, meta);
			}
			judged.push(result);
		} catch (error) {
			pending.reject(error instanceof GitFailure ? health.failed(error) : error);
		}
	}
	return judged;
}

/** The signed requests among judged changes. @param tip the commit of changes without a commit of their own */
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
interface FirstUse {
	/** `""` if only its commit is known. A repeat with another method would still change something, and is refused. */
	method: string;
	/** The status of a refusal; null if the request was accepted. */
	status: number | null;
	commit: Promise<string> | null;
}

/** The first use of a change's request, in the same group or before; null if there is none. */
function findFirst({ request }: Meta, judged: readonly Judged[], requests: UsedRequests): FirstUse | null {
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
 * @param outcome what the change would do now
 * @param first how its request was answered the first time; null for a new request
 */
function judge(
	{ request, method = "-", time }: Meta,
	outcome: Edit[] | Refusal,
	first: FirstUse | null,
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
 * Judges a repeated request. It gets the first answer again if it would change nothing now; otherwise it is refused as
 * used before. The method is not signed: the same signature with another method is another request, and refused.
 * @returns the refusal; null if the answer is the first commit
 */
function judgeRepeat(first: FirstUse, method: string, outcome: Edit[] | Refusal): Refusal | null {
	if (first.method !== "" && first.method !== method) return usedBefore;
	if (isRefusal(outcome)) {
		// A repeated DELETE does not find the layer that the first one removed.
		const isStillGone = first.status === null && method === "DELETE" && outcome.status === 404;
		if (isStillGone) return null;
		return first.status === outcome.status ? outcome : usedBefore;
	}
	return first.status === null && outcome.length === 0 ? null : usedBefore;
}

/** The refusal of a request from a time whose requests are forgotten. */
const mayBeUsed: Refusal = {
	status: 401,
	reason: "used before",
	errors: [textAt("TimeStamp", "clock")],
};
