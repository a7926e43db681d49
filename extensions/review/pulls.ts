import type { Github } from "../../store/github/client.ts";

export type OpenPull = Awaited<ReturnType<typeof openPulls>>[number];

/** A pull request and its reviewed commit: the jobs of the workflow `layers` pass these on as JSON. */
export interface PullRef {
	number: number;
	head: string;
}

/**
 * Pull requests that one run looks at: at some 15 requests for each, so many stay below half of the 5,000 an hour that an
 * App has ("Rate limits for the REST API").
 */
const maxPulls = 150;

/** Each hour another part, if there are too many. */
export function partOf<Pull>(pulls: readonly Pull[], now: Date): Pull[] {
	const parts = Math.max(1, Math.ceil(pulls.length / maxPulls));
	const hour = Math.floor(now.getTime() / 3_600_000);
	return pulls.filter((_pull, index) => index % parts === hour % parts);
}

export function openPulls({ rest, repo, paginate }: Github, base: string) {
	return paginate(rest.pulls.list, { ...repo, state: "open" as const, base, per_page: 100 });
}

/** @param missing only those without a check of this name from the App `author`, and those that it could not check */
export async function findPulls(
	github: Github,
	base: string,
	now: Date,
	{ head, missing, author }: { head?: string; missing?: string; author: string },
): Promise<PullRef[]> {
	const open = await openPulls(github, base);
	const matching = open.filter((pull) => head === undefined || pull.head.sha === head);
	const chosen: PullRef[] = [];
	for (const pull of partOf(matching, now)) {
		const { sha } = pull.head;
		const run = missing && findCheckRun(await readCheckRuns(github, sha), missing, author);
		if (!run || run.output.title === unableTitle) chosen.push({ number: pull.number, head: sha });
	}
	return chosen;
}

/** @throws {Error} if it is not the output of `npx fragment-publisher pull-requests` */
export function parsePulls(text: string): PullRef[] {
	const pulls: PullRef[] = JSON.parse(text);
	const isPull = ({ number, head }: PullRef) =>
		Number.isSafeInteger(number) && /^[0-9a-f]{40,64}$/.test(head);
	if (!Array.isArray(pulls) || !pulls.every(isPull))
		throw new Error("--pulls: must be a list of pull requests");
	return pulls;
}

/** Only those of `author`: markers in other people's comments are ignored. */
export async function readComments({ rest, repo, paginate }: Github, number: number, author: string) {
	const all = await paginate(rest.issues.listComments, { ...repo, issue_number: number, per_page: 100 });
	return all.filter(({ user }) => user?.login === author);
}

/** Writes a comment, or edits the one of `comments` with the same first line, its marker. */
export async function writeComment(
	{ rest, repo }: Github,
	issue_number: number,
	body: string,
	comments: Awaited<ReturnType<typeof readComments>>,
) {
	const before = comments.find((comment) => comment.body?.startsWith(body.slice(0, body.indexOf("\n"))));
	if (before?.body === body) return "unchanged";
	if (before) await rest.issues.updateComment({ ...repo, comment_id: before.id, body });
	else await rest.issues.createComment({ ...repo, issue_number, body });
	return before ? "edited" : "posted";
}

/** The title of a check that no review was made for: the hourly run makes one. */
export const unableTitle = "could not be checked";

/** The newest check run of each name and App on a commit ("List check runs for a Git reference"). */
async function readCheckRuns({ rest, repo, paginate }: Github, ref: string) {
	return paginate(rest.checks.listForRef, { ...repo, ref, filter: "latest", per_page: 100 });
}

type CheckRuns = Awaited<ReturnType<typeof readCheckRuns>>;

/** Of the App `author` (`name[bot]`); check runs of other Apps are ignored. */
export function findCheckRun(runs: CheckRuns, name: string, author: string): CheckRuns[number] | undefined {
	return runs.find((run) => run.name === name && `${run.app?.slug}[bot]` === author);
}

type CheckParameters = NonNullable<Parameters<Github["rest"]["checks"]["create"]>[0]>;

/** At most 50 annotations. */
type CheckRun = Required<Pick<CheckParameters, "conclusion" | "output">> & { name: string };

/** Unless the check run of `author` has the same content. @returns the commit's check runs before */
export async function setCheckRun(github: Github, author: string, head_sha: string, run: CheckRun) {
	const runs = await readCheckRuns(github, head_sha);
	const before = findCheckRun(runs, run.name, author);
	const { title, summary, annotations = [] } = run.output;
	const isSame =
		before?.conclusion === run.conclusion &&
		before.output.title === title &&
		before.output.summary === summary &&
		before.output.annotations_count === annotations.length;
	const { rest, repo } = github;
	const output = { title, summary, annotations };
	if (!isSame) await rest.checks.create({ ...repo, ...run, head_sha, status: "completed", output });
	return runs;
}
