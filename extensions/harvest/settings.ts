import type { Variables } from "../../api/configuration.ts";
import type { Configuration } from "../../api/service/settings.ts";

export type HarvestSettings = ReturnType<typeof readHarvest>;

export function readHarvest(variables: Variables) {
	const harvest = {
		on: variables.flag("HARVEST", true),
		repair: variables.flag("REPAIR", true),
		every: variables.span("HARVEST_EVERY", "7d"),
	};
	const [url, secret] = [variables.address("NOTIFY_URL"), variables.text("NOTIFY_SECRET", "")];
	if (url !== "" && secret === "") variables.problems.push("NOTIFY_SECRET: is needed with NOTIFY_URL");
	return { harvest, notify: url === "" ? null : { url, secret } };
}

/** Without secrets, for a process that parses untrusted answers. */
export function childEnvironment(configuration: Configuration): NodeJS.ProcessEnv {
	const { dataDir, mapWkid, publicUrl } = configuration;
	const { allowPrivate, httpsProxy, noProxy } = configuration.network;
	const { PATH, NODE_EXTRA_CA_CERTS } = process.env;
	return {
		PATH,
		DATA_DIR: dataDir,
		MAP_WKID: String(mapWkid),
		PUBLIC_URL: publicUrl,
		HARVEST_ALLOW_PRIVATE: allowPrivate ? "on" : "off",
		...(httpsProxy && { HTTPS_PROXY: httpsProxy }),
		...(noProxy && { NO_PROXY: noProxy }),
		...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
	};
}
