import type { Extension } from "../../api/service/extensions.ts";

export const importing: Extension = {
	name: "import",
	commands: [
		{
			name: "import",
			purpose: "move",
			summary: "import the layers and senders of an older service from a dump of its database",
			load: async () => (await import("./commands/import.ts")).run,
		},
		{
			name: "compare",
			purpose: "move",
			summary: "show the differences of the same layers on two services",
			load: async () => (await import("./compare/compare.ts")).run,
		},
	],
};
