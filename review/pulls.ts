import { type Github, isAnswered, listOf } from "../store/github/answer.ts";
import { reviewFolders } from "../store/store.ts";
import { findCheckRun, readCheckRuns } from "./post.ts";

export interface OpenPull {
	number: number;
	html_url: string;
	user: { login: string } | null;
	head: { sha: string; ref: string; repo: { full_name: string } | null };
	requested_reviewers?: { login: string }[] | null;
}

/** A pull request and its reviewed commit: the jobs of the workflow `layers` pass these on as JSON. */
export interface PullRef {
	number: number;
	/** Id of the newest commit. */
	head: string;
}

/** Pull requests of one run: GitHub starts at most 256 jobs for a matrix. */
const maxPulls = 256;

export async function openPulls({ rest, repo, paginate }: Github, base: string): Promise<OpenPull[]> {
	const parameters = { ...repo, state: "open" as const, base, per_page: 100 };
	return listOf(paginate(rest.pulls.list, parameters), "list the pull requests");
}

/**
 * The open pull requests for the matrix of a workflow.
 * @param head if given, only pull requests whose newest commit is this one
 * @param missing if given, only pull requests without a check of this name from the App `author`
 */
export async function findPulls(
	github: Github,
	base: string,
	{
		head: wanted,
		missing,
		author,
	}: { head?: string | undefined; missing?: string | undefined; author: string },
): Promise<PullRef[]> {
	const found: PullRef[] = [];
	for (const { number, head } of await openPulls(github, base)) {
		if (found.length === maxPulls) break;
		if (wanted !== undefined && head.sha !== wanted) continue;
		const has = missing && findCheckRun(await readCheckRuns(github, head.sha), missing, author);
		if (!has) found.push({ number, head: head.sha });
	}
	return found;
}

/** Parses the output of `npx fragments pull-requests`. @throws {Error} if it is anything else */
export function parsePulls(text: string): PullRef[] {
	const pulls: unknown = JSON.parse(text);
	const isPull = (value: unknown): value is PullRef => {
		const { number, head } = (value ?? {}) as Partial<PullRef>;
		return Number.isSafeInteger(number) && typeof head === "string" && /^[0-9a-f]{40,64}$/.test(head);
	};
	if (!Array.isArray(pulls) || !pulls.every(isPull))
		throw new Error("--pulls: must be a list of pull requests");
	return pulls;
}

/** Whether GitHub answered that the thing does not exist, or that this token may not see it. */
export function isRefused(error: unknown): boolean {
	return isAnswered(error) || (error instanceof Error && /^GitHub answers 403 /.test(error.message));
}

/** Whether the service, or a program that proposes changes, makes branches of this name. */
export function isReviewBranch(branch: string): boolean {
	return reviewFolders.some((folder) => branch.startsWith(`${folder}/`));
}

/** Like `isReviewBranch`, with the branch of the weekly refresh. */
export function isOwnBranch(branch: string): boolean {
	return isReviewBranch(branch) || branch === "refresh";
}

/** Whether a pull request comes from a branch of this repository, and not from a fork. */
export function isOfRepository({ repo }: Github, { head }: OpenPull): boolean {
	return head.repo?.full_name.toLowerCase() === `${repo.owner}/${repo.repo}`.toLowerCase();
}
