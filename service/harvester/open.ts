import { runGit } from "../../git/run.ts";
import { healthPath } from "../../registry/health.ts";
import type { Store } from "../../store/store.ts";
import { serviceLog } from "../log.ts";
import type { Measures } from "../measures.ts";
import { repositoryPath } from "../open-store.ts";
import type { Configuration } from "../settings.ts";
import { Harvester } from "./harvester.ts";
import { searchProcess, startRepairs } from "./repairs.ts";
import { systemTimers } from "./schedule.ts";
import { threadLimits } from "./thread.ts";
import { HarvestThreads } from "./threads.ts";
import { type Sight, Watcher } from "./watcher.ts";

/** The harvester of the running service, with the watcher. Both are idle until their first call. */
export class ServiceHarvester extends Harvester {
	readonly #watcher: Watcher;
	readonly #startRepairs: (() => () => Promise<void>) | null;
	#endRepairs: (() => Promise<void>) | undefined;
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
		const readHealth = () => readHealthIn(repositoryPath(dataDir));
		this.#watcher = new Watcher({ ...common, watch: threads.watch, readHealth });
		const search = searchProcess(configuration);
		const repository = repositoryPath(dataDir);
		const start = () => startRepairs({ ...common, repository, readHealth, search });
		this.#startRepairs = harvest.repair ? start : null;
		this.#threads = threads;
	}

	override follow(smallkey: string): void {
		super.follow(smallkey);
		this.#watcher.follow(smallkey);
	}

	override start(): void {
		super.start();
		this.#watcher.start();
		this.#endRepairs = this.#startRepairs?.();
	}

	/** The last check of a layer; null where it was not checked since the start. */
	sightOf(smallkey: string): Sight | null {
		return this.#watcher.sightOf(smallkey);
	}

	override async close(): Promise<void> {
		await Promise.all([super.close(), this.#watcher.close(), this.#endRepairs?.()]);
		await this.#threads.close();
	}
}

/** Text of `layers/health.json` on the branch; null where there is none. @throws {Error} where git fails */
async function readHealthIn(repository: string): Promise<string | null> {
	const branch = "refs/heads/main";
	const listed = await runGit(repository, ["ls-tree", branch, "--", healthPath]);
	if (listed.length === 0) return null;
	return (await runGit(repository, ["cat-file", "blob", `${branch}:${healthPath}`])).toString("utf8");
}
