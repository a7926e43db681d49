import type { Store } from "../../../api/store.ts";
import { askWith } from "../../harvest/layers.ts";
import { logError, logLine } from "../log.ts";
import type { Configuration } from "../settings.ts";
import { createHarvester, type Harvester } from "./harvester.ts";

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
