import type { Variables } from "../../api/configuration.ts";

/** The settings of the harvester, the health check and their notices. */
export type HarvestSettings = ReturnType<typeof readHarvest>;

export function readHarvest(variables: Variables) {
	return {
		harvest: {
			on: variables.flag("HARVEST", true),
			/** Whether the service looks for new addresses of sick layers, and proposes repairs. */
			repair: variables.flag("REPAIR", true),
			/** Milliseconds between two harvests of one layer. */
			every: variables.span("HARVEST_EVERY", "7d"),
		},
		/** Where notices are sent, and the secret that signs them; null: none is sent. */
		notify: readNotify(variables),
	};
}

function readNotify(variables: Variables): { url: string; secret: string } | null {
	const [url, secret] = [variables.address("NOTIFY_URL"), variables.text("NOTIFY_SECRET", "")];
	if (url !== "" && secret === "") variables.problems.push("NOTIFY_SECRET: is needed with NOTIFY_URL");
	return url === "" ? null : { url, secret };
}
