import { dataOf, saysEmpty, toRefusal } from "./refusal.ts";
import type { Github } from "./routes.ts";

/** The newest commit of a branch, with those before it. */
export interface Head {
	/** Id of the commit. */
	commit: string;
	/** Id of its root folder. */
	tree: string;
	/** The newest commits, itself first. */
	recent: PastCommit[];
}

/** A commit that is on a branch. */
export interface PastCommit {
	sha: string;
	/** When the service made it: milliseconds since 1970. */
	time: number;
	message: string;
}

/** How many commits are read with the head: in a quiet repository they hold all that `wasUsed` has to know. */
export const recentCommits = 20;

interface ListedCommit {
	sha: string;
	commit: { message: string; committer: { date?: string } | null; tree: { sha: string } };
}

function pastCommit({ sha, commit }: ListedCommit): PastCommit {
	return { sha, time: Date.parse(commit.committer?.date ?? ""), message: commit.message };
}

/**
 * The head of a branch; null where the repository is empty.
 * @throws {Conflict} where GitHub shows no such branch
 */
export async function readHead({ rest, repo }: Github, branch: string): Promise<Head | null> {
	const asked = rest.repos.listCommits({ ...repo, sha: branch, per_page: recentCommits });
	const commits = await asked.then(
		({ data }) => data,
		(error: unknown) => {
			if (saysEmpty(error)) return [];
			throw toRefusal(error, `show the branch ${branch}`);
		},
	);
	const newest = commits[0];
	if (!newest) return null;
	return { commit: newest.sha, tree: newest.commit.tree.sha, recent: commits.map(pastCommit) };
}

const commitsPerPage = 100;

/** Most pages of one layer's last minutes that are looked through. */
const maxPages = 10;

/**
 * The commits that touch a file, from a time on (milliseconds since 1970), newest first. Not by octokit's `paginate`:
 * that takes a 409 for an empty list.
 * @throws {Conflict} where GitHub does not show them; Error where there are more than can be read
 */
export async function readHistory(
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
		found.push(...commits.map(pastCommit));
		if (commits.length < commitsPerPage) return found;
	}
	throw new Error(`${path}: has ${found.length} commits of late and more`);
}
