import type { Store } from "../../../api/store.ts";
import { logError, logLine } from "../log.ts";
import type { Configuration } from "../settings.ts";
import { createHarvester, type Harvester } from "./harvester.ts";
import { createHarvestThreads, threadLimits } from "./threads.ts";
import { systemTimers } from "./timers.ts";

/** The harvester of the running service, as configured; it does nothing until it is told to. */
export function openHarvester(
	{ harvest, mapWkid }: Configuration,
	store: Store,
	allKeys: () => Iterable<string>,
): Harvester {
	const threads = createHarvestThreads({
		entry: new URL("./thread-entry.mjs", import.meta.url),
		settings: { harvest, mapWkid },
		limits: threadLimits,
		timers: systemTimers,
	});
	return createHarvester({
		store,
		harvest: threads.harvest,
		end: threads.close,
		everyMs: harvest.every,
		now: () => new Date(),
		allKeys,
		log: logLine,
		report: logError,
	});
}
