import { plain } from "../../registry/untrusted-text.ts";
import type { Github } from "../../store/github/client.ts";
import type { Annotation } from "./report.ts";

type Comment = Awaited<ReturnType<typeof readComments>>[number];

/** Reads the comments of a pull request that `author` wrote: markers in other people's comments are ignored. */
export async function readComments({ rest, repo, paginate }: Github, number: number, author: string) {
	const parameters = { ...repo, issue_number: number, per_page: 100 };
	const all = await paginate(rest.issues.listComments, parameters);
	return all.filter(({ user }) => user?.login === author);
}

export function findComment(comments: readonly Comment[], marker: string): Comment | undefined {
	return comments.find(({ body }) => body?.startsWith(marker));
}

/**
 * Writes a comment, or edits the one with the same first line, its marker.
 * @param comments the comments that exist, from `readComments`
 */
export async function writeComment(
	{ rest, repo }: Github,
	number: number,
	text: string,
	comments: Comment[],
) {
	const before = findComment(comments, text.slice(0, text.indexOf("\n")));
	if (before?.body === text) return "unchanged";
	const written = before
		? rest.issues.updateComment({ ...repo, comment_id: before.id, body: text })
		: rest.issues.createComment({ ...repo, issue_number: number, body: text });
	await written;
	return before ? "edited" : "posted";
}

/** A check of a commit, as GitHub shows it beside a pull request. */
interface CheckRun {
	/** A ruleset requires the check by this name. */
	name: string;
	conclusion: "success" | "failure";
	/** One line. */
	title: string;
	/** Markdown, for the check's own page. */
	summary: string;
	/** At most 50, as in a report. */
	annotations?: readonly Annotation[];
}

/** The title of a check that no review was made for: the hourly run makes one. */
export const unableTitle = "could not be checked";

/** Reads the newest check run of each name and App on a commit ("List check runs for a Git reference"). */
export async function readCheckRuns({ rest, repo, paginate }: Github, sha: string) {
	const listed = paginate(rest.checks.listForRef, { ...repo, ref: sha, filter: "latest", per_page: 100 });
	return listed;
}

type CheckRuns = Awaited<ReturnType<typeof readCheckRuns>>;

/** The check run that the App `author` (`name[bot]`) made; check runs of other Apps are ignored. */
export function findCheckRun(runs: CheckRuns, name: string, author: string): CheckRuns[number] | undefined {
	return runs.find((run) => run.name === name && `${run.app?.slug}[bot]` === author);
}

/**
 * Creates a check run of a commit, unless the existing one of `author` has the same content.
 * @returns the commit's check runs before
 */
export async function setCheckRun(github: Github, sha: string, run: CheckRun, author: string) {
	const { rest, repo } = github;
	const runs = await readCheckRuns(github, sha);
	const { name, conclusion, title, summary } = run;
	const before = findCheckRun(runs, name, author);
	const annotations = (run.annotations ?? []).map((remark) => ({
		path: remark.file,
		start_line: remark.line,
		end_line: remark.line,
		annotation_level: remark.level === "error" ? ("failure" as const) : ("warning" as const),
		title: remark.title,
		message: plain(remark.text),
	}));
	const isSame =
		before?.conclusion === conclusion &&
		before.output.title === title &&
		before.output.summary === summary &&
		before.output.annotations_count === annotations.length;
	const output = { title, summary, annotations };
	const wanted = { name, head_sha: sha, status: "completed", conclusion, output } as const;
	if (!isSame) await rest.checks.create({ ...repo, ...wanted });
	return runs;
}
