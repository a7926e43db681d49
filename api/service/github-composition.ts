import { join, resolve } from "node:path";
import { readFragmentFile } from "../../publish/place-file.ts";
import { githubStore } from "../../store/github/github-store.ts";
import type { Store } from "../../store/store.ts";
import { serviceLog } from "../node/log.ts";
import type { Senders } from "../senders.ts";
import { type ServiceOptions, StartedParts } from "./composition.ts";
import { fetchFromGithub } from "./proxy.ts";
import type { Configuration } from "./settings.ts";

/** Reads come from the last build of this checkout. */
export async function openGithubService(
	configuration: Configuration,
	senders: Senders,
	{ extensions = [], sendersState = () => null }: Pick<ServiceOptions, "extensions" | "sendersState">,
) {
	const { github } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set");
	const now = () => new Date();
	const out = resolve("dist");
	const fetch = fetchFromGithub(configuration);
	const { store, state } = watchStore(githubStore({ ...github, fetch, now }), () => performance.now());
	const parts = new StartedParts(() => state() ?? sendersState());
	const noRepository = { repository: null, tip: () => null, smallkeys: () => [], gauges: async () => ({}) };
	const core = { configuration, senders, store, out, now, log: serviceLog, ...noRepository };
	const context = await parts.start(extensions, core).catch(async (error) => {
		await parts.close().catch(serviceLog.error);
		throw error;
	});
	return {
		context,
		file: (folder: string, smallkey: string) => readFragmentFile(join(out, folder, smallkey)),
		place: `${github.repository} at GitHub; reads come from ${out}, which npx fragment-publisher build writes`,
		layers: () => null,
		observe: parts.observe,
		close: parts.close,
	};
}

const failureMs = 60_000;

/** `state`: whether the last write failed; null a minute later. */
export function watchStore(store: Store, now: () => number) {
	let failedMs = Number.NEGATIVE_INFINITY;

	const change: Store["change"] = async (decide, meta) => {
		const outcome = await store.change(decide, meta).catch((error) => {
			failedMs = now();
			throw error;
		});
		failedMs = Number.NEGATIVE_INFINITY;
		return outcome;
	};

	const state = () => (now() - failedMs < failureMs ? "GitHub fails: see the log" : null);
	return { store: { ...store, change }, state };
}
