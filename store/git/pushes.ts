import { setImmediate as nextTurn } from "node:timers/promises";
import { listCommits, personText, type RawCommit, readCommits, trailersOf } from "../../git/commits.ts";
import { GitTimeout } from "../../git/run.ts";
import type { PathChange } from "../../git/tree.ts";
import { visible } from "../../registry/markdown.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import {
	declinedFolder,
	parseTimestamp,
	reviewFolders,
	serviceIdentity,
	type UsedRequest,
} from "../store.ts";
import { branchName } from "./base.ts";

/** The highest number of commits whose requests are read. */
const maxRequests = 100_000;

/**
 * Reads the signed requests that the service's own commits carry out, each with its commit: on the branch, and on the
 * branches of waiting and declined reviews. A pusher can write the same trailer, but cannot name the service as the
 * committer: the hook refuses that.
 * @param since only commits outside the history of this commit are read; null or a missing commit: the newest commits
 * @throws {GitTimeout} if git does not answer
 */
export async function readRequests(repository: string, since: string | null): Promise<UsedRequest[]> {
	const folders = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
	const refs = [...folders, `refs/heads/${branchName}`, ...(since === null ? [] : [`^${since}`])];
	const args = ["--ignore-missing", `--max-count=${maxRequests}`, ...refs];
	const ids = await listCommits(repository, args).catch((error) => {
		if (error instanceof GitTimeout) throw error;
		return [];
	});
	const uses: UsedRequest[] = [];
	for await (const { id, author, committer, message } of readCommits(repository, ids)) {
		if (personText(committer) !== serviceIdentity) continue;
		const time = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
		for (const request of trailersOf(message, "Request"))
			uses.push({ request, method: "", time, outcome: id });
	}
	return uses;
}

/** How many commits are read, and how many commits and people are listed. The history has the others. */
const maxCommits = 1_000;
const maxNewest = 10;
const maxPeople = 10;

/** Paths that are read in one iteration of the event loop. */
const pathsAtOnce = 1_000;

/** Longest name of a person, in characters. */
const maxName = 100;

/**
 * Describes commits that other processes have pushed to the branch, for a line of the log.
 * @returns null if the service has made all of them
 * @throws {Error} if git fails
 */
export async function describePush(
	repository: string,
	{ from, to, changes }: { from: string; to: string; changes: readonly PathChange[] },
) {
	if (from === to) return null;
	const commits: RawCommit[] = [];
	const ids = await listCommits(repository, [`${from}..${to}`]);
	for await (const commit of readCommits(repository, ids.slice(0, maxCommits))) commits.push(commit);
	if (commits.every(({ committer }) => personText(committer) === serviceIdentity)) return null;
	const people = new Set(
		commits.flatMap(({ author, committer }) =>
			[author, committer].map((person) => visible(personText(person)).slice(0, maxName)),
		),
	);
	return {
		from,
		to,
		commits: ids.length,
		/** The newest first. */
		newest: ids.slice(0, maxNewest),
		/** Authors and committers, as the commits name them: `Ada <ada@example.org>`. */
		people: [...people].slice(0, maxPeople),
		/** How many layers differ. */
		layers: await countLayers(changes),
	};
}

async function countLayers(changes: readonly PathChange[]): Promise<number> {
	const smallkeys = new Set<string>();
	for (const [at, { path }] of changes.entries()) {
		const name = parseLayerPath(path);
		if (name) smallkeys.add(name.smallkey);
		// A push may change all layers: other requests are answered in between.
		if (at % pathsAtOnce === pathsAtOnce - 1) await nextTurn();
	}
	return smallkeys.size;
}
