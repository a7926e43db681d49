import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { readFragmentFile } from "../../publish/place-file.ts";
import { fragmentFolders } from "../../publish/rendered.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { ifThereSync } from "../../store/files/files.ts";
import { githubStore } from "../../store/github/github-store.ts";
import { type Store, StoreBusy } from "../../store/store.ts";
import { serviceLog } from "../node/log.ts";
import type { Senders } from "../senders.ts";
import { type ServiceOptions, StartedParts } from "./composition.ts";
import { fetchFromGithub } from "./github.ts";
import type { Configuration } from "./settings.ts";

/** Reads come from the last build of this checkout. */
export async function openGithubService(
	configuration: Configuration,
	senders: Senders,
	{ extensions = [], sendersState = () => null }: Pick<ServiceOptions, "extensions" | "sendersState">,
) {
	const { github, targets } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set");
	const now = () => new Date();
	const out = resolve("dist");
	const fetch = fetchFromGithub(configuration);
	const { store, state } = watchStore(githubStore({ ...github, fetch, now }), () => performance.now());
	const parts = new StartedParts(() => state() ?? sendersState());
	const layers = () => countLayers(out, targets);
	const gauges = async () => ({ layers: layers() });
	const noRepository = { repository: null, tip: () => null, smallkeys: () => [] };
	const core = { configuration, senders, store, out, now, log: serviceLog, gauges, ...noRepository };
	const context = await parts.start(extensions, core).catch(async (error) => {
		await parts.close().catch(serviceLog.error);
		throw error;
	});
	return {
		context,
		file: (folder: string, smallkey: string) => readFragmentFile(join(out, folder, smallkey)),
		place: `${github.repository} at GitHub; reads come from ${out}, which npx fragment-publisher build writes`,
		layers,
		observe: parts.observe,
		close: parts.close,
	};
}

/** Counts the fullest folder: each target leaves out other layers. */
function countLayers(out: string, targets: readonly TargetName[]): number {
	const counts = fragmentFolders(targets).map((folder) => {
		const path = join(out, folder);
		const names = ifThereSync(path, () => readdirSync(path)) ?? [];
		return names.filter((name) => !name.includes(".")).length;
	});
	return Math.max(...counts);
}

const failureMs = 60_000;

/** In store/github/client.ts: ` GET /repos/…:`, or ` to GET /repos/…` before a colon. */
const requestPattern = /(?<=:) [A-Z]+ \/\S*:| to [A-Z]+ \/\S*(?=:)/;

/** `state`: why the last write failed; null a minute later. */
export function watchStore(store: Store, now: () => number) {
	let problem: string | null = null;
	let failedMs = 0;

	const change: Store["change"] = async (decide, meta) => {
		try {
			const outcome = await store.change(decide, meta);
			problem = null;
			return outcome;
		} catch (error) {
			problem =
				error instanceof StoreBusy ? error.message.replace(requestPattern, "") : "GitHub fails: see the log";
			failedMs = now();
			throw error;
		}
	};

	const state = () => (now() - failedMs < failureMs ? problem : null);
	return { store: { ...store, change }, state };
}
