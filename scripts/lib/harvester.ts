import type { Store } from "../../api/store.ts";
import { createHarvester, type Harvester } from "../../harvest/background.ts";
import { logError, logLine } from "./log.ts";
import { askWith } from "./services.ts";
import type { Configuration } from "./settings.ts";

/** The harvester of the running service, as configured; it does nothing until it is told to. */
export function openHarvester(
	configuration: Configuration,
	store: Store,
	allKeys: () => Iterable<string>,
): Harvester {
	return createHarvester({
		store,
		ask: askWith(configuration.harvest),
		mapWkid: configuration.mapWkid,
		every: configuration.harvest.every,
		now: () => new Date(),
		allKeys,
		log: logLine,
		report: logError,
	});
}
