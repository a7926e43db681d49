import type { Extension } from "../../api/service/extensions.ts";

export const importing: Extension = {
	name: "import",
	commands: [
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
};
