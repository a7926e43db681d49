import { layerPath } from "../../registry/smallkey.ts";
import { textOf } from "../../registry/texts.ts";
import { type Meta, requestMemoryMs, StoreBusy } from "../store.ts";
import { Conflict, dataOf, type Github } from "./answer.ts";
import { GithubBusy } from "./client.ts";

/** The newest commit of a branch, with those before it. */
export interface Head {
	commit: string;
	tree: string;
	/** The branch's newest commits, the head first. */
	recent: PastCommit[];
}

/** How many commits are read with the head. In a quiet repository, `wasUsed` needs no others. */
const recentCommits = 20;

type PastCommit = Awaited<ReturnType<Github["rest"]["repos"]["listCommits"]>>["data"][number];

/**
 * The head of a branch; null if the repository is empty.
 * @throws {Conflict} if GitHub shows no such branch
 */
export async function readHead({ rest, repo }: Github, branch: string): Promise<Head | null> {
	// A tag may have the same name.
	const asked = rest.repos.listCommits({ ...repo, sha: `refs/heads/${branch}`, per_page: recentCommits });
	const commits = await dataOf(asked, `show the branch ${branch}`).catch((error: unknown) => {
		if (error instanceof Conflict && error.isOfEmptyRepository) return [];
		throw error;
	});
	const [newest] = commits;
	if (!newest) return null;
	return { commit: newest.sha, tree: newest.commit.tree.sha, recent: commits };
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
	 * @throws {Conflict} if a change of ours replaced this head moments ago: a change decided on it would undo ours
	 */
	async find(github: Github, branch: string): Promise<Head | null> {
		const head = await readHead(github, branch);
		if (!head) return null;
		const since = this.#replaced.get(head.commit);
		if (since === undefined || since + maxLagMs < this.now().getTime()) return head;
		throw new Conflict("GitHub: a read lags behind the last change", true);
	}

	/** Notes that a commit is no longer the head of its branch, since a change of ours replaced it. */
	noteReplaced(commit: string): void {
		const time = this.now().getTime();
		for (const [other, since] of this.#replaced) if (since + maxLagMs < time) this.#replaced.delete(other);
		this.#replaced.set(commit, time);
	}
}

/** Whether a commit has the trailer `Request` of a change. */
export function carriesRequest({ commit }: PastCommit, { request }: Meta): boolean {
	return request !== null && commit.message.split("\n").includes(`Request: ${request}`);
}

/**
 * Whether a change's signature was used in the last five minutes, by this process or another one.
 * @throws {StoreBusy} if the history cannot be read, so that this is not known
 */
export async function wasUsed(github: Github, head: Head, meta: Meta, now: Date): Promise<boolean> {
	if (meta.request === null) return false;
	const from = now.getTime() - requestMemoryMs;
	const lately = head.recent.filter(({ commit }) => Date.parse(commit.committer?.date ?? "") >= from);
	if (lately.some((commit) => carriesRequest(commit, meta))) return true;
	if (lately.length < recentCommits || meta.smallkey === null) return false;
	const path = layerPath(meta.smallkey);
	const history = await readHistory(github, head, path, from).catch((error: unknown) => {
		if (error instanceof StoreBusy) throw error;
		const reason = `the replay guard: ${error instanceof Error ? error.message : String(error)}`;
		throw new GithubBusy(textOf("github-history"), 15, reason);
	});
	return history.some((commit) => carriesRequest(commit, meta));
}

const commitsPerPage = 100;

/** Most pages that are read of one layer's commits in the last five minutes. */
const maxPages = 10;

/** The commits that touch a file, from a time on. Octokit's `paginate` is not used: it turns a 409 into an empty list. */
async function readHistory(
	{ rest, repo }: Github,
	head: Head,
	path: string,
	from: number,
): Promise<PastCommit[]> {
	const since = new Date(from).toISOString();
	const found: PastCommit[] = [];
	for (let page = 1; page <= maxPages; page += 1) {
		const parameters = { ...repo, sha: head.commit, path, since, per_page: commitsPerPage, page };
		const commits = await dataOf(rest.repos.listCommits(parameters), `show the history of ${path}`);
		found.push(...commits);
		if (commits.length < commitsPerPage) return found;
	}
	throw new Error(`${path}: has ${found.length} commits of late and more`);
}
