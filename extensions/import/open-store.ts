import { openDataDir, repositoryPath, seed } from "../../api/service/data-dir.ts";
import { fetchFromGithub } from "../../api/service/proxy.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { openGitStore } from "../../store/git/git-store.ts";
import { installHook } from "../../store/hook/install.ts";
import type { Log } from "../../store/store.ts";

const commandLog: Log = {
	info: () => undefined,
	warn: (text) => console.error(text),
	error: (error) => console.error(error instanceof Error ? error.message : String(error)),
};

/** One commit may have a hundred thousand layers. */
const patientLimits = { silenceMs: 300_000 };

/** A batch of thousands may reach GitHub's hourly limits. */
const batchLimits = { requestMs: 60_000, waitMs: 60_000, batchMs: 3_600_000 };

/** For a command. No service may run on DATA_DIR. */
export async function openStore(configuration: Configuration) {
	const { github, dataDir } = configuration;
	const now = () => new Date();
	if (github) {
		// Imported on demand, to save memory.
		const { githubStore } = await import("../../store/github/github-store.ts");
		const options = { ...github, now, fetch: fetchFromGithub(configuration), limits: batchLimits };
		const place = `${github.repository} at GitHub`;
		return { store: githubStore(options), place, close: async () => undefined };
	}
	const lock = await openDataDir(configuration, { maxWaitMs: 0 });
	const repository = repositoryPath(dataDir);
	const publish = async () => true;
	const guard = (path: string) => installHook(path, commandLog.warn);
	const options = { repository, now, publish, log: commandLog, guard, limits: patientLimits };
	const store = await openGitStore(options, () => seed(configuration)).catch(async (error) => {
		await lock.release();
		throw error;
	});
	store.start();
	const close = async () => {
		await store.close();
		await lock.release();
	};
	return { store, place: `the branch main of ${repository}`, close };
}
