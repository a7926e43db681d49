import { layerPath } from "../../registry/smallkey.ts";
import { textOf } from "../../registry/texts.ts";
import type { CommitFiles } from "../reader.ts";
import { type Meta, requestMemoryMs, StoreBusy } from "../store.ts";
import { type Github, GithubBusy, Refused } from "./client.ts";
import { filesAt } from "./commit-files.ts";

/** The newest commit of a branch. */
export interface Head {
	commit: string;
	tree: string;
	/** The branch's newest commits, this one first. */
	recent: PastCommit[];
	files: CommitFiles;
}

/** In a quiet repository, `wasUsed` needs no other commits. */
const recentCommits = 20;

type PastCommit = Awaited<ReturnType<Github["rest"]["repos"]["listCommits"]>>["data"][number];

/** The head of a branch; null if the repository is empty. @throws {Refused} if GitHub shows no such branch */
export async function readHead(github: Github, branch: string): Promise<Head | null> {
	const { rest, repo } = github;
	// A tag may have the same name.
	const parameters = { ...repo, sha: `refs/heads/${branch}`, per_page: recentCommits };
	const listed = await rest.repos.listCommits(parameters).catch((error: unknown) => {
		if (error instanceof Refused && /repository is empty/i.test(error.words)) return null;
		throw error;
	});
	if (!listed?.data[0]) return null;
	const { sha, commit } = listed.data[0];
	return {
		commit: sha,
		tree: commit.tree.sha,
		recent: listed.data,
		files: filesAt(github, sha, commit.tree.sha),
	};
}

const maxLagMs = 10_000;

/** Reads the heads of branches. GitHub may answer a read from a replica that our last write has not reached yet. */
export class Heads {
	/** Branch → the commit to which we have moved it last, and until when a read may lag behind. */
	readonly #moved = new Map<string, { tip: string; until: number }>();

	constructor(readonly now: () => Date) {}

	/** The head of a branch; null if the repository is empty. @throws {Refused} if the read lags behind our last move */
	async find(github: Github, branch: string): Promise<Head | null> {
		const head = await readHead(github, branch);
		const last = this.#moved.get(branch);
		if (!last || last.until < this.now().getTime() || head?.recent.some(({ sha }) => sha === last.tip))
			return head;
		throw new Refused(409, `the branch ${branch}`, "a read lags behind the last change");
	}

	noteMoved(branch: string, tip: string): void {
		this.#moved.set(branch, { tip, until: this.now().getTime() + maxLagMs });
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
