import { isUtf8 } from "node:buffer";
import { type GitObject, readObjects } from "../git/commands/cat-file.ts";
import { headerLines, isDescendant, listCommits, maxAheadMs, parseCommit } from "../git/commands/commits.ts";
import { findTooMany } from "../git/commands/tree.ts";
import {
	authorMail,
	authorOf,
	declinedFolder,
	isReviewBranch,
	reviewFolders,
	serviceAuthor,
} from "../naming.ts";

/** githooks(5), "pre-receive" */
export interface Update {
	from: string | null;
	to: string | null;
	/** `refs/heads/main` */
	ref: string;
}

export const servedRef = "refs/heads/main";

const branches = "refs/heads/";

export function parseUpdates(text: string): Update[] {
	// Git writes zeros for a ref that is new or removed.
	const commitOf = (id: string) => (/^0+$/.test(id) ? null : id);
	const lines = text.split("\n").filter(Boolean);
	return lines.map((line) => {
		const [from = "", to = "", ...name] = line.split(" ");
		return { from: commitOf(from), to: commitOf(to), ref: name.join(" ") };
	});
}

/** Such a ref only moves forward, to commits that the service has written or accepted. */
function isOfService(ref: string): boolean {
	return ref === servedRef || isReviewRef(ref);
}

function isReviewRef(ref: string): boolean {
	return ref.startsWith(branches) && isReviewBranch(ref.slice(branches.length));
}

export async function findUpdateProblem(repository: string, update: Update): Promise<string | null> {
	const { from, to, ref } = update;
	const problem = findRefProblem(update);
	if (problem !== null || to === null || !isOfService(ref)) return problem;
	if (from !== null && !(await isDescendant(repository, from, to)))
		return "must follow its current commit, which a forced push would lose: pull first";
	return (
		(await findCommitProblem(repository, to)) ??
		(await findUnmerged(repository, update)) ??
		findTooMany(repository, to)
	);
}

function findRefProblem({ from, to, ref }: Update): string | null {
	if (!ref.startsWith(branches)) return "only branches may be pushed: refs/heads/…";
	if (to === null) return isOfService(ref) ? "must not be removed: it is the service's own" : null;
	if (ref === servedRef) return null;
	const branch = ref.slice(branches.length);
	const lower = branch.toLowerCase();
	const [folder = ""] = lower.split("/");
	// A case-insensitive file system stores `Main` and `main` in one file. With the others, `main` or
	// `heads/main` is ambiguous (gitrevisions(7)), and git pushes to none of them.
	if (/^(?:main$|head$|heads\/|refs\/)/.test(lower))
		return "is a name that git may take for another branch: push it under another name";
	const isReserved = [...reviewFolders, declinedFolder].some((name) => name === folder);
	const mayMove = !isReserved || (from !== null && isReviewRef(ref));
	return mayMove ? null : "is a branch of the service: push it under another name";
}

/** After a crash, the service finds the requests that it carried out by the committer of commits. */
function findCommitProblem(repository: string, to: string): Promise<string | null> {
	const reviews = reviewFolders.map((folder) => `--glob=refs/heads/${folder}/*`);
	const commits = [to, "--not", "--ignore-missing", servedRef, ...reviews];
	return findInCommits(repository, commits, (commit) => {
		return findAmbiguity(commit) ?? findForgery(commit) ?? findFuture(commit, Date.now());
	});
}

/** A merge commit says who accepted a review; a fast-forward has none. */
async function findUnmerged(repository: string, { from, to, ref }: Update): Promise<string | null> {
	if (ref !== servedRef || from === null || to === null) return null;
	const problem = "is a change that waits for review, and no commit says who accepts it: git merge --no-ff";
	const commits = ["--first-parent", to, `^${from}`];
	return findInCommits(repository, commits, (commit) => (isServiceCommit(commit) ? problem : null));
}

/** @param args of git-rev-list(1) */
async function findInCommits(
	repository: string,
	args: string[],
	judge: (commit: GitObject) => string | null,
) {
	const ids = await listCommits(repository, args);
	for await (const commit of readObjects(repository, "commit", ids)) {
		const problem = judge(commit);
		if (problem !== null) return `commit ${commit.id} ${problem}`;
	}
	return null;
}

/** Why git and the service might read a commit differently. */
function findAmbiguity({ body }: GitObject): string | null {
	const lines = headerLines(body);
	for (const name of ["author", "committer"]) {
		if (lines.filter((line) => line.startsWith(`${name} `)).length !== 1) return `must have one ${name}`;
	}
	const isOther = lines.some((line) => /^encoding /.test(line) && !/^encoding utf-?8$/i.test(line));
	if (!isOther && isUtf8(body)) return null;
	return "must be in UTF-8: git config --unset i18n.commitEncoding, and commit it again";
}

/** A commit with a date in the future would lead every feed until then. */
function findFuture(commit: GitObject, nowMs: number): string | null {
	const { author, committer } = parseCommit(commit);
	const latestMs = Math.max(author.timeMs, committer.timeMs);
	if (latestMs <= nowMs + maxAheadMs) return null;
	const date = new Date(latestMs).toISOString();
	return `has the date ${date}, more than a day ahead: set the clock, and commit it again (git commit --amend --reset-author)`;
}

function findForgery(commit: GitObject): string | null {
	if (!isServiceCommit(commit)) return findCopy(commit);
	return (
		`names ${serviceAuthor} as its committer, and is not known here: the service has to recognize its own commits. ` +
		"Commit it in your own name (git rebase --force-rebase), or ask the operator of the service to fetch it"
	);
}

/** A cherry-pick or a rebase of a sender's commit, which an audit could not tell from a forged one. */
function findCopy(commit: GitObject): string | null {
	const { author, committer } = parseCommit(commit);
	const isOfSender = [author, committer].some(({ mail }) => authorOf(mail.toLowerCase()) !== null);
	// A squash at GitHub keeps the author.
	if (!isOfSender || committer.mail === "noreply@github.com") return null;
	return "names a sender, as only the service's own commits do: git merge --no-ff takes over a change that waits";
}

function isServiceCommit(commit: GitObject): boolean {
	const { name, mail } = parseCommit(commit).committer;
	return name.toLowerCase() === serviceAuthor || mail.toLowerCase() === authorMail(serviceAuthor);
}
