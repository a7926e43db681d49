import { runGit } from "../../git/run.ts";
import { healthPath } from "../../registry/health.ts";
import type { Store } from "../../store/store.ts";
import { logError, logLine } from "../log.ts";
import type { Measures } from "../measures.ts";
import { repositoryPath } from "../open-store.ts";
import type { Configuration } from "../settings.ts";
import { createHarvester, type Harvester } from "./harvester.ts";
import { createRepairs, searchProcess } from "./repairs.ts";
import { createHarvestThreads, threadLimits } from "./threads.ts";
import { systemTimers } from "./timers.ts";
import { createWatcher, type Watcher } from "./watcher.ts";

/** The harvester of the running service, combined with the watcher. */
export interface ServiceHarvester
	extends Pick<Harvester, "follow" | "start" | "refresh" | "stateOf" | "close" | "waiting"> {
	sightOf: Watcher["sightOf"];
}

/** Opens the harvester and the watcher of the running service. They are idle until their first call. */
export function openHarvester(
	configuration: Configuration,
	store: Store,
	allKeys: () => Iterable<string>,
	measures: Measures | null = null,
): ServiceHarvester {
	const { harvest, mapWkid, dataDir } = configuration;
	const threads = createHarvestThreads({
		entry: new URL("./thread-entry.mjs", import.meta.url),
		settings: { harvest, mapWkid },
		limits: threadLimits,
		timers: systemTimers,
	});
	const common = {
		store,
		everyMs: harvest.every,
		now: () => new Date(),
		allKeys,
		report: logError,
		timers: systemTimers,
	};
	const harvester = createHarvester({
		...common,
		harvest: threads.harvest,
		log: logLine,
		count: (outcome) => measures?.harvest(outcome),
	});
	const repository = repositoryPath(dataDir);
	const watcher = createWatcher({
		...common,
		watch: threads.watch,
		readHealth: () => readHealth(repository),
	});
	const repairs = createRepairs({
		...common,
		repository,
		readHealth: () => readHealth(repository),
		search: searchProcess(configuration),
	});
	return {
		follow(smallkey) {
			harvester.follow(smallkey);
			watcher.follow(smallkey);
		},
		start() {
			harvester.start();
			watcher.start();
			if (harvest.repair) repairs.start();
		},
		refresh: harvester.refresh,
		stateOf: harvester.stateOf,
		sightOf: watcher.sightOf,
		get waiting() {
			return harvester.waiting;
		},
		async close() {
			await Promise.all([harvester.close(), watcher.close(), repairs.close()]);
			await threads.close();
		},
	};
}

/** Text of `layers/health.json` on the branch; null where there is none. @throws {Error} where git fails */
async function readHealth(repository: string): Promise<string | null> {
	const branch = "refs/heads/main";
	const listed = await runGit(repository, ["ls-tree", branch, "--", healthPath]);
	if (listed.length === 0) return null;
	return (await runGit(repository, ["cat-file", "blob", `${branch}:${healthPath}`])).toString("utf8");
}
