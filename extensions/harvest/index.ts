import type { Variables } from "../../api/configuration.ts";
import type { Extension, RunningService } from "../../api/service/extensions.ts";
import type { HarvestSettings } from "./harvester/open.ts";

export function readHarvest(variables: Variables): HarvestSettings {
	const harvest = {
		on: variables.flag("HARVEST", true),
		repair: variables.flag("REPAIR", true),
		every: variables.span("HARVEST_EVERY", "7d"),
	};
	const [url, secret] = [variables.address("NOTIFY_URL"), variables.text("NOTIFY_SECRET", "")];
	if (url !== "" && secret === "") variables.problems.push("NOTIFY_SECRET: is needed with NOTIFY_URL");
	return { harvest, notify: url === "" ? null : { url, secret } };
}

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
