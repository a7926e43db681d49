import type { Branch } from "./branch.ts";
import type { UsedRequests } from "./used-requests.ts";

/** Finds out which changes took effect that were under way when an earlier process ended. */
export async function settleIntents(requests: UsedRequests, branch: Branch): Promise<void> {
	const { intents } = requests;
	// The bases are commits of one branch, the oldest first.
	for (const { base } of intents) {
		const found = await branch.requestsSince(base);
		if (!found) continue;
		for (const { request, method, timeMs } of intents) {
			const commit = found.get(request);
			if (commit !== undefined) requests.add(request, { method, timeMs, outcome: commit });
		}
		return;
	}
}
