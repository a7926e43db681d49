import type { Histogram, Registry } from "prom-client";

/** Numbers of one histogram that are counted elsewhere. */
export interface CountedTimes {
	labels: Record<string, string>;
	/** By the first bound that holds them; the last number is of those beyond all. */
	counts: ArrayLike<number>;
	totalMs: number;
}

/** What a histogram says of itself. */
export interface HistogramOptions {
	name: string;
	help: string;
	boundsMs: readonly number[];
	/** Its numbers now. */
	read: () => CountedTimes[];
}

/**
 * A histogram whose numbers are counted elsewhere and handed over when it is read: prom-client has one only that looks
 * for its labels at each observation.
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
	// A registry asks no more of a metric than this.
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
