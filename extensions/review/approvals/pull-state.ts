import { healthPath, parseLayerPath } from "../../../registry/smallkey.ts";
import { type Github, Refused } from "../../../store/github/client.ts";
import { authorOf, isReviewBranch } from "../../../store/naming.ts";
import type { Merge } from "../layer-changes.ts";

/** GitHub lists no more of a pull request ("List pull requests files", "List commits on a pull request"). */
const maxListedFiles = 3_000;
const maxListedCommits = 250;

/** GitHub does not show who has started the workflow's run. */
const workflowPusher = "github-actions[bot]";

/** Events after which a pull request is for another branch than before ("Issue event types"). */
const baseChanges = ["base_ref_changed", "automatic_base_change_succeeded"];

/** No person may push to its branch. */
const obstacleOfService = "it has a conflict: close it; its sender, or the next refresh, proposes it again";

export interface StateSource {
	github: Github;
	base: string;
	/** Login of the workflows' App, which sets checks and writes comments. */
	author: string;
	/** What merging a commit into `base` changes. */
	readMerge: (head: string) => Promise<Pick<Merge, "paths" | "obstacle">>;
}

export type PullState = NonNullable<Awaited<ReturnType<typeof readState>>>;

/** Null if the pull request has a newer commit, or is for another branch now. */
export async function readState({ github, base, author, readMerge }: StateSource, pull: OpenPull) {
	const { rest, repo, paginate } = github;
	const { user, head } = pull;
	const about = { ...repo, pull_number: pull.number };
	const reviews = await paginate(rest.pulls.listReviews, { ...about, per_page: 100 });
	const files = await paginate(rest.pulls.listFiles, { ...about, per_page: 100 });
	const commits = await paginate(rest.pulls.listCommits, { ...about, per_page: 100 });
	// What was read before could be that of a newer commit.
	const shown = (await rest.pulls.get(about)).data;
	if (shown.head.sha !== head.sha || shown.base.ref !== base) return null;
	const isOwn = head.repo?.full_name.toLowerCase() === `${repo.owner}/${repo.repo}`.toLowerCase();
	// The service and the workflows have no branches in a fork.
	const branch = isOwn ? head.ref : "";
	const isOfService = isReviewBranch(branch);
	const isRefresh = branch === "refresh" && user?.login === author;
	const { paths, obstacle } = await readMerge(head.sha);
	const mails = isOfService ? commits.map(({ commit }) => commit.author?.email ?? "") : [];
	const pushers = await readPushers(github, pull);
	const hasAllFiles = files.length === shown.changed_files && files.length < maxListedFiles;
	const hasAllCommits = commits.length === shown.commits && commits.length < maxListedCommits;
	const reasons = [
		!hasAllFiles && "too many files for GitHub to list them: split the change",
		!hasAllCommits && "too many commits for GitHub to list them: squash them",
		pushers.some((pusher) => pusher?.login === workflowPusher) &&
			"a workflow has pushed to it, which hides who made it: use another branch",
		obstacle && (isOfService || branch === "refresh" ? obstacleOfService : obstacle),
		files.length === 0 && "it changes no file",
		!isListed(files, paths) &&
			"GitHub lists other files than its merge changes: merge the base into the branch",
	];
	return {
		/** Files that need an approval; a renamed one has both names. */
		paths: paths.filter((path) => !isRefresh || !isWrittenByRefresh(path)),
		/** People who cannot approve it. */
		makers: idsOf([user, ...commits.flatMap((commit) => [commit.author, commit.committer]), ...pushers]),
		/** Senders of its signed requests: people with their secrets cannot approve it. */
		senders: new Set(mails.flatMap((mail) => authorOf(mail) ?? [])),
		...(await readDecisions(github, pull, reviews)),
		/** Why `paths` or `makers` is incomplete, or null. */
		incomplete: reasons.find((reason) => typeof reason === "string") ?? null,
		/** Its branch is `register/*` or `repair/*` of this repository. */
		isOfService,
		/** Null while GitHub computes it. */
		isMergeable: shown.mergeable,
		/** The oldest first. */
		messages: commits.map(({ commit }) => commit.message),
	};
}

type Files = Awaited<ReturnType<Github["rest"]["pulls"]["listFiles"]>>["data"];

/** GitHub lists the differences to one merge base ("About comparing branches in pull requests"). */
function isListed(files: Files, paths: readonly string[]) {
	const names = files.flatMap(({ filename, previous_filename, status }) =>
		status === "copied" ? filename : [filename, previous_filename ?? filename],
	);
	const listed = new Set(names);
	return listed.size === new Set(paths).size && paths.every((path) => listed.has(path));
}

type Reviews = Awaited<ReturnType<Github["rest"]["pulls"]["listReviews"]>>["data"];

/** Reads the changes of base after the reviews: one that comes between them ends an approval. */
async function readDecisions({ rest, repo, paginate }: Github, { number, head }: OpenPull, reviews: Reviews) {
	// The others are comments.
	const deciding = reviews.filter(({ state }) => /^(?:APPROVED|CHANGES_REQUESTED|DISMISSED)$/.test(state));
	const last = [...new Map(deciding.map((review) => [review.user?.id, review])).values()];
	const approvals = last.filter(({ commit_id, state }) => commit_id === head.sha && state === "APPROVED");
	const about = { ...repo, issue_number: number, per_page: 100 };
	const events = approvals.length > 0 ? await paginate(rest.issues.listEvents, about) : [];
	// An earlier approval is of what the pull request changed in another branch.
	const changes = events.filter(({ event }) => baseChanges.includes(event));
	const newest = Math.max(0, ...changes.map(({ created_at }) => Date.parse(created_at)));
	const valid = approvals.filter(({ submitted_at }) => Date.parse(submitted_at ?? "") > newest);
	const objections = last.filter(({ state }) => state === "CHANGES_REQUESTED");
	return {
		/** Their last decision, on its newest commit, is an approval. */
		approvers: idsOf(valid.map(({ user }) => user)),
		/** Their last decision, on any commit, asks for changes. */
		objectors: idsOf(objections.map(({ user }) => user)),
	};
}

/** GitHub names no account for a person that it does not know, or that is gone. */
function idsOf(accounts: readonly ({ id?: number } | null | undefined)[]): Set<number> {
	return new Set(accounts.flatMap((account) => account?.id ?? []));
}

/** Other pull requests need an approval of these files: they decide on symbols, labels and which layers are shown. */
function isWrittenByRefresh(path: string) {
	return path === healthPath || parseLayerPath(path)?.part === "description";
}

/**
 * The accounts that pushed to a pull request's branch: anyone can write any mail address as a commit's author.
 * Empty if GitHub does not show the pushes, such as of a private fork ("List repository activities").
 */
async function readPushers({ rest }: Github, { head: { repo, ref } }: OpenPull) {
	if (!repo) return [];
	const [owner = "", name = ""] = repo.full_name.split("/");
	const about = { owner, repo: name, ref: `refs/heads/${ref}`, per_page: 100 };
	const { data } = await rest.repos.listActivities(about).catch((error: unknown) => {
		if (error instanceof Refused && error.status !== 401) return { data: [] };
		throw error;
	});
	return data.map(({ actor }) => actor);
}

export type OpenPull = Awaited<ReturnType<typeof openPulls>>[number];

/** At some 15 requests for each, below the 1,000 an hour of a workflow's token ("Rate limits for the REST API"). */
const maxPulls = 40;

/** Too many pull requests are judged in parts, one each hour. */
export function partOf(pulls: readonly OpenPull[], now: Date): OpenPull[] {
	const parts = Math.max(1, Math.ceil(pulls.length / maxPulls));
	const hour = Math.floor(now.getTime() / 3_600_000);
	return pulls.filter((_pull, index) => index % parts === hour % parts);
}

export function openPulls({ rest, repo, paginate }: Github, base: string) {
	return paginate(rest.pulls.list, { ...repo, state: "open" as const, base, per_page: 100 });
}

/** Other people could write the markers of `author`. */
export async function readComments({ rest, repo, paginate }: Github, number: number, author: string) {
	const all = await paginate(rest.issues.listComments, { ...repo, issue_number: number, per_page: 100 });
	return all.filter(({ user }) => user?.login === author);
}

export type CheckRuns = Awaited<ReturnType<Github["rest"]["checks"]["listForRef"]>>["data"]["check_runs"];

/** @param author login of the App that has set it */
export function findCheckRun(runs: CheckRuns, name: string, author: string): CheckRuns[number] | undefined {
	return runs.find((run) => run.name === name && `${run.app?.slug}[bot]` === author);
}

interface CheckRun {
	name: string;
	conclusion: "success" | "failure" | "cancelled";
	title: string;
	summary: string;
}

/** Does nothing if the content is the same. @returns the commit's check runs before */
export async function setCheckRun(
	{ rest, repo, paginate }: Github,
	author: string,
	head_sha: string,
	{ name, conclusion, ...output }: CheckRun,
): Promise<CheckRuns> {
	// The newest check run of each name and App ("List check runs for a Git reference").
	const about = { ...repo, ref: head_sha, filter: "latest" as const, per_page: 100 };
	const runs = await paginate(rest.checks.listForRef, about);
	const before = findCheckRun(runs, name, author);
	const isSame =
		before?.conclusion === conclusion &&
		before.output.title === output.title &&
		before.output.summary === output.summary;
	if (!isSame) await rest.checks.create({ ...repo, name, conclusion, output, head_sha, status: "completed" });
	return runs;
}
