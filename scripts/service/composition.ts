import { nodeHashes } from "../../api/adapters/node/hashes.ts";
import type { Context } from "../../api/context.ts";
import type { Senders } from "../../api/senders.ts";
import type { Edit } from "../../api/store.ts";
import { GitStore, type Step, type StoreLimits } from "../../api/stores/git.ts";
import type { FilesTimes } from "./files.ts";
import type { ServiceHarvester } from "./harvester/open.ts";
import { logError, logLine } from "./log.ts";
import { repositoryPath, seed } from "./open-store.ts";
import { Publication } from "./publication.ts";
import type { Service } from "./service.ts";
import type { Configuration } from "./settings.ts";
import { Slices } from "./slices.ts";

/** The configured service: layers in a repository on this machine, or on GitHub. */
export async function openService(configuration: Configuration, senders: Senders): Promise<Service> {
	if (!configuration.github) return openLocal(configuration, senders);
	// Loaded only where it is used: what it brings along takes memory.
	const { openGithubService } = await import("./github-composition.ts");
	return openGithubService(configuration, senders);
}

/** What a service needs from outside beside its configuration. */
export interface Outside {
	/** The clock. */
	now: () => Date;
	/** Writes one line of the log. */
	log: (fields: object) => void;
	/** Told of a broken world that nobody outside may see. */
	report: (error: unknown) => void;
	/** The files of the first commit of a new repository. */
	seed: () => Promise<Edit[]>;
	filesTimes?: Partial<FilesTimes>;
	storeLimits?: Partial<StoreLimits>;
}

const ordinaryOutside: Outside = { now: () => new Date(), log: logLine, report: logError, seed };

/** A service on this machine, with its parts. */
export interface LocalService extends Service {
	store: GitStore;
	publication: Publication;
}

/** Layers in a repository on this machine: reads come from memory, in step with its branch. */
export async function openLocal(
	configuration: Configuration,
	senders: Senders,
	outside: Outside = ordinaryOutside,
): Promise<LocalService> {
	const { now, log, report } = outside;
	const { dataDir } = configuration;
	const repository = repositoryPath(dataDir);
	let harvester: ServiceHarvester | null = null;
	const publication = new Publication({
		dataDir,
		repository,
		settings: configuration,
		warn: (warning) => log({ warning }),
		report,
		// What the store reads is the new state only when the step has ended.
		registered: (smallkeys) => setImmediate(() => void followAll(harvester, smallkeys)),
		filesTimes: outside.filesTimes,
	});
	const publish = (step: Step) => publication.publish(step);
	const options = { repository, now, publish, report, limits: outside.storeLimits };
	const store = await GitStore.open(options, outside.seed);
	await publication.begin(
		(commit) => store.stepSince(commit),
		() => store.firstStep(),
	);
	store.start();
	if (configuration.harvest.on) {
		const { openHarvester } = await import("./harvester/open.ts");
		harvester = openHarvester(configuration, store, () => publication.smallkeys());
		harvester.start();
	}
	const context: Context = {
		store,
		settings: { ...configuration, senders },
		now,
		report,
		hashes: nodeHashes,
		readiness: () => store.state() ?? publication.files.state(),
		refresh: harvester?.refresh,
	};
	const close = async () => {
		await harvester?.close();
		await store.close();
		await publication.close();
	};
	const { fragments, version } = publication;
	return {
		context,
		fragments,
		version,
		layers: () => publication.size,
		close,
		store,
		publication,
	};
}

/** Has the layers harvested whose registration was written, by a PUT or a push. */
async function followAll(harvester: ServiceHarvester | null, smallkeys: readonly string[]): Promise<void> {
	const slices = new Slices();
	for (const smallkey of smallkeys) {
		harvester?.follow(smallkey);
		await slices.pause();
	}
}
