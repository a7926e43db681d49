import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { collectFolder, listFolder } from "../publish/collect.ts";
import { parseLayerPath } from "../registry/smallkey.ts";
import { GitStore } from "../store/git/store.ts";
import { installHook } from "../store/hook/install.ts";
import type { Edit, Store } from "../store/store.ts";
import { lockFolder } from "./lock.ts";
import type { Configuration } from "./settings.ts";

/** The layers of this checkout; a package comes without them. */
const checkoutLayers = fileURLToPath(new URL("../layers", import.meta.url));

/** What a clone of a local repository is read with first. */
const readme = new URL("repository.md", import.meta.url);

/**
 * What the first commit of a new local repository holds: what explains it, and in a trial the examples of this checkout.
 */
export async function seed({ isTrial }: Pick<Configuration, "isTrial">): Promise<Edit[]> {
	const files = isTrial && existsSync(checkoutLayers) ? collectFolder(checkoutLayers) : [];
	const layers = files
		.filter((file) => file.kind === "file")
		.map((file) => ({ path: file.path, text: Buffer.from(file.bytes).toString("utf8") }));
	return [{ path: "README.md", text: await readFile(readme, "utf8") }, ...layers];
}

/** How many layers of this checkout are not served. */
export function countLacking(isServed: (smallkey: string) => boolean): number {
	if (!existsSync(checkoutLayers)) return 0;
	const names = listFolder(checkoutLayers).map(({ path }) => parseLayerPath(path));
	const smallkeys = names.flatMap((name) => (name?.kind === "registration" ? [name.smallkey] : []));
	return smallkeys.filter((smallkey) => !isServed(smallkey)).length;
}

/** Where the local repository is in a data folder. */
export function repositoryPath(dataDir: string): string {
	return join(dataDir, "repository.git");
}

/** A store for one script, and its end. */
export interface OpenStore {
	store: Store;
	/** Where the layers are: `the branch main of /data/repository.git`. */
	place: string;
	close(): Promise<void>;
}

/** One commit of a hundred thousand layers takes git longer than a publisher would wait. */
const patientLimits = { silenceMs: 300_000, commandMs: 300_000, waitMs: 600_000, closeMs: 600_000 };

/** A batch of thousands takes GitHub longer than a publisher would wait: its limits for an hour may be reached. */
const batchLimits = { requestMs: 60_000, waitMs: 60_000, raceMs: 300_000, batchMs: 3_600_000 };

/**
 * The configured store, for a script: on GitHub, or on this machine.
 * @throws {Error} where a service runs on the local one: it has to be ended first
 */
export async function openStore(configuration: Configuration): Promise<OpenStore> {
	const { github, dataDir } = configuration;
	const now = () => new Date();
	if (github) {
		// Loaded only where it is used: what it brings along takes memory.
		const { githubStore } = await import("../store/github/store.ts");
		const { fetchFromGithub } = await import("./github.ts");
		const options = { ...github, now, fetch: fetchFromGithub(configuration), limits: batchLimits };
		const place = `${github.repository} at GitHub`;
		return { store: githubStore(options), place, close: async () => undefined };
	}
	await mkdir(dataDir, { recursive: true });
	const lock = await lockFolder(dataDir, { maxWaitMs: 0 });
	try {
		const publish = async () => ({ warnings: Promise.resolve([]) });
		const report = (error: unknown) => console.error(error instanceof Error ? error.message : String(error));
		const guard = (path: string) => installHook(path, report);
		const repository = repositoryPath(dataDir);
		const options = { repository, now, publish, report, guard, limits: patientLimits };
		const store = await GitStore.open(options, () => seed(configuration));
		return {
			store,
			place: `the branch main of ${repository}`,
			close: async () => {
				await store.close();
				await lock.release();
			},
		};
	} catch (error) {
		await lock.release();
		throw error;
	}
}
