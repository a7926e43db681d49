import { requestMemoryMs, type UsedRequest } from "../store.ts";

/**
 * Remembers the signed requests that this process has answered. Those that made a commit are in the history too, where
 * other processes find them; the others are forgotten at its end.
 */
export function rememberRequests(now: () => Date) {
	/** In the order of their first use. */
	const uses = new Map<string, UsedRequest>();
	return {
		find: (request: string | null) => uses.get(request ?? ""),
		/** @returns whether the request is new */
		note(used: UsedRequest): boolean {
			for (const [request, { time }] of uses) {
				if (time + requestMemoryMs >= now().getTime()) break;
				uses.delete(request);
			}
			const isFirst = !uses.has(used.request);
			if (isFirst) uses.set(used.request, used);
			return isFirst;
		},
	};
}
