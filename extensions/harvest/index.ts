import type { Extension, RunningService } from "../../api/service/extensions.ts";
import { type HarvestSettings, readHarvest } from "./settings.ts";

export const harvest: Extension = {
	name: "harvest",
	commands: [
		[
			"harvest",
			"operate",
			"read the descriptions of layers from their services",
			async () => (await import("./commands/harvest.ts")).runHarvest,
		],
		[
			"watch-services",
			"operate",
			"check each layer as a viewer sees it, and write the sick ones into layers/health.json",
			async () => (await import("./commands/harvest.ts")).runWatch,
		],
	],
	settings: readHarvest,
	start: async (service: RunningService<HarvestSettings>) =>
		(await import("./harvester/open.ts")).startHarvest(service),
};
