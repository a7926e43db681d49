import { type Problem, problemAt } from "../registry/texts.ts";
import type { readerOf } from "./reader.ts";
import type { Commit, Decide, Edit, Meta, Reader, Refusal, UsedRequest } from "./store.ts";
import type { UsedRequests } from "./used-requests.ts";

export function isRefusal<T extends object>(outcome: T): outcome is Extract<T, { errors: unknown }> {
	return "errors" in outcome;
}

function refuse(status: number, problem: Problem): Refusal {
	return { status, errors: [problem] };
}

export const usedBefore = refuse(401, problemAt("Authorization", "signature-used"));

const mayBeUsed = refuse(401, problemAt("TimeStamp", "clock"));

/** Whether a review differs from the served state in a layer. */
export async function isProposed(smallkey: string | null, review: Reader, served: Reader): Promise<boolean> {
	if (smallkey === null) return true;
	const [proposed, stored] = await Promise.all([review.ids(smallkey), served.ids(smallkey)]);
	return proposed?.registration !== stored?.registration;
}

export interface Waiting {
	/** Another sender, whose change waits on the same branch. */
	holder: string | null;
	/** Waiting smallkeys, at least all spellings of this one. */
	spellings(smallkey: string): Promise<string[]>;
}

async function refuseWaiting({ smallkey }: Meta, now: Reader, { holder, spellings }: Waiting) {
	if (holder !== null) return refuseOther(holder);
	if (smallkey === null || (await now.ids(smallkey)) !== null) return null;
	// Only one of them can be accepted.
	const isTwin = (other: string) => other !== smallkey && other.toLowerCase() === smallkey.toLowerCase();
	const twin = (await spellings(smallkey)).find(isTwin);
	return twin === undefined ? null : refuseTwin(smallkey, twin);
}

export function refuseOther(holder: string): Refusal {
	return refuse(409, problemAt("smallkey", "waits-of-other", holder));
}

export function refuseTwin(smallkey: string, twin: string): Refusal {
	return refuse(409, problemAt("smallkey", "case-twin", smallkey, twin));
}

function changesFiles(decision: unknown): decision is Edit[] {
	return Array.isArray(decision) && decision.length > 0;
}

export interface Change {
	decide: Decide;
	meta: Meta;
}

type Uses = Pick<UsedRequests, "find" | "mayHave">;

/** `error`: of this change alone. */
export type Decision = Edit[] | Refusal | { error: unknown };

/** Null: none yet. */
export type Outcome = Commit | Exclude<Decision, Edit[]> | null;

/** Decides each change on the state that the earlier ones leave. @param now gets the edits */
export async function decideGroup(
	changes: readonly Change[],
	now: ReturnType<typeof readerOf>,
	waiting: Waiting | null,
	used: Uses,
): Promise<Decision[]> {
	const uses = new Map<string | null, UsedRequest>();
	const find: Uses["find"] = (request) => uses.get(request) ?? used.find(request);
	const mayHave: Uses["mayHave"] = (time) => used.mayHave(time);
	const decisions: Decision[] = [];
	for (const change of changes) {
		try {
			const decision = await decideChange(change, now, waiting, { find, mayHave });
			decisions.push(decision);
			if (Array.isArray(decision)) now.overlay(decision);
			const answer = isRefusal(decision) ? decision : { commit: "", changed: true };
			for (const use of usesOf(change.meta, answer)) uses.set(use.request, find(use.request) ?? use);
		} catch (error) {
			decisions.push({ error });
		}
	}
	return decisions;
}

export function stepsOf(changes: readonly Change[], decisions: readonly Decision[]) {
	return changes.flatMap(({ meta }, index) => {
		const edits = decisions[index];
		return changesFiles(edits) ? [{ meta, edits }] : [];
	});
}

/** @param commits of the decisions with edits */
export function outcomesOf(
	decisions: readonly Decision[],
	head: string,
	commits: readonly string[],
): Outcome[] {
	const left = commits.values();
	let commit = head;
	return decisions.map((decision) => {
		if (!Array.isArray(decision)) return decision;
		const changed = decision.length > 0;
		if (changed) commit = left.next().value as string;
		return { commit, changed };
	});
}

/** @param waiting null without a review @param used its requests are refused unless they change nothing */
export async function decideChange(
	{ decide, meta }: Change,
	now: Reader,
	waiting: Waiting | null,
	used: Uses,
): Promise<Edit[] | Refusal> {
	const proposed = await decide(now);
	const refusal = waiting && changesFiles(proposed) ? await refuseWaiting(meta, now, waiting) : null;
	const outcome = refusal ?? proposed;
	const first = used.find(meta.request);
	if (first) return judgeRepeat(first, meta.method ?? "-", outcome) ?? [];
	const isDoubtful = meta.request !== null && changesFiles(outcome) && used.mayHave(meta.time);
	return isDoubtful ? mayBeUsed : outcome;
}

function judgeRepeat(first: UsedRequest, method: string, outcome: Edit[] | Refusal): Refusal | null {
	if (first.method !== "?" && first.method !== method) return usedBefore;
	const wasAccepted = typeof first.outcome === "string";
	if (isRefusal(outcome)) {
		// Already removed.
		if (wasAccepted && method === "DELETE" && outcome.status === 404) return null;
		// The condition held the first time.
		if (wasAccepted && outcome.status === 412) return outcome.isDone ? null : outcome;
		return first.outcome === outcome.status ? outcome : usedBefore;
	}
	return wasAccepted && outcome.length === 0 ? null : usedBefore;
}

/** Empty if the change is not signed, or has no answer. */
export function usesOf({ request, method = "-", time }: Meta, answer: Outcome = null): UsedRequest[] {
	if (request === null || answer === null || "error" in answer) return [];
	const outcome = isRefusal(answer) ? answer.status : answer.commit;
	return [{ request, method, time, outcome }];
}
