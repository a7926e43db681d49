import type { Extension, RunningService } from "../../api/service/extensions.ts";
import type { RefreshLayers } from "./older-writes.ts";

type ImportService = RunningService & { refresh?: RefreshLayers | null };

export const importing: Extension = {
	name: "import",
	commands: [
		[
			"register",
			"publish",
			"send a folder of registrations to a service, or store it in one commit",
			async () => (await import("./commands/register.ts")).register,
		],
		[
			"import",
			"move",
			"import the layers and senders of an older service from a dump of its database",
			async () => (await import("./commands/import.ts")).run,
		],
		[
			"compare",
			"move",
			"show the differences of the same layers on two services",
			async () => (await import("./compare/compare.ts")).run,
		],
	],
	start: async ({ refresh = null }: ImportService) => ({
		writes: (await import("./older-writes.ts")).olderWrites(refresh),
	}),
};
