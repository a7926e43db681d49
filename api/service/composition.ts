import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { namesIn } from "../../publish/changed-layers.ts";
import { Publication } from "../../publish/publication.ts";
import { readCommit } from "../../store/files/version.ts";
import type { StoreLimits } from "../../store/git/base.ts";
import type { CommitRange } from "../../store/git/branch.ts";
import { openGitStore } from "../../store/git/git-store.ts";
import { startTask } from "../../store/git/repository.ts";
import { installHook } from "../../store/hook/install.ts";
import type { Edit, Log } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { serviceLog } from "../node/log.ts";
import { coreWrites } from "../register.ts";
import type { Senders } from "../senders.ts";
import { noteStart, repositoryPath, seed } from "./data-dir.ts";
import type { Extension, RunningService, ServiceEvent, Started } from "./extensions.ts";
import { createReadStatus } from "./layer-status.ts";
import type { Configuration } from "./settings.ts";

export type Service = Awaited<ReturnType<typeof openLocal>>;

export interface ServiceOptions {
	extensions?: readonly Extension[];
	/** Null if the senders file is applied. */
	sendersState?: (() => string | null) | undefined;
	now?: () => Date;
	log?: Log;
	seed?: (configuration: Configuration) => Promise<Edit[]>;
	filesRetryMs?: number;
	storeLimits?: Partial<StoreLimits>;
	/** Tests replace it. */
	guard?: typeof installHook;
}

type CoreService = Omit<RunningService, "observe">;

export class StartedParts {
	readonly all: Started[] = [];

	/** @param readiness null if it is ready */
	constructor(readonly readiness: () => string | null) {}

	async start(extensions: readonly Extension[], core: CoreService): Promise<Context> {
		const { all, observe, readiness } = this;
		const { configuration, senders, store, now, log } = core;
		const gauges = async () => ({ ...(await core.gauges()), isReady: readiness() === null ? 1 : 0 });
		let service: RunningService = { ...core, gauges, observe };
		for (const { start } of extensions) {
			const part = await start?.(service);
			if (!part) continue;
			all.push(part);
			service = { ...service, ...part.provides };
		}
		const writes = [...coreWrites, ...all.flatMap((part) => part.writes ?? [])];
		// The routes of the later extensions come first.
		const routes = all.toReversed().flatMap((part) => part.routes ?? []);
		const settings = { ...configuration, senders };
		const commit = readCommit();
		return { store, now, log, settings, readiness, commit, writes, routes };
	}

	readonly observe = (event: ServiceEvent): void => {
		for (const { observe } of this.all) observe?.(event);
	};

	readonly close = (): Promise<void> => closeAll(this.all.map(({ close = () => undefined }) => close));
}

/** Publishes each range, then calls the extensions, in order. */
function publishTo(publication: Publication, { all }: StartedParts, log: Log) {
	let announced: Promise<unknown> = Promise.resolve();
	const announce = async ({ to, changes }: CommitRange) => {
		// The store reads the new state only once the range is published.
		await nextTurn();
		const smallkeys = (await namesIn(changes)).registered;
		for (const { changed } of all) changed?.(to, smallkeys);
	};
	return async (range: CommitRange) => {
		const published = await publication.publish(range);
		announced = announced.then(() => announce(range)).catch(log.error);
		return published;
	};
}

/** @throws {Error} with advice if there are neither readable layers nor rendered files */
export async function openLocal(
	configuration: Configuration,
	senders: Senders,
	options: ServiceOptions = {},
) {
	const { now = () => new Date(), log = serviceLog, extensions = [], sendersState = () => null } = options;
	const { guard = installHook, seed: firstFiles = seed, storeLimits: limits } = options;
	const { dataDir } = configuration;
	const repository = repositoryPath(dataDir);
	const maxCacheBytes = configuration.cacheMegabytes * 1_000_000;
	const rendering = { settings: configuration, maxCacheBytes, retryMs: options.filesRetryMs };
	const publication = new Publication({ dataDir, repository, log, ...rendering });
	const { files, cache } = publication;
	const parts = new StartedParts(() => store.state() ?? files.state() ?? sendersState());
	const guardRepository = (path: string) => guard(path, log.warn);
	const publish = publishTo(publication, parts, log);
	const storeOptions = { repository, now, publish, log, limits, guard: guardRepository };
	const store = await openGitStore(storeOptions, () => firstFiles(configuration));
	const core: CoreService = {
		configuration,
		senders,
		store,
		repository,
		tip: () => store.tip,
		out: join(dataDir, "dist"),
		now,
		log,
		smallkeys: () => files.layers.keys(),
		gauges: async () => ({ layers: files.layers.size, queue: store.waiting, filesBehind: files.behind }),
	};
	// The files in the background are left before git ends; a last change is still written.
	const ends = [() => publication.close(), () => store.close(), parts.close, () => files.close()];
	const close = () => closeAll(ends);
	const start = async (): Promise<Context> => {
		const served = await startTask(repository, () => publication.begin(store.branch));
		if (served !== store.tip) store.branch.goBackTo(served);
		await noteStart(configuration, { commit: store.tip, layers: files.layers.size, now: now() }, log);
		store.start();
		return parts.start(extensions, core);
	};
	const context = await start().catch(async (error) => {
		await close().catch(log.error);
		throw error;
	});
	return {
		context: { ...context, status: createReadStatus(repository, store, now, parts.all) },
		file: cache.file,
		observe: parts.observe,
		close,
		place: `the branch main of ${repository}`,
		layers: () => files.layers.size,
		store,
		publication,
		started: parts.all,
	};
}

/** The last part first. @throws the first failure, after all */
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
