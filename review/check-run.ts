import { dataOf, listOf } from "../store/github/refusal.ts";
import type { Github } from "../store/github/routes.ts";
import { plain } from "../terminal/plain.ts";
import type { Annotation } from "./report.ts";

/** A check of a commit, as GitHub shows it beside a pull request. */
export interface CheckRun {
	/** A ruleset requires the check by this name. */
	name: string;
	conclusion: "success" | "failure";
	/** One line. */
	title: string;
	/** Markdown, for the check's own page. */
	summary: string;
	annotations?: readonly Annotation[];
}

/** A check run as GitHub lists it. */
export interface ListedCheckRun {
	id: number;
	name: string;
	conclusion: string | null;
	app: { id: number; slug?: string } | null;
	output: { title: string | null; summary: string | null; annotations_count: number };
}

/** Most annotations that GitHub takes in one request ("Create a check run"). */
const maxAnnotations = 50;

/** The newest check run of each name and App on a commit. */
export async function readCheckRuns(
	{ rest, repo, paginate }: Github,
	sha: string,
): Promise<ListedCheckRun[]> {
	const listed = paginate(rest.checks.listForRef, { ...repo, ref: sha, filter: "latest", per_page: 100 });
	return listOf(listed, "list the check runs");
}

/** The check run that the App `author` (`name[bot]`) made; one of any other App means nothing. */
export function findCheckRun(
	runs: readonly ListedCheckRun[],
	name: string,
	author: string,
): ListedCheckRun | undefined {
	return runs.find((run) => run.name === name && `${run.app?.slug}[bot]` === author);
}

/**
 * Sets a check of a commit; one with the same content stays as it is.
 * @param before the check run of this name that is there
 */
export async function setCheckRun(
	{ rest, repo }: Github,
	sha: string,
	run: CheckRun,
	before: ListedCheckRun | undefined,
): Promise<void> {
	const { name, conclusion, title, summary } = run;
	const annotations = (run.annotations ?? [])
		.slice(0, maxAnnotations)
		.map(({ level, title, file, line, text }) => ({
			path: file,
			start_line: line,
			end_line: line,
			annotation_level: level === "error" ? ("failure" as const) : ("warning" as const),
			title,
			message: plain(text),
		}));
	const isSame =
		before?.conclusion === conclusion &&
		before.output.title === title &&
		before.output.summary === summary &&
		before.output.annotations_count === annotations.length;
	if (isSame) return;
	const output = { title, summary, annotations };
	const asked = rest.checks.create({ ...repo, name, head_sha: sha, status: "completed", conclusion, output });
	await dataOf<unknown>(asked, `set the check ${name}`);
}
