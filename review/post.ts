import { dataOf } from "../store/github/refusal.ts";
import type { Github } from "../store/github/routes.ts";
import { longestComment, marker } from "./comment.ts";

/** What of a `workflow_run` event says which pull request it was for. */
export interface Run {
	/** Commit that was looked at. */
	head: string;
	/** Branch of the pull request, in its owner's repository. */
	branch: string;
	/** Login of that owner. */
	owner: string;
}

/** Events of a run that was for a pull request. */
const pullRequestEvents = new Set(["pull_request", "pull_request_target", "pull_request_review"]);

/** Pages of comments that are looked through for ours. */
const maxPages = 50;

/**
 * Reads the run out of an event's JSON (GitHub, "Webhook events and payloads: workflow_run").
 * @returns null where it was for no pull request, or its fork is gone
 * @throws {Error} where it is no such event
 */
export function parseRun(text: string): Run | null {
	const run = (JSON.parse(text) as { workflow_run?: Record<string, unknown> }).workflow_run;
	if (!run) throw new Error("the event is not a workflow_run");
	const repository = run.head_repository as { owner?: { login?: unknown } } | null | undefined;
	const [head, branch, owner] = [run.head_sha, run.head_branch, repository?.owner?.login];
	const isForPullRequest = typeof run.event === "string" && pullRequestEvents.has(run.event);
	if (!isForPullRequest || typeof branch !== "string" || typeof owner !== "string") return null;
	if (typeof head !== "string" || !/^[0-9a-f]{40,64}$/.test(head)) return null;
	return { head, branch, owner };
}

/**
 * The number of the open pull request of a run. The event itself names none for a fork, and what the run left behind
 * may say anything: GitHub is asked for the pull request of that branch.
 * @param base the branch that it has to be for
 * @returns null where there is none any more, or it has a newer commit, whose own run will tell
 */
export async function findPullRequest(
	{ rest, repo }: Github,
	run: Run,
	base: string,
): Promise<number | null> {
	const head = `${run.owner}:${run.branch}`;
	const asked = rest.pulls.list({ ...repo, state: "open", head, base, per_page: 100 });
	const pulls = await dataOf(asked, "list the pull requests");
	return pulls.find((pull) => pull.head.sha === run.head && pull.base.ref === base)?.number ?? null;
}

/** Checks a comment that is about to be posted. @throws {Error} where it is none of ours, or too long */
export function checkComment(text: string): void {
	if (!text.startsWith(`${marker}\n`)) throw new Error("the comment does not start with its marker");
	if (text.length > longestComment) throw new Error(`the comment has more than ${longestComment} characters`);
	if (/[^\P{Cc}\n]|\p{Cf}|\p{Cs}/u.test(text)) throw new Error("the comment holds control characters");
}

/**
 * Posts a comment, or edits the one that was posted before.
 * @param author login of who posts it: a marker in anybody else's comment means nothing
 * @returns what was done
 * @throws {Error} where the text is no review's
 */
export function postComment(github: Github, number: number, text: string, author: string): Promise<Posted> {
	checkComment(text);
	return writeComment(github, number, { marker, text }, author);
}

/** What became of a comment. */
export type Posted = "posted" | "edited" | "unchanged";

/** The text of a comment of ours, and the line at its start by which it is found again. */
export interface MarkedText {
	marker: string;
	text: string;
}

/** Writes a comment, or edits the one that `author` wrote with the same marker. */
export async function writeComment(
	github: Github,
	number: number,
	{ marker, text }: MarkedText,
	author: string,
): Promise<Posted> {
	const { rest, repo } = github;
	const before = await findComment(github, number, marker, author);
	if (before?.body === text) return "unchanged";
	const written = before
		? rest.issues.updateComment({ ...repo, comment_id: before.id, body: text })
		: rest.issues.createComment({ ...repo, issue_number: number, body: text });
	await dataOf<unknown>(written, "write the comment");
	return before ? "edited" : "posted";
}

/** The comment that `author` posted with a marker, in the first comments of a pull request; null where there is none. */
export async function findComment(
	{ rest, repo, paginate }: Github,
	number: number,
	marker: string,
	author: string,
) {
	const parameters = { ...repo, issue_number: number, per_page: 100 };
	let pages = 0;
	for await (const { data } of paginate.iterator(rest.issues.listComments, parameters)) {
		const ours = data.find(({ user, body }) => user?.login === author && body?.startsWith(marker));
		if (ours) return ours;
		pages += 1;
		if (pages === maxPages) break;
	}
	return null;
}
