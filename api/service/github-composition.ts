import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { readFragmentFile } from "../../publish/place-file.ts";
import { fragmentFolders } from "../../publish/rendered.ts";
import { ifThereSync } from "../../store/files/files.ts";
import { githubStore } from "../../store/github/github-store.ts";
import { type Store, StoreBusy } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { serviceLog } from "../node/log.ts";
import type { Senders } from "../senders.ts";
import { type Outside, StartedParts } from "./composition.ts";
import { fetchFromGithub } from "./github.ts";
import type { Configuration } from "./settings.ts";

/** Reads come from the last build of this checkout. */
export async function openGithubService(
	configuration: Configuration,
	senders: Senders,
	{ extensions = [], sendersState = () => null }: Pick<Outside, "extensions" | "sendersState"> = {},
) {
	const { github } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set");
	const now = () => new Date();
	const log = serviceLog;
	const out = resolve("dist");
	const fetch = fetchFromGithub(configuration);
	const watched = watchStore(githubStore({ ...github, fetch, now }), () => performance.now());
	const parts = new StartedParts(() => watched.state() ?? sendersState());
	const { observe, close } = parts;
	const { store } = watched;
	const layers = () => {
		const folders = fragmentFolders(configuration.targets).map((folder) => join(out, folder));
		const names = folders.map((folder) => ifThereSync(folder, () => readdirSync(folder)) ?? []);
		return Math.max(...names.map((names) => names.filter((name) => !name.includes(".")).length));
	};
	// The queue is known only to GitHub, and the published commits only to the hosting.
	const gauges = async () => ({ layers: layers() });
	const here = { repository: null, tip: () => null, smallkeys: () => [], out };
	let context: Context;
	try {
		context = await parts.start(extensions, { configuration, senders, store, now, log, gauges, ...here });
	} catch (error) {
		await close();
		throw error;
	}
	return {
		context,
		file: (folder: string, smallkey: string) => readFragmentFile(join(out, folder, smallkey)),
		place: `${github.repository} at GitHub; reads come from ${out}, which npx fragment-publisher build writes`,
		layers,
		observe,
		close,
	};
}

const failureMs = 60_000;

/** In a message of store/github/client.ts: ` GET /repos/…:`, or ` to GET /repos/…` before a colon. */
const requestPattern = /(?<=:) [A-Z]+ \/\S*:| to [A-Z]+ \/\S*(?=:)/;

/** `state`: why the last write failed, in one line; null a minute later. */
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
