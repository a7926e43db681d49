import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { collectFolder } from "../../publish/collect.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { filesBelow } from "../../store/files/files.ts";
import { openGitStore } from "../../store/git/git-store.ts";
import { installHook } from "../../store/hook/install.ts";
import type { Edit, Log } from "../../store/store.ts";
import { refuseEmptyStart, refuseForeignRoot, repositoryPath } from "./data-dir.ts";
import { lockFolder } from "./lock.ts";
import type { Configuration } from "./settings.ts";

/** In which a trial is started. An npm package does not have it. */
const checkoutLayers = "layers";

const readme = new URL("repository.md", import.meta.url);

/** A README, and in a trial the examples of this checkout. */
export async function seed({ isTrial }: Pick<Configuration, "isTrial">): Promise<Edit[]> {
	const files = isTrial && existsSync(checkoutLayers) ? collectFolder(checkoutLayers) : [];
	const layers = files.filter(({ kind }) => kind === "file");
	const edits = layers.map(({ path, bytes }) => ({ path, text: Buffer.from(bytes).toString("utf8") }));
	return [{ path: "README.md", text: await readFile(readme, "utf8") }, ...edits];
}

export function countExamples(isServed: (smallkey: string) => boolean): { served: number; lacking: number } {
	const paths = existsSync(checkoutLayers) ? filesBelow(checkoutLayers) : [];
	const names = paths.map((path) => parseLayerPath(`layers/${path}`));
	const smallkeys = names.flatMap((name) => (name?.kind === "registration" ? [name.smallkey] : []));
	const served = smallkeys.filter(isServed).length;
	return { served, lacking: smallkeys.length - served };
}

const commandLog: Log = {
	info: () => undefined,
	warn: (text) => console.error(text),
	error: (error) => console.error(error instanceof Error ? error.message : String(error)),
};

/** One commit may have a hundred thousand layers. */
const patientLimits = { silenceMs: 300_000, waitMs: 600_000, closeMs: 600_000 };

/** A batch of thousands may reach GitHub's hourly limits. */
const batchLimits = { requestMs: 60_000, waitMs: 60_000, raceMs: 300_000, batchMs: 3_600_000 };

/**
 * For a script, on GitHub or on this machine. `place`, for messages: `the branch main of
 * /data/repository.git`.
 * @throws {Error} if a service uses the local store
 */
export async function openStore(configuration: Configuration) {
	const { github, dataDir } = configuration;
	const now = () => new Date();
	if (github) {
		// Imported on demand, to save memory.
		const { githubStore } = await import("../../store/github/github-store.ts");
		const { fetchFromGithub } = await import("./github.ts");
		const options = { ...github, now, fetch: fetchFromGithub(configuration), limits: batchLimits };
		const place = `${github.repository} at GitHub`;
		return { store: githubStore(options), place, close: async () => undefined };
	}
	await refuseEmptyStart(configuration);
	await mkdir(dataDir, { recursive: true });
	await refuseForeignRoot(dataDir);
	const lock = await lockFolder(dataDir, { maxWaitMs: 0 });
	try {
		const publish = async () => ({ warnings: [] });
		const guard = (path: string) => installHook(path, commandLog.warn);
		const repository = repositoryPath(dataDir);
		const options = { repository, now, publish, log: commandLog, guard, limits: patientLimits };
		const store = await openGitStore(options, () => seed(configuration));
		store.start();
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
