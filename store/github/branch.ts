import type { CommitFiles } from "../reader.ts";
import { type Github, GithubBusy, Refused } from "./client.ts";
import { filesAt } from "./files.ts";

export interface Head {
	commit: string;
	tree: string;
	/** The newest first. */
	recent: PastCommit[];
	files: CommitFiles;
}

export const recentCommits = 20;

export type PastCommit = Awaited<ReturnType<Github["rest"]["repos"]["listCommits"]>>["data"][number];

/** @throws {Refused} if GitHub shows no such branch */
export async function readHead(github: Github, branch: string): Promise<Head> {
	const { rest, repo } = github;
	// A tag may have the same name.
	const parameters = { ...repo, sha: `refs/heads/${branch}`, per_page: recentCommits };
	const { data } = await rest.repos.listCommits(parameters).catch((error: unknown) => {
		if (!(error instanceof Refused && /repository is empty/i.test(error.words))) throw error;
		throw new GithubBusy(300, "the repository on GitHub has no commit yet: make one", "read-only");
	});
	const [head] = data as [PastCommit];
	const tree = head.commit.tree.sha;
	return { commit: head.sha, tree, recent: data, files: filesAt(github, head.sha, tree) };
}

const maxLagMs = 10_000;

/** GitHub may answer from a replica that our last move of a branch has not reached yet. */
export class Heads {
	readonly #moves = new Map<string, { tip: string; until: number }>();

	constructor(readonly now: () => Date) {}

	/** @throws {Refused} if the read lags behind our last move */
	async find(github: Github, branch: string): Promise<Head> {
		const head = await readHead(github, branch);
		const last = this.#moves.get(branch);
		if (!last || last.until < this.now().getTime() || head.recent.some(({ sha }) => sha === last.tip))
			return head;
		throw new Refused(409, `the branch ${branch}`, "a read lags behind the last change");
	}

	/**
	 * @param isNew whether the branch is made; one of this name that is left from earlier is replaced
	 * @throws {Refused} if another writer has moved the branch in the meantime
	 */
	async move(github: Github, branch: string, tip: string, isNew: boolean): Promise<void> {
		await (isNew ? makeBranch(github, branch, tip) : updateRef(github, branch, tip, false));
		const time = this.now().getTime();
		for (const [name, { until }] of this.#moves) if (until < time) this.#moves.delete(name);
		this.#moves.set(branch, { tip, until: time + maxLagMs });
	}
}

function updateRef({ rest, repo }: Github, branch: string, sha: string, force: boolean) {
	return rest.git.updateRef({ ...repo, ref: `heads/${branch}`, sha, force });
}

async function makeBranch(github: Github, branch: string, sha: string): Promise<void> {
	const { rest, repo } = github;
	await rest.git.createRef({ ...repo, ref: `refs/heads/${branch}`, sha }).catch((error: unknown) => {
		const words = error instanceof Refused ? error.words : "";
		if (/already exists/i.test(words)) return updateRef(github, branch, sha, true);
		// A branch `a` forbids a branch `a/b`, and a rule of the repository may forbid it.
		if (!/reference update failed/i.test(words)) throw error;
		const [parent] = branch.split("/");
		const why = `a branch ${parent} may be in the way, to be renamed or removed, or a rule`;
		throw new GithubBusy(300, `GitHub does not make the branch ${branch}: ${words}: ${why}`, "read-only");
	});
}
