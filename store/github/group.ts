import { layerPath } from "../../registry/smallkey.ts";
import { readerOf } from "../reader.ts";
import {
	type Commit,
	decideChange,
	type Edit,
	type Edits,
	type Meta,
	type Reader,
	type Refusal,
	requestMemoryMs,
	StoreBusy,
	type UsedRequest,
	usedBefore,
} from "../store.ts";
import {
	commitEach,
	emptyRepository,
	type Head,
	type Heads,
	makeFirstCommit,
	noFiles,
	type PastCommit,
	recentCommits,
	type Tip,
} from "./branch.ts";
import { type Connection, type Github, GithubBusy, LostAnswer, Refused } from "./client.ts";
import { findReview, joinSteps, moveBranch, type Review, showReview, waits } from "./review.ts";

export interface Change {
	edits: Edits;
	meta: Meta;
	started: Date;
}

/** Changes of one group, at least one. */
export interface Batch {
	changes: Change[];
	/** In milliseconds since 1970. */
	until: number;
	/** Adds waiting changes of the same group. */
	fill(): void;
}

export interface BatchContext extends Pick<Connection, "now" | "sleep"> {
	github: Github;
	branch: string;
	heads: Heads;
	firstUse: (request: string | null) => UsedRequest | undefined;
}

/** The error, which `edits` may have thrown, is that of one change. */
export type Outcome = Commit | Refusal | { error: unknown };

type Decision = Edit[] | Outcome;

interface PendingCommits {
	tip: string;
	/** Of the changes for which there was time. */
	outcomes: Outcome[];
	/** Of the last change that was accepted. */
	last: Meta | null;
}

/** For moving the branch and for retries. */
const reserveMs = 5_000;

const maxAttempts = 5;

/**
 * Begins anew, from a fresh read, while other writers are faster or it is not known whether the branch was moved.
 * @returns the outcomes of the changes for which there was time
 */
export async function makeTogether(context: BatchContext, batch: Batch): Promise<Outcome[]> {
	const earlier = new Map<string, PendingCommits>();
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

/** @param earlier commits that may be on the branch although GitHub's answer was lost, by their last one */
async function attempt(
	context: BatchContext,
	batch: Batch,
	earlier: Map<string, PendingCommits>,
): Promise<Outcome[]> {
	const { github, heads, branch } = context;
	const [first] = batch.changes as [Change];
	const main = await heads.find(github, branch);
	if (!main) return [await commitFirst(context, first)];
	const review = first.meta.review ? await findReview(context, main, first.meta) : null;
	const head = review?.base ?? main;
	let commits = head.recent.map(({ sha }) => earlier.get(sha)).find((pending) => pending !== undefined);
	if (!commits) {
		batch.fill();
		commits = await makeCommits(context, head, batch, review);
		if (commits.tip !== head.commit) {
			earlier.set(commits.tip, commits);
			const name = review?.name ?? branch;
			await moveBranch(github, name, commits.tip, review?.open === null);
			heads.noteMoved(name, commits.tip);
		}
	}
	return review ? showOutcomes(context, batch, main, review, commits) : commits.outcomes;
}

async function showOutcomes(
	context: BatchContext,
	{ changes }: Batch,
	main: Head,
	review: Review,
	{ tip, outcomes, last }: PendingCommits,
): Promise<Outcome[]> {
	if (!last || (!review.open && tip === main.commit)) return outcomes;
	const { html_url } = await showReview(context, review, last);
	const isWaiting = await Promise.all(changes.map(({ meta }) => waits(review, main, meta)));
	return outcomes.map((outcome, index) => {
		const isShown = "changed" in outcome && (outcome.changed || isWaiting[index]);
		return isShown ? { ...outcome, branch: review.name, pullRequest: html_url } : outcome;
	});
}

/** The other changes follow in a later batch. */
async function commitFirst(context: BatchContext, change: Change): Promise<Outcome> {
	const { github, branch } = context;
	const { meta, started } = change;
	if (meta.review) throw emptyRepository();
	const decision = await decideAlone(context, change, readerOf(noFiles), null);
	if (!Array.isArray(decision)) return decision;
	const changed = decision.length > 0;
	const commit = changed ? await makeFirstCommit(github, branch, decision, meta, started) : "";
	return { commit, changed };
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
	const isUsed = ({ meta }: Change) => wasUsed(github, head, meta, now());
	const used = await Promise.all(
		changes.map(async (change) => {
			return changesSomething(await decideAlone(context, change, state, review)) ? isUsed(change) : null;
		}),
	);
	const requests = new Set<string | null>();
	const decisions: Decision[] = [];
	for (const [index, change] of changes.entries()) {
		const decision = await decideAlone(context, change, state, review);
		decisions.push(decision);
		if (!changesSomething(decision)) continue;
		const { request } = change.meta;
		const isRepeated = requests.has(request) || (used[index] ?? (await isUsed(change)));
		if (isRepeated) decisions[index] = usedBefore;
		else state.overlay(decision);
		if (request !== null) requests.add(request);
	}
	return decisions;
}

function changesSomething(decision: Decision | undefined): decision is Edit[] {
	return Array.isArray(decision) && decision.length > 0;
}

async function decideAlone(
	{ firstUse }: BatchContext,
	change: Change,
	state: Reader,
	review: Review | null,
): Promise<Decision> {
	try {
		const refuse = async () => review?.refuse(change.meta, state) ?? null;
		return await decideChange(change, state, refuse, firstUse(change.meta.request));
	} catch (error) {
		if (error instanceof StoreBusy || error instanceof Refused) throw error;
		return { error };
	}
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

async function makeCommits(
	context: BatchContext,
	head: Head,
	{ changes, until }: Batch,
	review: Review | null,
): Promise<PendingCommits> {
	const decisions = await decide(context, head, changes, review);
	const steps = changes.flatMap(({ meta, started }, index) => {
		const decision = decisions[index];
		return changesSomething(decision) ? [{ meta, started, edits: decision }] : [];
	});
	const last = changes.findLast((_, index) => Array.isArray(decisions[index]))?.meta ?? null;
	const isJoined = last?.reviewName !== undefined;
	const hasTime = () => context.now().getTime() < until - reserveMs;
	const tips = await commitEach(context.github, hasTime, head, isJoined ? joinSteps(steps) : steps);
	const { commit: tip } = tips.at(-1) as Tip;
	return { tip, outcomes: outcomesOf(decisions, tips, isJoined), last };
}

/** @param tips the head, and the commit after each step */
function outcomesOf(decisions: readonly Decision[], tips: readonly Tip[], isJoined: boolean): Outcome[] {
	const outcomes: Outcome[] = [];
	let count = 0;
	for (const decision of decisions) {
		if (changesSomething(decision)) count = isJoined ? 1 : count + 1;
		const tip = tips[count];
		if (!tip) break;
		const changed = changesSomething(decision) && tip !== tips[count - 1];
		outcomes.push(Array.isArray(decision) ? { commit: tip.commit, changed } : decision);
	}
	return outcomes;
}
