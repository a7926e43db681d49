import type { Extension } from "../../api/service/extensions.ts";
import type { RepairingService } from "./start.ts";

export const repair: Extension = {
	name: "repair",
	commands: [
		[
			"repair",
			"operate",
			"look for the services of layers that stay sick, and propose what to register in their place",
			async () => (await import("./commands/repair.ts")).run,
		],
	],
	start: async (service: RepairingService) => (await import("./start.ts")).startRepair(service),
};
