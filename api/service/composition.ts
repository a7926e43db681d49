import { join } from "node:path";
import type { ServiceHarvester } from "../../extensions/harvest/harvester/open.ts";
import type { Gauges, Metrics } from "../../extensions/hosting/metrics.ts";
import { createReadRepairs } from "../../extensions/repair/waiting-repairs.ts";
import { createReadStatus } from "../../extensions/review/layer-status.ts";
import type { FolderTimes } from "../../publish/folder-sink.ts";
import { openPublication } from "../../publish/publication.ts";
import { eachInSlices } from "../../publish/slices.ts";
import type { Fragments } from "../../registry/fragment.ts";
import { catalogueOptions, senderNamesOf } from "../../site/data/options.ts";
import type { Pages } from "../../site/http/catalogue-requests.ts";
import { folderPages } from "../../site/http/folder-pages.ts";
import { openCatalogue } from "../../site/process/catalogue-process.ts";
import { readCommit } from "../../store/files/version.ts";
import type { StoreLimits } from "../../store/git/base.ts";
import type { CommitRange } from "../../store/git/branch.ts";
import { openGitStore } from "../../store/git/git-store.ts";
import { startTask } from "../../store/git/repository.ts";
import { installHook } from "../../store/hook/install.ts";
import type { Log } from "../../store/log.ts";
import type { Edit } from "../../store/store.ts";
import type { Context } from "../context.ts";
import type { Senders } from "../senders.ts";
import { createDisk, repositoryPath } from "./data-dir.ts";
import { noteStart, refuseEmptyStart } from "./last-start.ts";
import { serviceLog } from "./log.ts";
import { seed } from "./open-store.ts";
import type { Configuration } from "./settings.ts";

/** The service behind the HTTP server. It is closed after the server. */
export interface Service {
	context: Context;
	fragments: Fragments;
	/** Returns a number that changes with every change of a fragment; null if other processes write the fragments. */
	version: (() => number) | null;
	/** The catalogue's files; null without a catalogue. */
	pages: Pages | null;
	/** Where the layers are stored, for the text after the start: `the branch main of /data/repository.git`. */
	place: string;
	/** Whether a smallkey is served; null if the service does not know that. */
	has: ((smallkey: string) => boolean) | null;
	layers: () => number;
	/** Reads the current state, for the metrics. @throws {Error} if git fails */
	gauges: () => Promise<Gauges>;
	close: () => Promise<void>;
}

/** The monitoring of a service, and dependencies of a service on this machine, which tests replace. */
export interface Outside {
	metrics?: Metrics | null;
	/** Why the senders file cannot be applied, in one line; null if it is applied. */
	sendersState?: (() => string | null) | undefined;
	now?: () => Date;
	log?: Log;
	/** The files of the first commit of a new repository. */
	seed?: (configuration: Configuration) => Promise<Edit[]>;
	filesTimes?: Partial<FolderTimes>;
	catalogueLimits?: Parameters<typeof openCatalogue>[0]["limits"];
	storeLimits?: Partial<StoreLimits>;
	/** Reads the free bytes of a folder's disk. */
	freeBytes?: Parameters<typeof createDisk>[1];
	/** Installs the hook that judges pushes. @returns false if no hook is installed */
	guard?: typeof installHook;
}

/** A service on this machine, with its parts; `catalogue` is null if the settings switch it off. */
export type LocalService = Awaited<ReturnType<typeof openLocal>>;

/**
 * Opens a service with its layers in a repository on this machine. Reads come from memory, which follows its branch.
 * @throws {Error} with advice if the layers cannot be read and there is no snapshot
 */
export async function openLocal(configuration: Configuration, senders: Senders, outside: Outside = {}) {
	const { now = () => new Date(), log = serviceLog, metrics, sendersState = () => null } = outside;
	const { guard = installHook, seed: firstFiles = seed } = outside;
	const { dataDir } = configuration;
	const repository = repositoryPath(dataDir);
	await refuseEmptyStart(configuration);
	let harvester: ServiceHarvester | null = null;
	const lastLook = (smallkey: string) => harvester?.lastCheckOf(smallkey)?.at ?? null;
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
	const catalogue = configuration.site
		? openCatalogue({
				repository,
				out,
				options: () => {
					const senderNames = senderNamesOf(senders);
					return catalogueOptions(configuration, { senderNames, canSend: true, isCompressed: true });
				},
				log,
				limits: outside.catalogueLimits,
			})
		: null;
	const publish = async (range: CommitRange) => {
		const published = await publication.publish(range);
		catalogue?.changed(range.to);
		return published;
	};
	const { storeLimits: limits } = outside;
	const measure = metrics?.git ?? (() => undefined);
	const hook = (path: string) => guard(path, log.warn);
	const options = { repository, now, publish, log, limits, measure, guard: hook };
	const store = await openGitStore(options, () => firstFiles(configuration));
	metrics?.countCommits(store);
	const disk = createDisk(dataDir, outside.freeBytes);
	try {
		const served = await startTask(repository, () => publication.begin(store.branch));
		if (served !== store.tip) store.branch.goBackTo(served);
		if (catalogue) catalogue.changed(store.tip);
		else (await import("../../site/data/output.ts")).removeCatalogue(out);
	} catch (error) {
		await store.close();
		throw error;
	}
	await noteStart(configuration, { commit: store.tip, layers: publication.table.size, now: now() }, log);
	store.start();
	await disk.start();
	if (configuration.harvest.on) {
		const { openHarvester } = await import("../../extensions/harvest/harvester/open.ts");
		harvester = openHarvester(configuration, store, () => publication.table.smallkeys(), metrics);
	}
	const readiness = () => store.state() ?? disk.state() ?? publication.files.state() ?? sendersState();
	const repairs = createReadRepairs(repository, configuration.pictures);
	const has = (smallkey: string) => publication.table.entries.has(smallkey);
	const context: Context = {
		store,
		settings: { ...configuration, senders },
		now,
		log,
		commit: readCommit(),
		readiness,
		...(harvester && { refresh: harvester.refresh }),
		status: createReadStatus({ repository, store, has, harvester, repairs }),
	};
	const gauges = async () => ({
		layers: publication.table.size,
		queue: store.waiting,
		commitsBehind: await store.branch.commitsBehind(),
		filesBehind: publication.files.behind,
		harvestsWaiting: harvester?.waiting() ?? 0,
		isReady: readiness() === null,
	});
	const { find: fragments, version } = publication.table;
	const service: Service = {
		context,
		fragments,
		version,
		place: `the branch main of ${repository}`,
		has,
		layers: () => publication.table.size,
		gauges,
		close: () =>
			closeAll([
				() => Promise.all([catalogue?.close(), publication.close()]),
				() => store.close(),
				() => harvester?.close(),
				disk.stop,
			]),
		pages:
			catalogue &&
			folderPages(out, configuration.publicUrl.startsWith("https:"), {
				...(harvester && { lastLook }),
				repairs,
			}),
	};
	return { ...service, store, publication, disk, catalogue };
}

/** Closes parts, the last one first, and each one even if another one fails. @throws the first failure */
export async function closeAll(parts: readonly (() => unknown)[]): Promise<void> {
	const failures: unknown[] = [];
	for (const close of parts.toReversed()) {
		try {
			await close();
		} catch (error) {
			failures.push(error);
		}
	}
	if (failures.length > 0) throw failures[0];
}
