import type { Variables } from "../../api/configuration.ts";

/** Where metrics are served; null: they are neither measured nor served. */
export interface MetricsSettings {
	metrics: { host: string; port: number } | null;
}

export function readMetrics(variables: Variables): MetricsSettings {
	const host = variables.text("METRICS_HOST", "127.0.0.1");
	if (variables.text("METRICS_PORT", "") === "") return { metrics: null };
	return { metrics: { host, port: variables.integer("METRICS_PORT", 0, 0, 65_535) } };
}
