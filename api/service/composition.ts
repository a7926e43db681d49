import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { registeredIn } from "../../publish/changed-layers.ts";
import type { FileTimes } from "../../publish/file-writer.ts";
import { openPublication } from "../../publish/publication.ts";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { readCommit } from "../../store/files/version.ts";
import type { CommitRange } from "../../store/git/branch.ts";
import { openGitStore } from "../../store/git/git-store.ts";
import { startTask } from "../../store/git/repository.ts";
import type { StoreLimits } from "../../store/git/writer.ts";
import { installHook } from "../../store/hook/install.ts";
import { type Edit, isRefusal, type Log, type Store } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { serviceLog } from "../node/log.ts";
import type { Senders } from "../senders.ts";
import { createDisk, noteStart, refuseEmptyStart, repositoryPath, seed } from "./data-dir.ts";
import {
	type Extension,
	type Observed,
	type RunningService,
	type Started,
	startExtensions,
} from "./extensions.ts";
import { createReadStatus } from "./layer-status.ts";
import type { Configuration } from "./settings.ts";

export interface Service {
	context: Context;
	file: ReadFragment;
	place: string;
	has: ((smallkey: string) => boolean) | null;
	layers: () => number;
	observe: (event: Observed) => void;
	welcome: (base: string) => string[];
	close: () => Promise<void>;
}

export interface Outside {
	extensions?: readonly Extension[];
	/** Why the senders file cannot be applied, in one line; null if it is. */
	sendersState?: (() => string | null) | undefined;
	now?: () => Date;
	log?: Log;
	seed?: (configuration: Configuration) => Promise<Edit[]>;
	filesTimes?: Partial<FileTimes>;
	storeLimits?: Partial<StoreLimits>;
	freeBytes?: Parameters<typeof createDisk>[1];
	/** Installs the hook that judges pushes. @returns false if it installs none */
	guard?: typeof installHook;
}

/**
 * `started` is filled while the extensions start. `state`: why the core is not ready, in one line; null if it
 * is.
 */
export function withExtensions(started: readonly Started[], state: () => string | null) {
	const looks = () => started.flatMap(({ lastLook }) => lastLook ?? []);
	return {
		observe: (event: Observed) => {
			for (const { observe } of started) observe?.(event);
		},
		changed: (commit: string, smallkeys: readonly string[]) => {
			for (const { changed } of started) changed?.(commit, smallkeys);
		},
		gauges: () => Object.assign({}, ...started.map(({ gauges }) => gauges?.())),
		lastLook: () => {
			const [first] = looks();
			return first ?? null;
		},
		readiness: () => {
			for (const reason of [state, ...started.map((part) => part.state)]) {
				const text = reason?.() ?? null;
				if (text !== null) return text;
			}
			return null;
		},
		welcome: (base: string) => started.flatMap(({ welcome }) => welcome?.(base) ?? []),
		members: (): Pick<Context, "routes" | "refresh"> => {
			const refresh = started.find((part) => part.refresh)?.refresh;
			const routes = started.toReversed().flatMap((part) => part.routes ?? []);
			return { routes, ...(refresh && { refresh }) };
		},
		close: () => closeAll(started.map(({ close }) => close)),
	};
}

/**
 * With a repository on this machine. Reads come from the rendered files, which follow its branch.
 * @throws {Error} with advice if the layers cannot be read and there are no rendered files
 */
export async function openLocal(configuration: Configuration, senders: Senders, outside: Outside = {}) {
	const { now = () => new Date(), log = serviceLog, extensions = [], sendersState = () => null } = outside;
	const { guard = installHook, seed: firstFiles = seed } = outside;
	const { dataDir } = configuration;
	const repository = repositoryPath(dataDir);
	await refuseEmptyStart(configuration);
	const started: Started[] = [];
	const { filesTimes, storeLimits: limits } = outside;
	const publication = openPublication({
		...{ dataDir, repository, settings: configuration, log, times: filesTimes },
		maxCacheBytes: configuration.cacheMegabytes * 1_000_000,
	});
	const all = withExtensions(
		started,
		() => store.state() ?? disk.state() ?? publication.files.state() ?? sendersState(),
	);
	let announced: Promise<unknown> = Promise.resolve();
	const announce = async ({ to, changes }: CommitRange) => {
		// The store reads the new state only once the range is published.
		await nextTurn();
		all.changed(to, await registeredIn(changes));
	};
	const publish = async (range: CommitRange) => {
		const published = await publication.publish(range);
		announced = announced.then(() => announce(range)).catch(log.error);
		return published;
	};
	const measure: NonNullable<Parameters<typeof openGitStore>[0]["measure"]> = (operation, milliseconds) =>
		all.observe({ kind: "git", operation, milliseconds });
	const hook = (path: string) => guard(path, log.warn);
	const options = { repository, now, publish, log, limits, measure, guard: hook };
	const store = await openGitStore(options, () => firstFiles(configuration));
	observeCommits(store, all.observe);
	const disk = createDisk(dataDir, outside.freeBytes);
	const close = () => closeAll([publication.close, () => store.close(), all.close, disk.stop]);
	const { has, smallkeys, file } = publication;
	const gauges = async () => ({
		layers: publication.size,
		queue: store.waiting,
		// A damaged repository must not hide the other gauges, of which `isReady` is one.
		commitsBehind: await store.branch.commitsBehind().catch(() => null),
		filesBehind: publication.files.behind,
		isReady: all.readiness() === null ? 1 : 0,
		...all.gauges(),
	});
	const { observe, lastLook } = all;
	const running: RunningService = {
		...{ configuration, senders, store, repository, now, log, gauges, observe, lastLook },
		tip: () => store.tip,
		out: join(dataDir, "dist"),
		smallkeys,
	};
	try {
		const served = await startTask(repository, () => publication.begin(store.branch));
		if (served !== store.tip) store.branch.goBackTo(served);
		await noteStart(configuration, { commit: store.tip, layers: publication.size, now: now() }, log);
		store.start();
		await disk.start();
		await startExtensions(extensions, running, started);
	} catch (error) {
		await closeAll([() => store.close(), all.close, disk.stop]);
		throw error;
	}
	const service: Service = {
		context: {
			store,
			settings: { ...configuration, senders },
			...{ now, log, readiness: all.readiness, commit: readCommit() },
			...all.members(),
			status: createReadStatus({ repository, store, has, now, started }),
		},
		...{ file, has, observe, welcome: all.welcome, close },
		place: `the branch main of ${repository}`,
		layers: () => publication.size,
	};
	return { ...service, store, publication, disk, started };
}

/** The last part first, and each one even if another one fails. @throws the first failure */
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

export function observeCommits<S extends Store>(store: S, observe: (event: Observed) => void): S {
	const change = store.change.bind(store);
	store.change = async (edits, meta) => {
		const outcome = await change(edits, meta);
		const by = meta.request === null ? "service" : "sender";
		if (!isRefusal(outcome) && outcome.changed) observe({ kind: "commit", by });
		return outcome;
	};
	return store;
}
