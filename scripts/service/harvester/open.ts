import type { Store } from "../../../api/store.ts";
import { harvestLayer } from "../../../harvest/harvest-layer.ts";
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
	const { harvest, mapWkid } = configuration;
	const harvestOptions = { ask: askWith(harvest), mapWkid };
	return createHarvester({
		store,
		harvest: (registration, signal) => harvestLayer(registration, harvestOptions, signal),
		everyMs: harvest.every,
		now: () => new Date(),
		allKeys,
		log: logLine,
		report: logError,
	});
}
