import { layerPath } from "../../registry/smallkey.ts";
import { decideChange, isProposed, usedBefore } from "../decide.ts";
import { readerOf } from "../reader.ts";
import { type Commit, type Decide, type Edit, type Meta, type Refusal, StoreBusy } from "../store.ts";
import { requestMemoryMs, type UsedRequests } from "../used-requests.ts";
import { commitEach, type Head, type Heads, type PastCommit, recentCommits } from "./branch.ts";
import { type Connection, type Github, GithubBusy, LostAnswer, Refused } from "./client.ts";
import { findReview, joinSteps, moveBranch, type Review, showReview } from "./review.ts";

export interface Change {
	decide: Decide;
	meta: Meta;
}

interface BatchContext extends Pick<Connection, "now" | "sleep"> {
	github: Github;
	branch: string;
	heads: Heads;
	used: UsedRequests;
}

/** Changes of one group, at least one. */
export interface Batch {
	changes: readonly Change[];
	/** In milliseconds since 1970. */
	until: number;
	/** Adds waiting changes of the same group. */
	fill(): void;
}

/** The error, which `decide` may have thrown, is that of one change. */
export type Outcome = Commit | Refusal | { error: unknown };

type Decision = Edit[] | Outcome;

const maxAttempts = 5;

/** For moving the branch and for retries. */
const reserveMs = 5_000;

/**
 * Begins anew, from a fresh read, while other writers are faster or it is not known whether the branch was moved.
 * @returns null for a change for which there was no time
 */
export async function makeTogether(context: BatchContext, batch: Batch): Promise<(Outcome | null)[]> {
	const earlier = new Map<string, (Outcome | null)[]>();
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await attempt(context, batch, earlier);
		} catch (error) {
			const isRace = error instanceof Refused && error.isRace;
			if (!isRace && !(error instanceof LostAnswer)) throw error;
			const pauseMs = 50 * 2 ** attempts * (0.5 + Math.random());
			if (attempts === maxAttempts || context.now().getTime() + pauseMs >= batch.until)
				throw isRace ? new GithubBusy(2, error.message, "branch-moved") : error;
			await context.sleep(pauseMs);
		}
	}
}

/** @param earlier outcomes by the last commit of an attempt: it may be on the branch although GitHub's answer was lost */
async function attempt(
	context: BatchContext,
	{ changes, until, fill }: Batch,
	earlier: Map<string, (Outcome | null)[]>,
): Promise<(Outcome | null)[]> {
	const { github, heads, branch, now } = context;
	const [{ meta }] = changes as [Change];
	const main = await heads.find(github, branch);
	const review = meta.review ? await findReview(context, main, meta) : null;
	const head = review?.base ?? main;
	const moved = head.recent.flatMap(({ sha }) => earlier.get(sha) ?? []);
	if (moved.length > 0) return review ? showOutcomes(context, changes, main, review, moved) : moved;
	fill();
	const decisions = await decide(context, head, changes, review);
	const steps = changes.flatMap(({ meta }, index) => {
		const edits = decisions[index];
		return changesFiles(edits) ? [{ meta, edits }] : [];
	});
	const isJoined = meta.reviewName !== undefined;
	const hasTime = () => now().getTime() < until - reserveMs;
	const commits = await commitEach(github, head, isJoined ? joinSteps(steps) : steps, now(), hasTime);
	const tip = commits.at(-1) ?? head.commit;
	let made = 0;
	const outcomes = decisions.map((decision): Outcome | null => {
		if (!Array.isArray(decision)) return decision;
		if (decision.length === 0) return { commit: commits[made - 1] ?? head.commit, changed: false };
		made += 1;
		const commit = isJoined ? tip : commits[made - 1];
		return commit === undefined ? null : { commit, changed: true };
	});
	if (tip !== head.commit) {
		earlier.set(tip, outcomes);
		const name = review?.name ?? branch;
		await moveBranch(github, name, tip, review?.open === null);
		heads.noteMoved(name, tip);
	}
	return review && (review.open || tip !== main.commit)
		? showOutcomes(context, changes, main, review, outcomes)
		: outcomes;
}

async function showOutcomes(
	context: BatchContext,
	changes: readonly Change[],
	main: Head,
	review: Review,
	outcomes: (Outcome | null)[],
): Promise<(Outcome | null)[]> {
	const last = changes.findLast((_, index) => "changed" in (outcomes[index] ?? {}));
	if (!last) return outcomes;
	const { html_url } = await showReview(context, review, last.meta);
	/** Whether a layer that a change leaves as it is waits. */
	const waits = ({ meta: { smallkey } }: Change) =>
		review.open !== null && isProposed(smallkey, readerOf(review.base.files), readerOf(main.files));
	const isWaiting = await Promise.all(changes.map(waits));
	return outcomes.map((outcome, index) => {
		const isShown = outcome && "changed" in outcome && (outcome.changed || isWaiting[index]);
		return isShown ? { ...outcome, branch: review.name, pullRequest: html_url } : outcome;
	});
}

function changesFiles(decision: Decision | undefined): decision is Edit[] {
	return Array.isArray(decision) && decision.length > 0;
}

async function decide(
	context: BatchContext,
	head: Head,
	changes: readonly Change[],
	review: Review | null,
): Promise<Decision[]> {
	const { github, now } = context;
	const state = readerOf(head.files);
	// All requests to GitHub are made at once; what they read is kept.
	const read = async ({ smallkey }: Meta) => void (smallkey !== null && (await state.read(smallkey)));
	await Promise.all(changes.map(({ meta }) => read(meta)));
	const used = await Promise.all(changes.map(({ meta }) => wasUsed(github, head, meta, now())));
	const requests = new Set<string | null>();
	const decisions: Decision[] = [];
	for (const [index, change] of changes.entries()) {
		const { request } = change.meta;
		const decided = decideChange(change, state, review?.waiting ?? null, context.used);
		const decision: Decision = await decided.catch((error: unknown) => {
			if (error instanceof StoreBusy || error instanceof Refused) throw error;
			return { error };
		});
		const isRepeated = changesFiles(decision) && (used[index] || requests.has(request));
		decisions.push(isRepeated ? usedBefore : decision);
		if (isRepeated || !changesFiles(decision)) continue;
		state.overlay(decision);
		if (request !== null) requests.add(request);
	}
	return decisions;
}

/** Of one layer in five minutes. */
const maxCommits = 100;

async function wasUsed({ rest, repo }: Github, head: Head, meta: Meta, now: Date): Promise<boolean> {
	const { request, smallkey } = meta;
	if (request === null) return false;
	const hasRequest = ({ commit }: PastCommit) => commit.message.split("\n").includes(`Request: ${request}`);
	const from = now.getTime() - requestMemoryMs;
	const lately = head.recent.filter(({ commit }) => Date.parse(commit.committer?.date ?? "") >= from);
	if (lately.some(hasRequest)) return true;
	if (lately.length < recentCommits || smallkey === null) return false;
	const about = { path: layerPath(smallkey), since: new Date(from).toISOString(), per_page: maxCommits };
	try {
		const { data } = await rest.repos.listCommits({ ...repo, ...about, sha: head.commit });
		if (data.length === maxCommits) throw new Error(`${about.path}: has too many commits`);
		return data.some(hasRequest);
	} catch (error) {
		if (error instanceof StoreBusy) throw error;
		throw new GithubBusy(15, `the replay guard: ${(error as Error).message}`);
	}
}
