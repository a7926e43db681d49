import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { nodeHashes } from "../api/node/hashes.ts";
import { folderPages } from "../api/node/pages.ts";
import { etagOf, type Fragments } from "../api/read.ts";
import type { Senders } from "../api/senders.ts";
import { readCommit } from "../files/version.ts";
import { slotFolder, slotPath, slotsOf } from "../publish/slots.ts";
import { createLimitClock } from "../store/github/limit-clock.ts";
import { githubStore } from "../store/github/store.ts";
import { fetchFromGithub } from "./github.ts";
import { watchStore } from "./github-condition.ts";
import { logError } from "./log.ts";
import { countCommits, type Measures } from "./measures.ts";
import type { Service } from "./service.ts";
import type { Configuration } from "./settings.ts";

/** Opens a service that writes to GitHub. Reads come from the last build of this checkout, as from the hosting. */
export async function openGithubService(
	configuration: Configuration,
	senders: Senders,
	measures: Measures | null = null,
	sendersState: () => string | null = () => null,
): Promise<Service> {
	const { github } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set");
	const now = () => new Date();
	const out = resolve("dist");
	const limitClock = createLimitClock(now);
	const limitNow = limitClock.now;
	const fetch = fetchFromGithub(configuration);
	const store = githubStore({ ...github, fetch, now, limitNow, report: logError });
	const watched = watchStore(store, () => performance.now());
	const readiness = () => watched.state() ?? sendersState();
	const layers = () =>
		Math.max(...slotsOf(configuration).map((slot) => countBuilt(join(out, slotFolder(slot)))));
	return {
		context: {
			store: countCommits(watched.store, measures),
			settings: { ...configuration, senders },
			now,
			report: logError,
			hashes: nodeHashes,
			commit: readCommit(),
			readiness,
		},
		fragments: (target, lang, smallkey) => readBuilt(join(out, slotPath({ target, lang }, smallkey))),
		version: null,
		pages: configuration.site ? folderPages(out, configuration.publicUrl.startsWith("https:")) : null,
		place: `${github.repository} at GitHub; reads come from ${out}, which npx fragments build and npx fragments follow write`,
		has: null,
		layers,
		// Only GitHub knows its queue, and only the hosting what it has published.
		gauges: async () => ({
			layers: layers(),
			queue: null,
			commitsBehind: null,
			filesBehind: null,
			harvestsWaiting: null,
			isReady: readiness() === null,
		}),
		close: async () => limitClock.stop(),
	};
}

function readBuilt(path: string): ReturnType<Fragments> {
	try {
		const body = readFileSync(path);
		return { body, etag: etagOf(body) };
	} catch (error) {
		if (isMissing(error)) return null;
		throw error;
	}
}

function countBuilt(folder: string): number {
	try {
		return readdirSync(folder).filter((name) => !name.includes(".")).length;
	} catch (error) {
		if (isMissing(error)) return 0;
		throw error;
	}
}

function isMissing(error: unknown): boolean {
	return (error as NodeJS.ErrnoException).code === "ENOENT";
}
