import type { Store } from "../../store/store.ts";
import { readHealth as readHealthIn } from "../find-repository.ts";
import { serviceLog } from "../log.ts";
import type { Measures } from "../measures.ts";
import { repositoryPath } from "../open-store.ts";
import type { Configuration } from "../settings.ts";
import { Harvester } from "./harvester.ts";
import { Repairs, searchProcess } from "./repairs.ts";
import { systemTimers } from "./schedule.ts";
import { threadLimits } from "./thread.ts";
import { HarvestThreads } from "./threads.ts";
import { type Sight, Watcher } from "./watcher.ts";

/** The harvester of the running service, with the watcher. Both are idle until their first call. */
export class ServiceHarvester extends Harvester {
	readonly #watcher: Watcher;
	readonly #repairs: Repairs | null;
	readonly #threads: HarvestThreads;

	/** @param allKeys all smallkeys, in any order */
	constructor(
		configuration: Configuration,
		store: Store,
		allKeys: () => Iterable<string>,
		measures: Measures | null = null,
	) {
		const { harvest, mapWkid, dataDir } = configuration;
		const threads = new HarvestThreads({
			entry: new URL("./thread-entry.mjs", import.meta.url),
			settings: { harvest, mapWkid },
			limits: threadLimits,
			timers: systemTimers,
		});
		const now = () => new Date();
		const common = { store, everyMs: harvest.every, now, allKeys, log: serviceLog, timers: systemTimers };
		super({ ...common, harvest: threads.harvest, count: (outcome) => measures?.harvest(outcome) });
		const repository = repositoryPath(dataDir);
		const readHealth = () => readHealthIn(repository);
		this.#watcher = new Watcher({ ...common, watch: threads.watch, readHealth });
		const search = searchProcess(configuration);
		this.#repairs = harvest.repair ? new Repairs({ ...common, repository, readHealth, search }) : null;
		this.#threads = threads;
	}

	override follow(smallkey: string): void {
		super.follow(smallkey);
		this.#watcher.follow(smallkey);
	}

	override start(): void {
		super.start();
		this.#watcher.start();
		this.#repairs?.start();
	}

	/** The last check of a layer; null where it was not checked since the start. */
	sightOf(smallkey: string): Sight | null {
		return this.#watcher.sightOf(smallkey);
	}

	override async close(): Promise<void> {
		await Promise.all([super.close(), this.#watcher.close(), this.#repairs?.close()]);
		await this.#threads.close();
	}
}
