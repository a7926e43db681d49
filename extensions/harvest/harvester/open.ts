import { repositoryPath } from "../../../api/service/data-dir.ts";
import type { RunningService, Started } from "../../../api/service/extensions.ts";
import { readHealth } from "../../../api/service/repository.ts";
import { eachInSlices } from "../../../publish/slices.ts";
import { createLayerParts } from "../layer-parts.ts";
import { createNotifier, type Notice } from "../notify.ts";
import { childEnvironment, type HarvestSettings } from "../settings.ts";
import { createHarvester } from "./harvester.ts";
import { createWatcher } from "./health.ts";
import { createHarvestProcess } from "./process.ts";
import { againUntil } from "./rules.ts";
import { systemTimers } from "./schedule.ts";

export type ServiceHarvester = ReturnType<typeof openHarvester>;

export function openHarvester(
	{
		configuration,
		store,
		smallkeys,
		log,
		observe,
	}: Pick<RunningService<HarvestSettings>, "configuration" | "store" | "smallkeys" | "log" | "observe">,
	againUntilMs = 0,
) {
	const { harvest, dataDir, notify: target } = configuration;
	const notifier =
		target && createNotifier({ target, now: () => new Date(), warn: (line) => log.warn(line) });
	const child = createHarvestProcess({
		module: new URL("./child.ts", import.meta.url),
		environment: childEnvironment(configuration),
	});
	const repository = repositoryPath(dataDir);
	const common = {
		store,
		everyMs: harvest.every,
		now: () => new Date(),
		allKeys: smallkeys,
		log,
		timers: systemTimers,
		readHealth: () => readHealth(repository),
		notify: notifier?.notify,
	};
	const watcher = createWatcher({ ...common, watch: child.watch });
	const harvester = createHarvester({
		...common,
		harvest: child.harvest,
		againUntilMs,
		quietMs: 200,
		count: (outcome) => observe({ kind: "harvest", outcome }),
		check: watcher.check,
	});
	harvester.start();
	return {
		...harvester,
		lastCheckOf: watcher.lastCheckOf,
		notify: notifier?.notify,
		close: async () => {
			const closed = harvester.close();
			child.close();
			await closed;
			await watcher.close();
			notifier?.close();
		},
	};
}

export interface HarvestService {
	notify?: ((notice: Notice) => unknown) | undefined;
}

/** Starts the harvest of a service whose layers are on this machine; with `HARVEST=off` only the status of layers has it. */
export async function startHarvest(service: RunningService<HarvestSettings>): Promise<Started> {
	if (service.repository === null) return { close: () => undefined };
	if (!service.configuration.harvest.on)
		return { layer: createLayerParts(service, null), close: () => undefined };
	const againUntilMs = await againUntil(service.configuration.dataDir, Date.now(), service.log);
	const harvester = openHarvester(service, againUntilMs);
	return {
		provides: { notify: harvester.notify },
		changed: (_commit, smallkeys) => void eachInSlices(smallkeys, harvester.follow),
		layer: createLayerParts(service, harvester),
		lastLook: (smallkey) => harvester.lastCheckOf(smallkey)?.at ?? null,
		refresh: harvester.refresh,
		gauges: () => ({ harvestsWaiting: harvester.waiting() }),
		close: harvester.close,
	};
}
