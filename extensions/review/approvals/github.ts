import type { Github } from "../../../store/github/client.ts";

export type OpenPull = Awaited<ReturnType<typeof openPulls>>[number];

/** As `gh pr list --json number,headRefOid` prints it. */
export interface PullRef {
	number: number;
	/** Its reviewed commit. */
	headRefOid: string;
}

/**
 * Pull requests that one run looks at: with some 15 requests for each, below the 1,000 an hour that a workflow's token has
 * ("Rate limits for the REST API").
 */
const maxPulls = 40;

/** Each hour another part, if there are too many. */
export function partOf<Pull>(pulls: readonly Pull[], now: Date): Pull[] {
	const parts = Math.max(1, Math.ceil(pulls.length / maxPulls));
	const hour = Math.floor(now.getTime() / 3_600_000);
	return pulls.filter((_pull, index) => index % parts === hour % parts);
}

export function openPulls({ rest, repo, paginate }: Github, base: string) {
	return paginate(rest.pulls.list, { ...repo, state: "open" as const, base, per_page: 100 });
}

/** Only those of `author`: markers in other people's comments are ignored. */
export async function readComments({ rest, repo, paginate }: Github, number: number, author: string) {
	const all = await paginate(rest.issues.listComments, { ...repo, issue_number: number, per_page: 100 });
	return all.filter(({ user }) => user?.login === author);
}

type CheckRuns = Awaited<ReturnType<typeof setCheckRun>>;

/** Of the App `author` (`name[bot]`); check runs of other Apps are ignored. */
export function findCheckRun(runs: CheckRuns, name: string, author: string): CheckRuns[number] | undefined {
	return runs.find((run) => run.name === name && `${run.app?.slug}[bot]` === author);
}

interface CheckRun {
	name: string;
	conclusion: "success" | "failure" | "cancelled";
	output: { title: string; summary: string };
}

/** Unless the check run of `author` has the same content. @returns the commit's check runs before */
export async function setCheckRun(github: Github, author: string, head_sha: string, run: CheckRun) {
	const { rest, repo, paginate } = github;
	// The newest check run of each name and App on a commit ("List check runs for a Git reference").
	const about = { ...repo, ref: head_sha, filter: "latest" as const, per_page: 100 };
	const runs = await paginate(rest.checks.listForRef, about);
	const before = findCheckRun(runs, run.name, author);
	const { title, summary } = run.output;
	const isSame =
		before?.conclusion === run.conclusion &&
		before.output.title === title &&
		before.output.summary === summary;
	if (!isSame) await rest.checks.create({ ...repo, ...run, head_sha, status: "completed" });
	return runs;
}
