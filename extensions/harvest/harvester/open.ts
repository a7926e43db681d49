import { repositoryPath } from "../../../api/service/data-dir.ts";
import { serviceLog } from "../../../api/service/log.ts";
import { readHealth } from "../../../api/service/repository.ts";
import type { Configuration } from "../../../api/service/settings.ts";
import type { Store } from "../../../store/store.ts";
import type { Metrics } from "../../hosting/metrics.ts";
import { createNotifier } from "../notify.ts";
import { createHarvester } from "./harvester.ts";
import { createWatcher, searchProcess, startRepairs } from "./health.ts";
import { systemTimers } from "./schedule.ts";
import { createHarvestThreads, threadLimits } from "./threads.ts";

/** The harvester of a running service, with the watcher and the search for repairs. */
export type ServiceHarvester = ReturnType<typeof openHarvester>;

/** Starts the harvester, the watcher and the search for repairs. @param allKeys all smallkeys, in any order */
export function openHarvester(
	configuration: Configuration,
	store: Store,
	allKeys: () => Iterable<string>,
	metrics: Metrics | null = null,
) {
	const { harvest, mapWkid, publicUrl: site, dataDir, notify: target } = configuration;
	const notifier =
		target && createNotifier({ target, now: () => new Date(), warn: (line) => serviceLog.warn(line) });
	const threads = createHarvestThreads({
		entry: new URL("./thread-entry.mjs", import.meta.url),
		settings: { harvest, mapWkid, site },
		limits: threadLimits,
		timers: systemTimers,
	});
	const repository = repositoryPath(dataDir);
	const common = {
		store,
		everyMs: harvest.every,
		now: () => new Date(),
		allKeys,
		log: serviceLog,
		timers: systemTimers,
		readHealth: () => readHealth(repository),
		notify: notifier?.notify,
	};
	const watcher = createWatcher({ ...common, watch: threads.watch });
	const harvester = createHarvester({
		...common,
		harvest: threads.harvest,
		count: metrics?.harvest,
		check: watcher.check,
	});
	harvester.start();
	const search = searchProcess(configuration);
	const endRepairs = harvest.repair ? startRepairs({ ...common, repository, search }) : null;
	return {
		...harvester,
		lastCheckOf: watcher.lastCheckOf,
		close: async () => {
			await Promise.all([harvester.close(), threads.close(), endRepairs?.()]);
			await watcher.close();
			notifier?.close();
		},
	};
}
