import { dataOf } from "../store/github/refusal.ts";
import type { Github } from "../store/github/routes.ts";

/** A status of a commit, as GitHub shows it beside a pull request. */
export interface CommitStatus {
	/** What a ruleset requires it by. */
	context: string;
	state: "success" | "failure" | "error";
	/** One line of at most 140 characters. */
	description: string;
	/** Where more is said. */
	target_url?: string;
}

/**
 * Sets the status of a commit, where it is not so already: GitHub takes a thousand of one name.
 * @param author login of who sets it: what anybody else has set means nothing
 */
export async function setStatus(
	{ rest, repo, paginate }: Github,
	sha: string,
	status: CommitStatus,
	author: string,
): Promise<void> {
	const statuses = paginate(rest.repos.listCommitStatusesForRef, { ...repo, ref: sha, per_page: 100 });
	const all = await dataOf(
		statuses.then((data) => ({ data })),
		"list the statuses",
	);
	const last = all.find(({ context, creator }) => context === status.context && creator?.login === author);
	if (last?.state === status.state && last.description === status.description) return;
	await dataOf(rest.repos.createCommitStatus({ ...repo, sha, ...status }), "set the status");
}
