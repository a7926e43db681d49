import { layerPath } from "../../registry/smallkey.ts";
import { textOf } from "../../registry/texts.ts";
import type { CommitFiles } from "../reader.ts";
import { type Meta, requestMemoryMs, StoreBusy } from "../store.ts";
import { type Github, GithubBusy, Refused } from "./client.ts";
import { filesAt } from "./commit-files.ts";

/** The newest commit of a branch, with those before it. */
export interface Head {
	commit: string;
	tree: string;
	/** The branch's newest commits, the head first. */
	recent: PastCommit[];
	files: CommitFiles;
}

/** How many commits are read with the head. In a quiet repository, `wasUsed` needs no others. */
const recentCommits = 20;

type PastCommit = Awaited<ReturnType<Github["rest"]["repos"]["listCommits"]>>["data"][number];

/**
 * The head of a branch; null if the repository is empty.
 * @throws {Refused} if GitHub shows no such branch
 */
export async function readHead(github: Github, branch: string): Promise<Head | null> {
	const { rest, repo } = github;
	// A tag may have the same name.
	const listed = rest.repos.listCommits({ ...repo, sha: `refs/heads/${branch}`, per_page: recentCommits });
	const recent = await listed.then(
		({ data }) => data,
		(error: unknown) => {
			if (error instanceof Refused && /repository is empty/i.test(error.words)) return [];
			throw error;
		},
	);
	if (!recent[0]) return null;
	const { sha: commit, commit: newest } = recent[0];
	return { commit, tree: newest.tree.sha, recent, files: filesAt(github, commit, newest.tree.sha) };
}

const maxLagMs = 10_000;

/**
 * Reads the heads of branches, and refuses one that our last change has replaced: GitHub may answer a read from a replica
 * that a write has not reached yet.
 */
export class Heads {
	/** Id of each head that a change of ours has replaced → when, in milliseconds since 1970. */
	readonly #replaced = new Map<string, number>();

	constructor(readonly now: () => Date) {}

	/**
	 * The head of a branch; null if the repository is empty.
	 * @throws {Refused} if a change of ours replaced this head moments ago: a change decided on it would undo ours
	 */
	async find(github: Github, branch: string): Promise<Head | null> {
		const head = await readHead(github, branch);
		const since = this.#replaced.get(head?.commit ?? "") ?? 0;
		if (since + maxLagMs < this.now().getTime()) return head;
		throw new Refused(409, `the branch ${branch}`, "a read lags behind the last change");
	}

	/** Notes that a commit is no longer the head of its branch, since a change of ours replaced it. */
	noteReplaced(commit: string): void {
		const time = this.now().getTime();
		for (const [other, since] of this.#replaced) if (since + maxLagMs < time) this.#replaced.delete(other);
		this.#replaced.set(commit, time);
	}
}

/** Most commits of one layer that are read: 100 in five minutes are no publisher's. */
const maxCommits = 100;

/**
 * Whether a change's signature was used in the last five minutes, by this process or another one.
 * @throws {StoreBusy} if the history cannot be read, so that this is not known
 */
export async function wasUsed({ rest, repo }: Github, head: Head, meta: Meta, now: Date): Promise<boolean> {
	const { request, smallkey } = meta;
	if (request === null) return false;
	const isCarrier = ({ commit }: PastCommit) => commit.message.split("\n").includes(`Request: ${request}`);
	const from = now.getTime() - requestMemoryMs;
	const lately = head.recent.filter(({ commit }) => Date.parse(commit.committer?.date ?? "") >= from);
	if (lately.some(isCarrier)) return true;
	if (lately.length < recentCommits || smallkey === null) return false;
	const about = { path: layerPath(smallkey), since: new Date(from).toISOString(), per_page: maxCommits };
	try {
		const { data } = await rest.repos.listCommits({ ...repo, ...about, sha: head.commit });
		if (data.length === maxCommits) throw new Error(`${about.path}: has too many commits`);
		return data.some(isCarrier);
	} catch (error) {
		if (error instanceof StoreBusy) throw error;
		throw new GithubBusy(textOf("github-history"), 15, `the replay guard: ${(error as Error).message}`);
	}
}
