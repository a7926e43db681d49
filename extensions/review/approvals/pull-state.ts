import { healthPath, parseLayerPath } from "../../../registry/smallkey.ts";
import { authorOf } from "../../../store/authorship.ts";
import { isReviewBranch } from "../../../store/branches.ts";
import { type Github, Refused } from "../../../store/github/client.ts";
import type { OpenPull } from "./github.ts";

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

/** Null if the pull request has a newer commit, or is for another branch now: what was read could be that one's. */
export async function readState({ github, base, author, readMerge }: StateSource, pull: OpenPull) {
	const { rest, repo, paginate } = github;
	const { number, user, head } = pull;
	const about = { ...repo, pull_number: number, per_page: 100 };
	const reviews = await paginate(rest.pulls.listReviews, about);
	const files = await paginate(rest.pulls.listFiles, about);
	const commits = await paginate(rest.pulls.listCommits, about);
	const shown = (await rest.pulls.get({ ...repo, pull_number: number })).data;
	if (shown.head.sha !== head.sha || shown.base.ref !== base) return null;
	const isOwn = head.repo?.full_name.toLowerCase() === `${repo.owner}/${repo.repo}`.toLowerCase();
	// The service and the workflows have no branches in a fork.
	const branch = isOwn ? head.ref : "";
	const isOfService = isReviewBranch(branch);
	const isRefresh = branch === "refresh" && user?.login === author;
	const { paths, obstacle } = await readMerge(head.sha);
	const mails = isOfService ? commits.map(({ commit }) => commit.author?.email ?? "") : [];
	const pushers = await readPushers(github, pull);
	const cannotBeCorrected = isOfService || branch === "refresh";
	return {
		/** What it adds, changes, removes and renames, and that needs an approval: a renamed file by both of its names. */
		paths: paths.filter((path) => !isRefresh || !isWrittenByRefresh(path)),
		/** Who opened it, or wrote or pushed a part of it, and cannot approve it. */
		makers: idsOf([user, ...commits.flatMap((commit) => [commit.author, commit.committer]), ...pushers]),
		/** Senders of signed requests that it comes from: who has their secrets cannot approve it. */
		senders: new Set(mails.flatMap((mail) => authorOf(mail) ?? [])),
		...(await decisionsOf(github, pull, reviews)),
		/** Why `paths` or `makers` is incomplete; null if both are complete. */
		incomplete:
			whyHidden(shown, files.length, commits.length, pushers) ??
			(obstacle !== null && cannotBeCorrected ? obstacleOfService : obstacle) ??
			whyUnlisted(files, paths),
		/** Whether its branch is one of `register/*` and `repair/*`, of this repository. */
		isOfService,
		/** Null while GitHub computes it. */
		isMergeable: shown.mergeable,
		/** The oldest first. */
		messages: commits.map(({ commit }) => commit.message),
	};
}

type Pulls = Github["rest"]["pulls"];

/** Why GitHub does not show all of it; null if it does. */
function whyHidden(
	shown: { changed_files: number; commits: number },
	files: number,
	commits: number,
	pushers: readonly ({ login: string } | null | undefined)[],
): string | null {
	if (files !== shown.changed_files || files >= maxListedFiles)
		return "too many files for GitHub to list them: split the change";
	if (commits !== shown.commits || commits >= maxListedCommits)
		return "too many commits for GitHub to list them: squash them";
	const isByWorkflow = pushers.some((pusher) => pusher?.login === workflowPusher);
	return isByWorkflow ? "a workflow has pushed to it, which hides who made it: use another branch" : null;
}

/** Why the files that GitHub lists are not those that a merge changes; null if they are. */
function whyUnlisted(
	files: Awaited<ReturnType<Pulls["listFiles"]>>["data"],
	paths: readonly string[],
): string | null {
	if (files.length === 0) return "it changes no file";
	// GitHub lists the differences to one merge base ("About comparing branches in pull requests").
	const listed = new Set(
		files.flatMap(({ filename, previous_filename, status }) =>
			status === "copied" ? filename : [filename, previous_filename ?? filename],
		),
	);
	return listed.size === new Set(paths).size && paths.every((path) => listed.has(path))
		? null
		: "GitHub lists other files than its merge changes: merge the base into the branch";
}

type Reviews = Awaited<ReturnType<Pulls["listReviews"]>>["data"];

async function decisionsOf({ rest, repo, paginate }: Github, { number, head }: OpenPull, reviews: Reviews) {
	const deciding = reviews.filter(({ state }) => decisions.includes(state));
	const last = [...new Map(deciding.map((review) => [review.user?.id, review])).values()];
	const approvals = last.filter(({ commit_id, state }) => commit_id === head.sha && state === "APPROVED");
	const about = { ...repo, issue_number: number, per_page: 100 };
	const events = approvals.length > 0 ? await paginate(rest.issues.listEvents, about) : [];
	// An approval from before the pull request was pointed at this branch is of what it changed in another one.
	const changes = events.filter(({ event }) => baseChanges.includes(event));
	const newest = Math.max(0, ...changes.map(({ created_at }) => Date.parse(created_at)));
	const valid = approvals.filter(({ submitted_at }) => Date.parse(submitted_at ?? "") > newest);
	const objections = last.filter(({ state }) => state === "CHANGES_REQUESTED");
	return {
		/** Whose last decision on exactly its newest commit is an approval. */
		approvers: idsOf(valid.map(({ user }) => user)),
		/** Whose last decision, on any commit, asks for changes. */
		objectors: idsOf(objections.map(({ user }) => user)),
	};
}

/** GitHub names no account for a person that it does not know, or that is gone. */
function idsOf(accounts: readonly ({ id?: number } | null | undefined)[]): Set<number> {
	return new Set(accounts.flatMap((account) => account?.id ?? []));
}

/**
 * Such a file needs no approval in the weekly refresh, and needs one in any other pull request: service descriptions and
 * health decide on symbols, labels and which layers are shown.
 */
function isWrittenByRefresh(path: string): boolean {
	return path === healthPath || parseLayerPath(path)?.part === "description";
}

/**
 * The accounts that pushed to a pull request's branch: anyone can write any mail address as a commit's author.
 * Empty if GitHub does not show the pushes, such as of a private fork ("List repository activities").
 */
async function readPushers({ rest }: Github, { head }: OpenPull) {
	const [owner, repo] = head.repo?.full_name.split("/") ?? [];
	if (!owner || !repo) return [];
	const about = { owner, repo, ref: `refs/heads/${head.ref}`, per_page: 100 };
	const { data } = await rest.repos.listActivities(about).catch((error: unknown) => {
		if (error instanceof Refused && error.status !== 401) return { data: [] };
		throw error;
	});
	return data.map(({ actor }) => actor);
}
