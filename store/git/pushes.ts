import { setImmediate as nextTurn } from "node:timers/promises";
import { listCommits, personText, type RawCommit, readCommits } from "../../git/commits.ts";
import { runGit } from "../../git/run.ts";
import { visible } from "../../registry/markdown.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { serviceIdentity } from "../store.ts";
import type { FollowedRange } from "./branch.ts";

/** What others have brought to the branch: a line of the log. */
export interface Push {
	from: string;
	to: string;
	/** How many commits, and the last of them, the newest first. */
	commits: number;
	newest: string[];
	/** Who has written or committed them, as they say of themselves: `Ada <ada@example.org>`. */
	people: string[];
	/** How many layers differ. */
	layers: number;
}

/** Commits that are read and named, and people; those that are left out are in the history. */
const maxCommits = 1_000;
const maxNewest = 10;
const maxPeople = 10;

/** Paths that are read in one turn of the event loop. */
const pathsAtOnce = 1_000;

/** Longest name of a person, in characters. */
const maxName = 100;

/**
 * Reads who has made a range of commits, and of what.
 * @returns null where the service has made all of it
 * @throws {Error} where git fails
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
		// A push may bring all layers: requests are answered in between.
		if (at % pathsAtOnce === pathsAtOnce - 1) await nextTurn();
	}
	return smallkeys.size;
}
