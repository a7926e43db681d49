import type { Variables } from "../../api/configuration.ts";
import type { Command, Extension, RunningService } from "../../api/service/extensions.ts";
import type { Configuration } from "../../api/service/settings.ts";

const commands: readonly Command[] = [
	{
		name: "check-services",
		purpose: "review",
		summary: "check that the services behind the layers have what the registrations say",
		load: async () => (await import("./commands/harvest.ts")).runs["check-services"],
	},
	{
		name: "harvest",
		purpose: "operate",
		summary: "read the descriptions of layers from their services",
		load: async () => (await import("./commands/harvest.ts")).runs.harvest,
	},
	{
		name: "watch-services",
		purpose: "operate",
		summary: "check each layer as a viewer sees it, and write the sick ones into layers/health.json",
		load: async () => (await import("./commands/harvest.ts")).runs["watch-services"],
	},
];

export const harvest: Extension = {
	name: "harvest",
	commands,
	settings: readHarvest,
	start: async (service: RunningService<HarvestSettings>) =>
		(await import("./harvester/open.ts")).startHarvest(service),
};

export type HarvestSettings = ReturnType<typeof readHarvest>;

export function readHarvest(variables: Variables) {
	return {
		harvest: {
			on: variables.flag("HARVEST", true),
			repair: variables.flag("REPAIR", true),
			every: variables.span("HARVEST_EVERY", "7d"),
		},
		notify: readNotify(variables),
	};
}

function readNotify(variables: Variables): { url: string; secret: string } | null {
	const [url, secret] = [variables.address("NOTIFY_URL"), variables.text("NOTIFY_SECRET", "")];
	if (url !== "" && secret === "") variables.problems.push("NOTIFY_SECRET: is needed with NOTIFY_URL");
	return url === "" ? null : { url, secret };
}

/** Without secrets, for a process that parses untrusted answers. */
export function childEnvironment(configuration: Configuration): NodeJS.ProcessEnv {
	const { dataDir, mapWkid, publicUrl } = configuration;
	const { allowPrivate, httpsProxy, noProxy } = configuration.network;
	const { PATH, NODE_EXTRA_CA_CERTS } = process.env;
	return {
		...{ PATH, DATA_DIR: dataDir, MAP_WKID: String(mapWkid), PUBLIC_URL: publicUrl },
		HARVEST_ALLOW_PRIVATE: allowPrivate ? "on" : "off",
		...(httpsProxy && { HTTPS_PROXY: httpsProxy }),
		...(noProxy && { NO_PROXY: noProxy }),
		...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
	};
}
