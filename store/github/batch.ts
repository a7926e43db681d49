import {
	type Change,
	type Decision,
	decideGroup,
	isProposed,
	type Outcome,
	stepsOf,
	usesOf,
} from "../decide.ts";
import { readerOf } from "../reader.ts";
import { StoreBusy } from "../store.ts";
import { requestMemoryMs, type UsedRequests } from "../used-requests.ts";
import { type Head, makeCommit, recentCommits } from "./branch.ts";
import { type Connection, type Github, GithubBusy, LostAnswer, Refused } from "./client.ts";
import { findReview, openPullRequest, type Repository, type Review } from "./review.ts";

interface BatchContext extends Repository, Pick<Connection, "now" | "sleep"> {
	used: UsedRequests;
}

/** Changes of one group, at least one. */
export interface Batch {
	changes: readonly Change[];
	deadlineMs: number;
	fill(): void;
}

/** GitHub does not say which change it refuses, so each change is then made alone. */
export async function makeBatch(context: BatchContext, batch: Batch): Promise<Outcome[]> {
	try {
		return await makeTogether(context, batch);
	} catch (error) {
		if (error instanceof StoreBusy || batch.changes.length === 1) throw error;
		const outcomes: Outcome[] = [];
		for (const change of batch.changes) {
			const alone = { ...batch, changes: [change], fill() {} };
			outcomes.push(...(await makeTogether(context, alone).catch((error: unknown) => [{ error }])));
		}
		return outcomes;
	}
}

const maxAttempts = 5;

/** Repeats from a fresh read while other writers are faster, or GitHub's answer was lost. */
async function makeTogether(context: BatchContext, batch: Batch): Promise<Outcome[]> {
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await attempt(context, batch);
		} catch (error) {
			const isRace = error instanceof Refused && error.isRace;
			if (!isRace && !(error instanceof LostAnswer)) throw error;
			if (attempts === maxAttempts) throw isRace ? new GithubBusy(2, error.message, "branch-moved") : error;
			await context.sleep(50 * 2 ** attempts * (0.5 + Math.random()));
		}
	}
}

async function attempt(context: BatchContext, { changes, fill }: Batch): Promise<Outcome[]> {
	const { github, heads, branch, now } = context;
	const [{ meta }] = changes as [Change];
	const main = await heads.find(github, branch);
	const review = meta.review ? await findReview(context, main, meta) : null;
	const head = review?.base ?? main;
	fill();
	const decisions = await decideEach(context, head, changes, review);
	const commit = await makeCommit(github, head, stepsOf(changes, decisions), now());
	if (commit !== head.commit)
		await heads.move(github, review?.branch ?? branch, commit, review?.open === null);
	const outcomes = decisions.map((decision) =>
		Array.isArray(decision) ? { commit, changed: decision.length > 0 } : decision,
	);
	return review ? addPullRequest(context, changes, main, review, outcomes) : outcomes;
}

/** Opens the pull request if a change waits, and adds it to the outcomes of those that do. */
async function addPullRequest(
	context: BatchContext,
	changes: readonly Change[],
	main: Head,
	review: Review,
	outcomes: Outcome[],
): Promise<Outcome[]> {
	const { branch, open, base } = review;
	const findWaiting = async ({ meta: { smallkey } }: Change, index: number) => {
		const outcome = outcomes[index];
		if (!outcome || !("changed" in outcome)) return null;
		const isWaiting =
			outcome.changed || (open && (await isProposed(smallkey, readerOf(base.files), readerOf(main.files))));
		return isWaiting ? outcome : null;
	};
	const waiting = await Promise.all(changes.map(findWaiting));
	const last = changes.findLast((_, index) => waiting[index]);
	if (!last) return outcomes;
	const pullRequest = await openPullRequest(context, review, last.meta);
	return waiting.map((outcome, index) =>
		outcome ? { ...outcome, branch, pullRequest } : (outcomes[index] ?? null),
	);
}

async function decideEach(
	{ github, now, used }: BatchContext,
	head: Head,
	changes: readonly Change[],
	review: Review | null,
): Promise<Decision[]> {
	const state = readerOf(head.files);
	// Requests all at once; the reader keeps what it has read.
	const [messages] = await Promise.all([
		readMessages(github, head, now()),
		...changes.map(({ meta }) => meta.smallkey !== null && state.read(meta.smallkey)),
	]);
	for (const { meta } of changes)
		for (const use of usesOf(meta, { commit: head.commit, changed: true }))
			if (messages.includes(`\nRequest: ${use.request}\n`)) used.note({ ...use, method: "?" });
	const decisions = await decideGroup(changes, state, review?.waiting ?? null, used);
	for (const decision of decisions) {
		if (!("error" in decision)) continue;
		const { error } = decision;
		if (error instanceof StoreBusy || error instanceof Refused) throw error;
	}
	return decisions;
}

/** @returns the messages of the branch's recent commits, each with a line break at its end */
async function readMessages({ rest, repo, paginate }: Github, head: Head, now: Date): Promise<string> {
	const sinceMs = now.getTime() - requestMemoryMs;
	let commits = head.recent.filter(({ commit }) => Date.parse(commit.committer?.date ?? "") >= sinceMs);
	if (commits.length === recentCommits) {
		const since = new Date(sinceMs).toISOString();
		commits = await paginate(rest.repos.listCommits, { ...repo, sha: head.commit, since, per_page: 100 });
	}
	return commits.map(({ commit }) => `${commit.message}\n`).join("");
}
