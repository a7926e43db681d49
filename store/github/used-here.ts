import { judgeRepeat } from "../repeat.ts";
import {
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	requestMemoryMs,
	type UsedRequest,
} from "../store.ts";

/**
 * Remembers the signed requests that this process has answered. Those that made a commit are in the history too, where
 * other processes find them; the others are forgotten at its end.
 */
export function rememberRequests(now: () => Date) {
	/** In the order of their first use. `held`: why the store refused what the edits would have changed. */
	const uses = new Map<string, UsedRequest & { held?: Refusal }>();

	/** @returns whether the request is new */
	function note(used: UsedRequest & { held?: Refusal }): boolean {
		for (const [request, { time }] of uses) {
			if (time + requestMemoryMs >= now().getTime()) break;
			uses.delete(request);
		}
		const isFirst = !uses.has(used.request);
		if (isFirst) uses.set(used.request, used);
		return isFirst;
	}

	/** Makes a change, unless its request was answered before. */
	async function once(
		edits: Edits,
		{ request, method = "-", time }: Meta,
		change: (edits: Edits) => Promise<Commit | Refusal>,
	): Promise<Commit | Refusal> {
		if (request === null) return change(edits);
		let proposed: Awaited<ReturnType<Edits>> = [];
		const outcome = await change(async (state) => {
			proposed = await edits(state);
			const first = uses.get(request);
			if (!first) return proposed;
			return judgeRepeat(first, method, (changesSomething(proposed) && first.held) || proposed) ?? [];
		});
		const refusal = isRefusal(outcome) ? outcome : null;
		const held = refusal && changesSomething(proposed) ? { held: refusal } : {};
		note({ request, method, time, outcome: isRefusal(outcome) ? outcome.status : outcome.commit, ...held });
		return outcome;
	}

	return { note, once };
}

function changesSomething(proposed: Edit[] | Refusal): boolean {
	return !isRefusal(proposed) && proposed.length > 0;
}
