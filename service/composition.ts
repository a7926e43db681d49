import { join } from "node:path";
import type { Context } from "../api/context.ts";
import { folderPages } from "../api/node/pages.ts";
import type { Senders } from "../api/senders.ts";
import { catalogueOptions, senderNamesOf } from "../catalogue/options.ts";
import { readCommit } from "../files/version.ts";
import type { FolderTimes } from "../publish/folder-sink.ts";
import { openPublication, type Publication } from "../publish/publication.ts";
import { eachInSlices } from "../publish/slices.ts";
import type { StoreLimits } from "../store/git/base.ts";
import type { CommitRange } from "../store/git/branch.ts";
import { startTask } from "../store/git/repository.ts";
import { type GitStore, openGitStore } from "../store/git/store.ts";
import { installHook } from "../store/hook/install.ts";
import type { Log } from "../store/log.ts";
import type { Edit } from "../store/store.ts";
import { type CatalogueLimits, openCatalogue } from "./catalogue.ts";
import { createDisk } from "./data-dir.ts";
import type { ServiceHarvester } from "./harvester/open.ts";
import { createReadStatus } from "./layer-status.ts";
import { serviceLog } from "./log.ts";
import { repositoryPath, seed } from "./open-store.ts";
import type { Service, Watching } from "./service.ts";
import type { Configuration } from "./settings.ts";

/** Opens the configured service, with its layers in a repository on this machine or on GitHub. */
export async function openService(
	configuration: Configuration,
	senders: Senders,
	watching: Watching,
): Promise<Service> {
	if (!configuration.github) return openLocal(configuration, senders, watching);
	// Imported on demand, to save memory.
	const { openGithubService } = await import("./github-composition.ts");
	return openGithubService(configuration, senders, watching);
}

/** Dependencies of a service on this machine, which tests replace. */
export interface Outside extends Watching {
	now?: () => Date;
	log?: Log;
	/** The files of the first commit of a new repository. */
	seed?: (configuration: Configuration) => Promise<Edit[]>;
	filesTimes?: Partial<FolderTimes>;
	catalogueLimits?: Partial<CatalogueLimits>;
	storeLimits?: Partial<StoreLimits>;
	/** Reads the free bytes of a folder's disk. */
	freeBytes?: Parameters<typeof createDisk>[1];
	/** Installs the hook that judges pushes. @returns false if no hook is installed */
	guard?: (repository: string, warn: (text: string) => void) => Promise<boolean>;
}

/** A service on this machine, with its parts; `catalogue` is null if the settings switch it off. */
export type LocalService = Awaited<ReturnType<typeof openLocal>>;

/** Opens a service with its layers in a repository on this machine. Reads come from memory, which follows its branch. */
export async function openLocal(configuration: Configuration, senders: Senders, outside: Outside = {}) {
	const { now = () => new Date(), log = serviceLog, metrics, sendersState = () => null } = outside;
	const { guard = installHook, seed: firstFiles = seed } = outside;
	const { dataDir } = configuration;
	const repository = repositoryPath(dataDir);
	let harvester: ServiceHarvester | null = null;
	const publication = openPublication({
		dataDir,
		repository,
		settings: configuration,
		log,
		// The store reads the new state only once the range is published.
		registered: (smallkeys) => {
			setImmediate(() => eachInSlices(smallkeys, (smallkey) => harvester?.follow(smallkey)));
		},
		filesTimes: outside.filesTimes,
	});
	const out = join(dataDir, "dist");
	const catalogueDetails = () => ({ senderNames: senderNamesOf(senders), canSend: true, isCompressed: true });
	const catalogue = configuration.site
		? openCatalogue({
				repository,
				out,
				options: () => catalogueOptions(configuration, catalogueDetails()),
				log,
				limits: outside.catalogueLimits,
			})
		: null;
	const publish = async (range: CommitRange) => {
		const published = await publication.publish(range);
		catalogue?.changed(range.to);
		return published;
	};
	const options = {
		repository,
		now,
		publish,
		log,
		limits: outside.storeLimits,
		...(metrics && { measure: metrics.git }),
		guard: (path: string) => guard(path, log.warn),
	};
	const store = await openGitStore(options, () => firstFiles(configuration));
	metrics?.countCommits(store);
	const disk = createDisk(dataDir, outside.freeBytes);
	await begin(store, publication, repository);
	if (catalogue) catalogue.changed(store.tip);
	else (await import("../catalogue/output.ts")).removeCatalogue(out);
	store.start();
	await disk.start();
	if (configuration.harvest.on) {
		const { openHarvester } = await import("./harvester/open.ts");
		harvester = openHarvester(configuration, store, () => publication.table.smallkeys(), metrics);
	}
	const readiness = () => store.state() ?? disk.state() ?? publication.files.state() ?? sendersState();
	const context: Context = {
		store,
		settings: { ...configuration, senders },
		now,
		log,
		commit: readCommit(),
		readiness,
		...(harvester && { refresh: harvester.refresh }),
		status: createReadStatus({ repository, store, harvester }),
	};
	const gauges = async () => ({
		layers: publication.table.size,
		queue: store.waiting,
		commitsBehind: await store.branch.commitsBehind(),
		filesBehind: publication.files.behind,
		harvestsWaiting: harvester?.waiting ?? 0,
		isReady: readiness() === null,
	});
	const close = async () => {
		disk.stop();
		await harvester?.close();
		await store.close();
		await Promise.all([catalogue?.close(), publication.close()]);
	};
	const { find: fragments, version } = publication.table;
	const service: Service = {
		context,
		fragments,
		version,
		place: `the branch main of ${repository}`,
		has: (smallkey) => publication.table.entries.has(smallkey),
		layers: () => publication.table.size,
		gauges,
		close,
		pages: catalogue && folderPages(out, configuration.publicUrl.startsWith("https:")),
	};
	return { ...service, store, publication, disk, catalogue };
}

/** Begins the publication. @throws {Error} with advice if the layers cannot be read and there is no snapshot */
async function begin(store: GitStore, publication: Publication, repository: string): Promise<void> {
	try {
		const served = await startTask(repository, () => publication.begin(store.branch));
		if (served !== store.tip) store.branch.goBackTo(served);
	} catch (error) {
		await store.close();
		throw error;
	}
}
