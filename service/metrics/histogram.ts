import type { Histogram, Registry } from "prom-client";

/** The counts of a histogram. */
export interface CountedTimes {
	labels: Record<string, string>;
	/** Counts by upper bound; the last one is beyond all bounds. */
	counts: ArrayLike<number>;
	totalMs: number;
}

/** The options of a histogram. */
export interface HistogramOptions {
	name: string;
	help: string;
	boundsMs: readonly number[];
	/** Reads its present counts. */
	read: () => CountedTimes[];
}

/**
 * Adds a histogram that is counted elsewhere and read on demand. prom-client's own resolves its labels at each
 * observation.
 */
export function addHistogram(registry: Registry, options: HistogramOptions): void {
	const { name, help } = options;
	const get = async () => ({
		name,
		help,
		type: "histogram",
		aggregator: "sum",
		values: options.read().flatMap((times) => valuesOf(name, options.boundsMs, times)),
	});
	// A registry needs only these members of a metric.
	registry.registerMetric({ name, help, get } as unknown as Histogram);
}

function valuesOf(name: string, boundsMs: readonly number[], { labels, counts, totalMs }: CountedTimes) {
	const values = [];
	let sum = 0;
	for (let bucket = 0; bucket <= boundsMs.length; bucket += 1) {
		sum += counts[bucket] ?? 0;
		const boundMs = boundsMs[bucket];
		const le = boundMs === undefined ? "+Inf" : boundMs / 1_000;
		values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: sum });
	}
	values.push({ metricName: `${name}_sum`, labels, value: totalMs / 1_000 });
	values.push({ metricName: `${name}_count`, labels, value: sum });
	return values;
}
