import type { Command, Extension, RunningService } from "../../api/service/extensions.ts";
import { type MetricsSettings, readMetrics } from "./metrics.ts";

const commands: readonly Command[] = [
	{
		name: "deploy",
		purpose: "host",
		summary: "put the build and the worker on Cloudflare",
		load: async () => (await import("./commands/deploy.ts")).runs.deploy,
	},
	{
		name: "verify",
		purpose: "host",
		summary: "check that a hosting serves the build",
		load: async () => (await import("./commands/verify.ts")).run,
	},
	{
		name: "workers",
		purpose: "host",
		summary: "serve as a Cloudflare Worker on this machine",
		load: async () => (await import("./commands/deploy.ts")).runs.workers,
	},
	{
		name: "backup",
		purpose: "operate",
		summary: "copy the layers and the senders of DATA_DIR to another disk, and read the copy back",
		load: async () => (await import("./commands/backup.ts")).run,
	},
];

/** Static hosting, buckets, backups and metrics. */
export const hosting: Extension = {
	name: "hosting",
	commands,
	settings: readMetrics,
	start: async (service: RunningService<MetricsSettings>) =>
		(await import("./metrics.ts")).startMetrics(service),
};
