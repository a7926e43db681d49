import type { RunningService, Started } from "../../api/service/extensions.ts";
import type { MetricsSettings } from "./settings.ts";

/** Measures the service and serves `GET /metrics`, if the settings say where. @throws {Error} if that port is taken */
export async function startMetrics(service: RunningService<MetricsSettings>): Promise<Started> {
	const { configuration, gauges, log } = service;
	if (!configuration.metrics) return { close: () => undefined };
	const { createMetrics } = await import("./metrics.ts");
	const metrics = createMetrics();
	const { url, close } = await metrics.serve(configuration.metrics, configuration.dataDir, gauges, log);
	return { observe: metrics.observe, welcome: () => [`Metrics: ${url}`], close };
}
