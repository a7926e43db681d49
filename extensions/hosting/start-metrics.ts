import type { Variables } from "../../api/configuration.ts";
import type { RunningService, Started } from "../../api/service/extensions.ts";

/** Where metrics are served; null: they are neither measured nor served. */
export interface MetricsSettings {
	metrics: { host: string; port: number } | null;
}

export function readMetrics(variables: Variables): MetricsSettings {
	const host = variables.text("METRICS_HOST", "127.0.0.1");
	if (variables.text("METRICS_PORT", "") === "") return { metrics: null };
	return { metrics: { host, port: variables.integer("METRICS_PORT", 0, 0, 65_535) } };
}

/** Measures the service and serves `GET /metrics`, if the settings say where. @throws {Error} if that port is taken */
export async function startMetrics(service: RunningService<MetricsSettings>): Promise<Started> {
	const { configuration, gauges, log } = service;
	if (!configuration.metrics) return { close: () => undefined };
	const { createMetrics } = await import("./metrics.ts");
	const metrics = createMetrics();
	const { url, close } = await metrics.serve(configuration.metrics, configuration.dataDir, gauges, log);
	return { observe: metrics.observe, welcome: () => [`Metrics: ${url}`], close };
}
