import { type Edit, isRefusal, type Refusal, usedBefore } from "../store.ts";

/** How a signed request was answered before: with a commit, or refused with a status. */
export interface FirstAnswer {
	method: string;
	/** Null where it was accepted. */
	status: number | null;
}

/**
 * What a request that comes again is answered: as the first time where it would change nothing now, and else that it
 * was used. The method is not signed: the same signature with another method is another request.
 * @param outcome what it would do now
 * @returns null for its first commit, or a refusal
 */
export function answerRepeat(first: FirstAnswer, method: string, outcome: Edit[] | Refusal): Refusal | null {
	if (first.method !== method) return usedBefore;
	if (isRefusal(outcome)) {
		// What was removed the first time is not there the second time.
		const isStillGone = first.status === null && method === "DELETE" && outcome.status === 404;
		if (isStillGone) return null;
		return first.status === outcome.status ? outcome : usedBefore;
	}
	return first.status === null && outcome.length === 0 ? null : usedBefore;
}

/** The refusal of a request of a time whose requests are forgotten. */
export const mayBeUsed: Refusal = {
	status: 401,
	reason: "used before",
	errors: [
		"TimeStamp: this server's clock went back to a time that is over, and may have seen this: sign again",
	],
};
