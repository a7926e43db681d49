import type { Variables } from "../../api/configuration.ts";
import type { Extension, RunningService, Started } from "../../api/service/extensions.ts";

/** `metrics`: null if nothing is measured. */
export function readMetrics(variables: Variables) {
	const host = variables.text("METRICS_HOST", "127.0.0.1");
	if (variables.text("METRICS_PORT", "") === "") return { metrics: null };
	return { metrics: { host, port: variables.integer("METRICS_PORT", 0, 0, 65_535) } };
}

async function startMetrics(service: RunningService<ReturnType<typeof readMetrics>>): Promise<Started> {
	const { configuration, gauges, log } = service;
	if (!configuration.metrics) return {};
	const { createMetrics, serveMetrics } = await import("./metrics.ts");
	const { observe, text } = createMetrics();
	const read = () => text(configuration.dataDir, gauges);
	const { url, close } = await serveMetrics(configuration.metrics, read, log);
	log.info({ metrics: url });
	return { observe, close };
}

export const hosting: Extension = {
	name: "hosting",
	commands: [
		[
			"deploy",
			"host",
			"put the build and the worker on Cloudflare",
			async () => (await import("./commands/deploy.ts")).run,
		],
		[
			"verify",
			"host",
			"check that a hosting serves the build",
			async () => (await import("./commands/verify.ts")).run,
		],
		[
			"backup",
			"operate",
			"copy the layers and the senders of DATA_DIR to another disk, and read the copy back",
			async () => (await import("./commands/backup.ts")).run,
		],
	],
	settings: readMetrics,
	start: startMetrics,
};
