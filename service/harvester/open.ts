import { runGit } from "../../git/run.ts";
import { healthPath } from "../../registry/health.ts";
import type { Store } from "../../store/store.ts";
import { serviceLog } from "../log.ts";
import type { Measures } from "../measures.ts";
import { repositoryPath } from "../open-store.ts";
import type { Configuration } from "../settings.ts";
import { Harvester } from "./harvester.ts";
import { systemTimers } from "./schedule.ts";
import { threadLimits } from "./thread.ts";
import { HarvestThreads } from "./threads.ts";
import { Watcher } from "./watcher.ts";

/** The harvester of the running service, combined with the watcher. */
export interface ServiceHarvester
	extends Pick<Harvester, "follow" | "start" | "refresh" | "stateOf" | "close" | "waiting"> {
	sightOf: Watcher["sightOf"];
}

/** Opens the harvester and the watcher of the running service. They are idle until their first call. */
export function openHarvester(
	{ harvest, mapWkid, dataDir }: Configuration,
	store: Store,
	allKeys: () => Iterable<string>,
	measures: Measures | null = null,
): ServiceHarvester {
	const threads = new HarvestThreads({
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
		log: serviceLog,
		timers: systemTimers,
	};
	const harvester = new Harvester({
		...common,
		harvest: threads.harvest,
		count: (outcome) => measures?.harvest(outcome),
	});
	const repository = repositoryPath(dataDir);
	const watcher = new Watcher({
		...common,
		watch: threads.watch,
		readHealth: () => readHealth(repository),
	});
	return {
		follow(smallkey) {
			harvester.follow(smallkey);
			watcher.follow(smallkey);
		},
		start() {
			harvester.start();
			watcher.start();
		},
		refresh: (refresh) => harvester.refresh(refresh),
		stateOf: (smallkey) => harvester.stateOf(smallkey),
		sightOf: (smallkey) => watcher.sightOf(smallkey),
		get waiting() {
			return harvester.waiting;
		},
		async close() {
			await Promise.all([harvester.close(), watcher.close()]);
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
