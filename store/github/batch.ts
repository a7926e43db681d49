import { layerPath } from "../../registry/smallkey.ts";
import {
	type Change,
	type Decision,
	decideGroup,
	isProposed,
	type Outcome,
	outcomesOf,
	stepsOf,
} from "../decide.ts";
import { readerOf } from "../reader.ts";
import { StoreBusy } from "../store.ts";
import { requestMemoryMs, type UsedRequests } from "../used-requests.ts";
import { commitEach, type Head, joinSteps, type PastCommit, recentCommits } from "./branch.ts";
import { type Connection, type Github, GithubBusy, LostAnswer, Refused } from "./client.ts";
import { findReview, type Place, type Review, showReview } from "./review.ts";

interface BatchContext extends Place, Pick<Connection, "now" | "sleep"> {
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

/** For moving the branch and for retries. */
const reserveMs = 5_000;

/** Repeats from a fresh read while other writers are faster, or GitHub's answer was lost. */
async function makeTogether(context: BatchContext, batch: Batch): Promise<Outcome[]> {
	const earlier = new Map<string, Outcome[]>();
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await attempt(context, batch, earlier);
		} catch (error) {
			const isRace = error instanceof Refused && error.isRace;
			if (!isRace && !(error instanceof LostAnswer)) throw error;
			const pauseMs = 50 * 2 ** attempts * (0.5 + Math.random());
			if (attempts === maxAttempts || context.now().getTime() + pauseMs >= batch.deadlineMs)
				throw isRace ? new GithubBusy(2, error.message, "branch-moved") : error;
			await context.sleep(pauseMs);
		}
	}
}

/** @param earlier by the last commit of each attempt: it may be on the branch although the answer was lost */
async function attempt(
	context: BatchContext,
	{ changes, deadlineMs, fill }: Batch,
	earlier: Map<string, Outcome[]>,
): Promise<Outcome[]> {
	const { github, heads, branch, now } = context;
	const [{ meta }] = changes as [Change];
	const main = await heads.find(github, branch);
	const review = meta.review ? await findReview(context, main, meta) : null;
	const head = review?.base ?? main;
	const moved = head.recent.flatMap(({ sha }) => earlier.get(sha) ?? []);
	if (moved.length > 0) return showOutcomes(context, changes, main, review, moved);
	fill();
	const decisions = await decideEach(context, head, changes, review);
	const steps = stepsOf(changes, decisions);
	const isJoined = meta.reviewName !== undefined;
	const hasTime = () => now().getTime() < deadlineMs - reserveMs;
	const commits = await commitEach(github, head, isJoined ? joinSteps(steps) : steps, now(), hasTime);
	const tip = commits.at(-1) ?? head.commit;
	const outcomes = outcomesOf(decisions, head.commit, isJoined ? steps.map(() => tip) : commits);
	if (tip !== head.commit) {
		earlier.set(tip, outcomes);
		await heads.move(github, review?.name ?? branch, tip, review?.open === null);
	}
	return showOutcomes(context, changes, main, review, outcomes);
}

/** Adds a review's pull request, which it opens if needed, to the outcomes of changes that wait there. */
async function showOutcomes(
	context: BatchContext,
	changes: readonly Change[],
	main: Head,
	review: Review | null,
	outcomes: Outcome[],
): Promise<Outcome[]> {
	if (!review) return outcomes;
	const { name, open, base } = review;
	const isMade = (outcome: Outcome | undefined) =>
		outcome && "changed" in outcome && (open || outcome.changed);
	const last = changes.findLast((_, index) => isMade(outcomes[index]));
	if (!last) return outcomes;
	const pullRequest = await showReview(context, review, last.meta);
	const shown = outcomes.map(async (outcome, index) => {
		if (!outcome || !("changed" in outcome)) return outcome;
		const { smallkey } = (changes[index] as Change).meta;
		const isWaiting =
			outcome.changed || (open && (await isProposed(smallkey, readerOf(base.files), readerOf(main.files))));
		return isWaiting ? { ...outcome, branch: name, pullRequest } : outcome;
	});
	return Promise.all(shown);
}

async function decideEach(
	context: BatchContext,
	head: Head,
	changes: readonly Change[],
	review: Review | null,
): Promise<Decision[]> {
	const { github, now, used } = context;
	const state = readerOf(head.files);
	// Requests all at once; the reader keeps what it has read.
	await Promise.all(changes.map(({ meta }) => meta.smallkey !== null && state.read(meta.smallkey)));
	const noteUse = async ({ meta: { request, smallkey, time } }: Change) => {
		if (request === null || !(await hasCommit(github, head, request, smallkey, now()))) return;
		used.note({ request, method: "?", time, outcome: head.commit });
	};
	await Promise.all(changes.map(noteUse));
	const decisions = await decideGroup(changes, state, review?.waiting ?? null, used);
	for (const decision of decisions) {
		if (!("error" in decision)) continue;
		const { error } = decision;
		if (error instanceof StoreBusy || error instanceof Refused) throw error;
	}
	return decisions;
}

const maxCommits = 100;

/** Whether a request made a recent commit of the branch. */
async function hasCommit(
	{ rest, repo }: Github,
	head: Head,
	request: string,
	smallkey: string | null,
	now: Date,
): Promise<boolean> {
	const hasRequest = ({ commit }: PastCommit) => commit.message.split("\n").includes(`Request: ${request}`);
	const sinceMs = now.getTime() - requestMemoryMs;
	const lately = head.recent.filter(({ commit }) => Date.parse(commit.committer?.date ?? "") >= sinceMs);
	if (lately.some(hasRequest)) return true;
	if (lately.length < recentCommits || smallkey === null) return false;
	const about = { path: layerPath(smallkey), since: new Date(sinceMs).toISOString(), per_page: maxCommits };
	try {
		const { data } = await rest.repos.listCommits({ ...repo, ...about, sha: head.commit });
		if (data.length === maxCommits) throw new Error(`${about.path}: has too many commits`);
		return data.some(hasRequest);
	} catch (error) {
		if (error instanceof StoreBusy) throw error;
		throw new GithubBusy(15, `the replay guard: ${(error as Error).message}`);
	}
}
