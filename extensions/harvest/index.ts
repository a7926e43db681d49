import type { Extension, RunningService } from "../../api/service/extensions.ts";
import { type HarvestSettings, readHarvest } from "./settings.ts";

export const harvest: Extension = {
	name: "harvest",
	commands: [
		{
			name: "harvest",
			purpose: "operate",
			summary: "read the descriptions of layers from their services",
			load: async () => (await import("./commands/harvest.ts")).runHarvest,
		},
		{
			name: "watch-services",
			purpose: "operate",
			summary: "check each layer as a viewer sees it, and write the sick ones into layers/health.json",
			load: async () => (await import("./commands/harvest.ts")).runWatch,
		},
	],
	settings: readHarvest,
	start: async (service: RunningService<HarvestSettings>) =>
		(await import("./harvester/open.ts")).startHarvest(service),
};
