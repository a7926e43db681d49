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

/** githooks(5), "pre-receive". */
export interface Update {
	/** Null for a new ref. */
	from: string | null;
	/** Null to remove the ref. */
	to: string | null;
	/** `refs/heads/main` */
	ref: string;
}

export const servedRef = "refs/heads/main";

const branches = "refs/heads/";

/** @param text lines of `<from> <to> <ref>`, with zeros for null */
export function parseUpdates(text: string): Update[] {
	const commitOf = (id: string) => (/^0+$/.test(id) ? null : id);
	const lines = text.split("\n").filter(Boolean);
	return lines.map((line) => {
		const [from = "", to = "", ...name] = line.split(" ");
		return { from: commitOf(from), to: commitOf(to), ref: name.join(" ") };
	});
}

/** Such a ref only moves forward, to commits that the service has written or accepted. */
function isServiceRef(ref: string) {
	return ref === servedRef || (ref.startsWith(branches) && isReviewBranch(ref.slice(branches.length)));
}

/** Why the update is refused, or null. */
export async function findUpdateProblem(repository: string, update: Update): Promise<string | null> {
	const { from, to, ref } = update;
	const problem = findRefProblem(update);
	if (problem !== null || to === null || !isServiceRef(ref)) return problem;
	if (from !== null && !(await isDescendant(repository, from, to)))
		return "must follow its current commit, which a forced push would lose: pull first";
	return (
		(await findCommitProblem(repository, to)) ??
		(await findUnmerged(repository, update)) ??
		findTooMany(repository, to)
	);
}

function findRefProblem({ from, to, ref }: Update) {
	if (!ref.startsWith(branches)) return "only branches may be pushed: refs/heads/…";
	if (to === null) return isServiceRef(ref) ? "must not be removed: it is the service's own" : null;
	if (ref === servedRef) return null;
	const branch = ref.slice(branches.length);
	const lower = branch.toLowerCase();
	const [folder = ""] = lower.split("/");
	// A case-insensitive file system stores `Main` and `main` in one file. The other names make `main` or
	// `heads/main` ambiguous (gitrevisions(7)), and git then pushes to neither.
	if (/^(?:main$|head$|heads\/|refs\/)/.test(lower))
		return "is a name that git may take for another branch: push it under another name";
	const isReserved = [...reviewFolders, declinedFolder].some((name) => name === folder);
	const mayMove = !isReserved || (from !== null && isReviewBranch(branch));
	return mayMove ? null : "is a branch of the service: push it under another name";
}

/** After a crash, the service finds the requests that it carried out by the committer of commits. */
function findCommitProblem(repository: string, to: string) {
	const reviews = reviewFolders.map((folder) => `--glob=refs/heads/${folder}/*`);
	const range = [to, "--not", "--ignore-missing", servedRef, ...reviews];
	return findInCommits(repository, range, (commit) => {
		return findAmbiguity(commit) ?? findForgery(commit) ?? findCopy(commit) ?? findFuture(commit, Date.now());
	});
}

/** A merge commit says who accepted a review; a fast-forward has none. */
async function findUnmerged(repository: string, { from, to, ref }: Update) {
	if (ref !== servedRef || from === null || to === null) return null;
	const problem = "is a change that waits for review, and no commit says who accepts it: git merge --no-ff";
	const range = ["--first-parent", to, `^${from}`];
	return findInCommits(repository, range, (commit) => (isServiceCommit(commit) ? problem : null));
}

/** @param range arguments of git-rev-list(1) */
async function findInCommits(
	repository: string,
	range: string[],
	judge: (commit: GitObject) => string | null,
) {
	const ids = await listCommits(repository, range);
	for await (const commit of readObjects(repository, "commit", ids)) {
		const problem = judge(commit);
		if (problem !== null) return `commit ${commit.id} ${problem}`;
	}
	return null;
}

/** Git and the service might read such a commit differently. */
function findAmbiguity({ body }: GitObject) {
	const lines = headerLines(body);
	for (const name of ["author", "committer"]) {
		if (lines.filter((line) => line.startsWith(`${name} `)).length !== 1) return `must have one ${name}`;
	}
	const hasEncoding = lines.some((line) => /^encoding /.test(line) && !/^encoding utf-?8$/i.test(line));
	if (!hasEncoding && isUtf8(body)) return null;
	return "must be in UTF-8: git config --unset i18n.commitEncoding, and commit it again";
}

/** A commit with a date in the future would lead every feed until then. */
function findFuture(commit: GitObject, nowMs: number) {
	const { author, committer } = parseCommit(commit);
	const latestMs = Math.max(author.timeMs, committer.timeMs);
	if (latestMs <= nowMs + maxAheadMs) return null;
	const date = new Date(latestMs).toISOString();
	return `has the date ${date}, more than a day ahead: set the clock, and commit it again (git commit --amend --reset-author)`;
}

function findForgery(commit: GitObject) {
	if (!isServiceCommit(commit)) return null;
	return (
		`names ${serviceAuthor} as its committer, and is not known here: the service has to recognize its own commits. ` +
		"Commit it in your own name (git rebase --force-rebase), or ask the operator of the service to fetch it"
	);
}

/** A cherry-pick or a rebase of a sender's commit, which an audit could not tell from a forged one. */
function findCopy(commit: GitObject) {
	const { author, committer } = parseCommit(commit);
	const isOfSender = [author, committer].some(({ mail }) => authorOf(mail.toLowerCase()) !== null);
	// A squash at GitHub keeps the author.
	if (!isOfSender || committer.mail === "noreply@github.com") return null;
	return "names a sender, as only the service's own commits do: git merge --no-ff takes over a change that waits";
}

function isServiceCommit(commit: GitObject) {
	const { name, mail } = parseCommit(commit).committer;
	return name.toLowerCase() === serviceAuthor || mail.toLowerCase() === authorMail(serviceAuthor);
}
