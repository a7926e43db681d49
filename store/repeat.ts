import { type Edit, isRefusal, type Refusal, type UsedRequest, usedBefore } from "./store.ts";

/**
 * Judges a repeated request. It gets the first answer again if it would change nothing now; otherwise it is refused as
 * used before. The method is not signed: the same signature with another method is another request, and refused.
 * @param first how the request was answered the first time
 * @returns the refusal; null if the answer is the first commit
 */
export function judgeRepeat(first: UsedRequest, method: string, outcome: Edit[] | Refusal): Refusal | null {
	if (first.method !== "" && first.method !== method) return usedBefore;
	const wasAccepted = typeof first.outcome === "string";
	if (isRefusal(outcome)) {
		// A repeated DELETE does not find the layer that the first one removed.
		if (wasAccepted && method === "DELETE" && outcome.status === 404) return null;
		// Its condition held, and does not any more, since it was carried out.
		if (wasAccepted && outcome.status === 412) return outcome.isDone ? null : outcome;
		return first.outcome === outcome.status ? outcome : usedBefore;
	}
	return wasAccepted && outcome.length === 0 ? null : usedBefore;
}
