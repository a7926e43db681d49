import type { RouteName } from "../../api/node/serve.ts";

/** Upper bounds of the histogram of answers, in milliseconds; RAMP 4.0.x gives up after 2 s. */
export const answerBoundsMs = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 5_000, 10_000];

/** Statuses are below this. */
const statuses = 600;

/** The answers of one route. */
export interface RouteCounts {
	/** By status. */
	byStatus: Float64Array;
	/** Counts by upper bound; the last one is beyond all bounds. */
	byTime: Float64Array;
	totalMs: number;
}

/**
 * Counts answers. This must be fast, since a read takes few microseconds: counts are in arrays, and labels are made only
 * when the metrics are read.
 */
export class AnswerCounts {
	readonly byRoute: { [route in RouteName]?: RouteCounts } = {};
	/** Reason → number of refused writes. */
	readonly byReason = new Map<string, number>();

	/** Counts one answer. */
	readonly add = (route: RouteName, status: number, ms: number, reason: string | undefined): void => {
		const counts = this.byRoute[route] ?? this.#addRoute(route);
		(counts.byStatus[status] as number) += 1;
		let bucket = 0;
		while (ms > (answerBoundsMs[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
		(counts.byTime[bucket] as number) += 1;
		counts.totalMs += ms;
		if (reason !== undefined) this.byReason.set(reason, (this.byReason.get(reason) ?? 0) + 1);
	};

	#addRoute(route: RouteName): RouteCounts {
		const byTime = new Float64Array(answerBoundsMs.length + 1);
		const counts = { byStatus: new Float64Array(statuses), byTime, totalMs: 0 };
		this.byRoute[route] = counts;
		return counts;
	}
}
