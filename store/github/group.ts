import { pMapIterable } from "p-map";
import { readerOf } from "../reader.ts";
import { judgeRepeat } from "../repeat.ts";
import {
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Reader,
	type Refusal,
	StoreBusy,
	usedBefore,
} from "../store.ts";
import { type Head, type Heads, noFiles, wasUsed } from "./branch.ts";
import { type Connection, type Github, GithubBusy, LostAnswer, Refused } from "./client.ts";
import type { rememberRequests } from "./commits.ts";
import {
	type Batch,
	commitTree,
	emptyRepository,
	failing,
	makeFirstCommit,
	moveBranch,
	writeTree,
} from "./commits.ts";
import { findReview, isProposed, joinMetas, type Review, showReview } from "./review.ts";

/** A change that waits to be made. */
export interface Change {
	edits: Edits;
	meta: Meta;
	started: Date;
}

/** What the changes of a batch are made with. */
export interface ChangeContext extends Pick<Connection, "now" | "sleep"> {
	github: Github;
	branch: string;
	heads: Heads;
	used: ReturnType<typeof rememberRequests>;
}

/** No further commit is begun in this last part of a batch's time: it is for moving the branch and for retries. */
const reserveMs = 5_000;

/** Returns the answer to a change's sender, or throws the error that the change's `edits` threw. */
export type Outcome = () => Commit | Refusal;

/** The edits of a change, or its outcome if it has none. */
type Decision = Edit[] | Outcome;

/** Commits of a group, on no branch yet. */
interface PendingCommits {
	/** Id of the last commit, or of the head. */
	tip: string;
	/** Of the changes for which there was time, once the branch is at `tip`. */
	outcomes: Outcome[];
	/** The edits of all changes, and the last change that was accepted. */
	edits: Edit[];
	last: Meta | null;
}

/** GitHub asks clients to make few writes at the same time. */
const treesAtOnce = 4;

const maxAttempts = 5;

/**
 * Makes the changes of a batch, with one move of their branch: of the served one, or of a review's. Begins anew, each time
 * from a fresh read, while other writers are faster or it is not known whether the branch was moved.
 * @returns the outcomes of the changes for which there was time
 */
export async function makeTogether(context: ChangeContext, batch: Batch<Change>): Promise<Outcome[]> {
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
	context: ChangeContext,
	batch: Batch<Change>,
	earlier: Map<string, PendingCommits>,
): Promise<Outcome[]> {
	const { github, heads } = context;
	const [first] = batch.jobs as [Change];
	const main = await heads.find(github, context.branch);
	if (!main) return [await commitFirst(context, first)];
	const review = first.meta.review ? await findReview(context, main, first.meta) : null;
	const { name, base: head, open } = review ?? { name: context.branch, base: main, open: true };
	let commits = head.recent.map(({ sha }) => earlier.get(sha)).find((pending) => pending !== undefined);
	if (!commits) {
		batch.fill();
		commits = await makeCommits(context, head, batch, review);
		if (commits.tip !== head.commit) {
			earlier.set(commits.tip, commits);
			await moveBranch(github, name, commits.tip, !open);
			heads.noteMoved(name, commits.tip);
		}
	}
	const { tip, outcomes, edits, last } = commits;
	if (!review || !last || (!open && tip === main.commit)) return outcomes;
	const { html_url } = await showReview(context, review, main, edits, last);
	const isWaiting = await Promise.all(batch.jobs.map(({ meta }) => isProposed(review, main, meta)));
	return outcomes.map((outcome, index) => () => {
		const result = outcome();
		if (isRefusal(result) || !(result.changed || isWaiting[index])) return result;
		return { ...result, branch: name, pullRequest: html_url };
	});
}

/** Makes the first change in a repository without commits; the other changes follow in a later batch. */
async function commitFirst(context: ChangeContext, change: Change): Promise<Outcome> {
	if (change.meta.review) throw emptyRepository();
	const decision = await decideOne(context, change, readerOf(noFiles), null);
	if (!Array.isArray(decision)) return decision;
	if (decision.length === 0) return () => ({ commit: "", changed: false });
	const commit = await makeFirstCommit(context.github, context.branch, decision, change.meta, change.started);
	return () => ({ commit, changed: true });
}

/** Decides each change on the state that the changes before it leave. */
async function decide(
	context: ChangeContext,
	head: Head,
	changes: readonly Change[],
	review: Review | null,
): Promise<Decision[]> {
	const { github, now } = context;
	const state = readerOf(head.files);
	const isUsed = ({ meta }: Change) => wasUsed(github, head, meta, now());
	// All requests to GitHub are made at once; what they read is kept.
	const early = changes.map(async (change) => {
		return changesSomething(await decideOne(context, change, state, review)) ? isUsed(change) : null;
	});
	const used = await Promise.all(early);
	const requests = new Set<string | null>();
	const decisions: Decision[] = [];
	for (const [index, change] of changes.entries()) {
		const { request } = change.meta;
		let decision = await decideOne(context, change, state, review);
		if (changesSomething(decision)) {
			if (requests.has(request) || (used[index] ?? (await isUsed(change)))) decision = () => usedBefore;
			else state.overlay(decision);
			if (request !== null) requests.add(request);
		}
		decisions.push(decision);
	}
	return decisions;
}

function changesSomething(decision: Decision | undefined): decision is Edit[] {
	return Array.isArray(decision) && decision.length > 0;
}

async function decideOne(
	{ used }: ChangeContext,
	{ edits, meta }: Change,
	state: Reader,
	review: Review | null,
): Promise<Decision> {
	try {
		let outcome = await edits(state);
		if (review && !isRefusal(outcome) && outcome.length > 0)
			outcome = (await review.refuse(meta, state)) ?? outcome;
		const first = used.find(meta.request);
		const answer = first ? (judgeRepeat(first, meta.method ?? "-", outcome) ?? []) : outcome;
		return isRefusal(answer) ? () => answer : answer;
	} catch (error) {
		if (error instanceof StoreBusy || error instanceof Refused) throw error;
		return failing(error);
	}
}

/**
 * Makes one commit for each change that changes something. A named review gets one for all: GitHub lists at most 250 commits
 * of a pull request.
 */
async function makeCommits(
	context: ChangeContext,
	head: Head,
	{ jobs, until }: Batch<Change>,
	review: Review | null,
): Promise<PendingCommits> {
	const decisions = await decide(context, head, jobs, review);
	const edits = decisions.filter(changesSomething).flat();
	const last = jobs.findLast((_, index) => Array.isArray(decisions[index]))?.meta ?? null;
	const steps = jobs.flatMap(({ meta, started }, index) => {
		const decision = decisions[index];
		return changesSomething(decision) ? [{ meta, started, edits: decision }] : [];
	});
	const isJoined = last?.reviewName !== undefined && steps[0] !== undefined;
	const joined = isJoined ? [{ ...steps[0], meta: joinMetas(steps.map(({ meta }) => meta)), edits }] : steps;
	const tips = await commitEach(context, until, head, joined as Step[]);
	const outcomes: Outcome[] = [];
	let count = 0;
	for (const decision of decisions) {
		if (changesSomething(decision)) count = isJoined ? 1 : count + 1;
		const tip = tips[count];
		if (!tip) break;
		const changed = changesSomething(decision) && tip !== tips[count - 1];
		outcomes.push(Array.isArray(decision) ? () => ({ commit: tip.commit, changed }) : decision);
	}
	return { tip: (tips.at(-1) as Tip).commit, outcomes, edits, last };
}

/** What a commit is made of. */
type Step = Omit<Change, "edits"> & { edits: Edit[] };

type Tip = Pick<Head, "commit" | "tree">;

/** Makes commits on top of each other. @returns the head, and the commit after each step for which there was time */
async function commitEach(
	{ github, now }: ChangeContext,
	until: number,
	head: Tip,
	steps: Step[],
): Promise<Tip[]> {
	// Each tree is the head's tree with all edits up to its step, so that no tree has to wait for another one.
	const trees = pMapIterable(
		steps.map((_, index) => steps.slice(0, index + 1).flatMap(({ edits }) => edits)),
		(edits) => writeTree(github, head.tree, edits),
		{ concurrency: treesAtOnce, backpressure: Number.POSITIVE_INFINITY },
	)[Symbol.asyncIterator]();
	const tips: Tip[] = [head];
	for (const { meta, started } of steps) {
		const tip = tips.at(-1) as Tip;
		if (tip !== head && now().getTime() >= until - reserveMs) break;
		const tree: string = (await trees.next()).value;
		const isSame = tree === tip.tree;
		tips.push(isSame ? tip : { commit: await commitTree(github, tip.commit, tree, meta, started), tree });
	}
	return tips;
}
