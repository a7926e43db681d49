import { setImmediate as nextTurn } from "node:timers/promises";
import { listCommits, personText, type RawCommit, readCommits } from "../../git/commits.ts";
import { runGit } from "../../git/run.ts";
import { visible } from "../../registry/markdown.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { serviceIdentity } from "../store.ts";
import type { FollowedRange } from "./branch.ts";

/** Commits that other processes have pushed to the branch, as a line of the log. */
export interface Push {
	from: string;
	to: string;
	/** The number of commits, and the ids of the last ones, the newest first. */
	commits: number;
	newest: string[];
	/** Their authors and committers, as the commits name them: `Ada <ada@example.org>`. */
	people: string[];
	/** How many layers differ. */
	layers: number;
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
 * Describes a pushed range of commits.
 * @returns null if the service has made all of them
 * @throws {Error} if git fails
 */
export async function describePush(repository: string, range: FollowedRange): Promise<Push | null> {
	const { from, to } = range;
	if (from === to) return null;
	const commitsOf = `${from}..${to}`;
	const commits: RawCommit[] = [];
	const ids = await listCommits(repository, [`--max-count=${maxCommits}`, commitsOf]);
	for await (const commit of readCommits(repository, ids)) commits.push(commit);
	if (commits.every(({ committer }) => personText(committer) === serviceIdentity)) return null;
	const count = await runGit(repository, ["rev-list", "--count", commitsOf]);
	const people = new Set(
		commits.flatMap(({ author, committer }) =>
			[author, committer].map((person) => visible(personText(person)).slice(0, maxName)),
		),
	);
	return {
		from,
		to,
		commits: Number(count.toString("latin1")),
		newest: ids.slice(0, maxNewest),
		people: [...people].slice(0, maxPeople),
		layers: await countLayers(range),
	};
}

async function countLayers({ changes }: FollowedRange): Promise<number> {
	const smallkeys = new Set<string>();
	for (const [at, { path }] of changes.entries()) {
		const name = parseLayerPath(path);
		if (name) smallkeys.add(name.smallkey);
		// A push may change all layers: other requests are answered in between.
		if (at % pathsAtOnce === pathsAtOnce - 1) await nextTurn();
	}
	return smallkeys.size;
}
