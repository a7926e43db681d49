import { healthPath } from "../../../registry/health.ts";
import type { Account } from "../../../registry/owners.ts";
import { parseLayerPath } from "../../../registry/smallkey.ts";
import { type Github, Refused } from "../../../store/github/client.ts";
import { authorOf, isReviewBranch } from "../../../store/store.ts";
import { isOfRepository, isOwnBranch, type OpenPull } from "../pulls.ts";

/** Files of a pull request that GitHub lists (REST API, "List pull requests files"). */
const maxListedFiles = 3_000;

/** Commits of a pull request that GitHub lists ("List commits on a pull request"). */
const maxListedCommits = 250;

/** Pushes with the token of a workflow's run. It does not show who has started that run. */
const workflowPusher = "github-actions[bot]";

/** Events after which a pull request is for another branch than before ("Issue event types"). */
const baseChanges = ["base_ref_changed", "automatic_base_change_succeeded"];

/** No person may push to its branch. */
const obstacleOfService = "it has a conflict: close it; its sender, or the next refresh, proposes it again";

/** Reviews in these states are decisions, and comments are not. */
const decisions = ["APPROVED", "CHANGES_REQUESTED", "DISMISSED"];

export interface StateSource {
	github: Github;
	base: string;
	/** Login of the workflows' App, which sets checks and writes comments. */
	author: string;
	/** What merging a commit into that branch changes; `obstacle` is null if it can be merged. */
	readMerge: (head: string) => Promise<{ paths: string[]; obstacle: string | null }>;
}

export type PullState = NonNullable<Awaited<ReturnType<typeof readState>>>;

type Review = Awaited<ReturnType<Github["rest"]["pulls"]["listReviews"]>>["data"][number];

function lastDecisions(reviews: readonly Review[]): Review[] {
	const deciding = reviews.filter(({ state }) => decisions.includes(state));
	return [...new Map(deciding.map((review) => [review.user?.id, review])).values()];
}

/** Without those from before the pull request was pointed at this branch: they are of what it changed in another one. */
async function approvalsOf({ rest, repo, paginate }: Github, number: number, last: Review[], sha: string) {
	const approvals = last.filter(({ commit_id, state }) => commit_id === sha && state === "APPROVED");
	if (approvals.length === 0) return [];
	const events = await paginate(rest.issues.listEvents, { ...repo, issue_number: number, per_page: 100 });
	const changes = events.filter(({ event }) => baseChanges.includes(event));
	const times = changes.map(({ created_at }) => created_at);
	const newest = Math.max(0, ...times.map((time) => Date.parse(time)));
	return approvals.filter(({ submitted_at }) => Date.parse(submitted_at ?? "") > newest);
}

/** Null if the pull request has a newer commit, or is for another branch now: what was read could be that one's. */
export async function readState(run: StateSource, pull: OpenPull) {
	const { github, base, author } = run;
	const { rest, repo, paginate } = github;
	const { number } = pull;
	const { sha, ref } = pull.head;
	const about = { ...repo, pull_number: number, per_page: 100 };
	const reviews = await paginate(rest.pulls.listReviews, about);
	const files = await paginate(rest.pulls.listFiles, about);
	const commits = await paginate(rest.pulls.listCommits, about);
	const shown = (await rest.pulls.get({ ...repo, pull_number: number })).data;
	if (shown.head.sha !== sha || shown.base.ref !== base) return null;
	const isInside = isOfRepository(github, pull);
	const isRefresh = isInside && ref === "refresh" && pull.user?.login === author;
	const merge = await run.readMerge(sha);
	const people = commits.flatMap((commit) => [commit.author?.id, commit.committer?.id]);
	const mails =
		isInside && isReviewBranch(ref) ? commits.map(({ commit }) => commit.author?.email ?? "") : [];
	const last = lastDecisions(reviews);
	const approvals = await approvalsOf(github, number, last, sha);
	const objections = last.filter(({ state }) => state === "CHANGES_REQUESTED");
	const pushers = await readPushers(github, pull);
	const isHidden = pushers.some((actor) => actor?.login === workflowPusher);
	const hasAllFiles = files.length === shown.changed_files && files.length < maxListedFiles;
	const hasAllCommits = commits.length === shown.commits && commits.length < maxListedCommits;
	const reasons = [
		!hasAllFiles && "too many files for GitHub to list them: split the change",
		!hasAllCommits && "too many commits for GitHub to list them: squash them",
		isHidden && "a workflow has pushed to it, which hides who made it: use another branch",
		merge.obstacle && isInside && isOwnBranch(ref) ? obstacleOfService : merge.obstacle,
		files.length === 0 && "it changes no file",
		!isSame(files, merge.paths) &&
			"GitHub lists other files than its merge changes: merge the base into the branch",
	];
	return {
		paths: merge.paths.filter((path) => !isRefresh || !isWrittenByRefresh(path)),
		makers: idsOf([pull.user?.id, ...people, ...pushers.map((actor) => actor?.id)]),
		senders: new Set(mails.flatMap((mail) => authorOf(mail) ?? [])),
		approvers: idsOf(approvals.map(({ user }) => user?.id)),
		incomplete: reasons.find((reason) => typeof reason === "string") ?? null,
		/** Null while GitHub computes it. */
		isMergeable: shown.mergeable,
		/** Whose last decision, on any commit, asks for changes. */
		objectors: idsOf(objections.map(({ user }) => user?.id)),
		/** The oldest first. */
		messages: commits.map(({ commit }) => commit.message),
	};
}

type ListedFile = Awaited<ReturnType<Github["rest"]["pulls"]["listFiles"]>>["data"][number];

/** GitHub lists the differences to one merge base ("About comparing branches in pull requests"). */
function isSame(files: readonly ListedFile[], paths: readonly string[]): boolean {
	const listed = files.flatMap(({ filename, previous_filename, status }) => {
		return previous_filename === undefined || status === "copied" ? filename : [filename, previous_filename];
	});
	const shown = new Set(listed);
	return shown.size === new Set(paths).size && paths.every((path) => shown.has(path));
}

function idsOf(ids: readonly (number | undefined)[]): Set<number> {
	return new Set(ids.filter((id) => id !== undefined));
}

/**
 * Such a file needs no approval in the weekly refresh, and needs one in any other pull request: service descriptions and
 * health decide on symbols, labels and which layers are shown.
 */
function isWrittenByRefresh(path: string): boolean {
	return path === healthPath || parseLayerPath(path)?.kind === "description";
}

/**
 * The accounts that pushed to a pull request's branch: anyone can write any mail address as a commit's author.
 * Empty if GitHub does not show the pushes, such as of a private fork ("List repository activities").
 */
async function readPushers({ rest }: Github, { head }: OpenPull): Promise<(Account | undefined)[]> {
	const [owner, repo] = head.repo?.full_name.split("/") ?? [];
	if (!owner || !repo) return [];
	const about = { owner, repo, ref: `refs/heads/${head.ref}`, per_page: 100 };
	const pushes = await rest.repos.listActivities(about).catch((error: unknown) => {
		if (error instanceof Refused && error.status !== 401) return null;
		throw error;
	});
	return (pushes?.data ?? []).map(({ actor }) => actor ?? undefined);
}
