import { pMapIterable } from "p-map";
import { textOf } from "../../registry/texts.ts";
import { readerOf } from "../reader.ts";
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
import { type Head, type Heads, wasUsed } from "./branch.ts";
import { type Connection, type Github, GithubBusy, LostAnswer, Refused } from "./client.ts";
import { commitTree, emptyRepository, makeFirstCommit, moveBranch, writeTree } from "./commit.ts";
import { noFiles } from "./commit-files.ts";
import { type Batch, failing } from "./queue.ts";
import { findReview, type Review, showReview } from "./review.ts";

/** A change that waits to be made. */
export interface Change {
	edits: Edits;
	meta: Meta;
	started: Date;
}

/** The dependencies and limits with which a group of changes is made. */
export interface ChangeContext extends Pick<Connection, "now" | "sleep"> {
	github: Github;
	branch: string;
	heads: Heads;
	/** How long changes are retried because other writers were faster, in milliseconds. */
	raceMs: number;
	/** No commit is begun after this time, in milliseconds since 1970: the rest is for moving the branch and for retries. */
	lastCommitAt: number;
}

/** Returns the answer to a change's sender, or throws the error that the change's `edits` threw. */
export type Outcome = () => Commit | Refusal;

/** The edits of a change, or its outcome if it has none. */
type Decision = Edit[] | Outcome;

/** Commits of a group, on no branch yet. */
interface PendingCommits {
	/** Id of the last commit; the head's id if nothing changes. */
	tip: string;
	/** The outcome of each change once the branch is at `tip`; changes for which there was no time are left out. */
	outcomes: Outcome[];
	/** The edits of all changes, and the last change that was accepted. */
	edits: Edit[];
	last: Meta | null;
}

/** Most trees that are written at once: GitHub asks clients to make few writes at the same time. */
const treesAtOnce = 4;

const maxAttempts = 5;

/** `Retry-After` if other writers change the layers at the same moment, in seconds. */
const raceSeconds = 2;

/**
 * Makes the changes of a batch, with one move of their branch: of the served one, or of a review's. Begins anew, each time
 * from a fresh read, while other writers are faster or it is not known whether the branch was moved.
 * @returns the outcomes of the changes for which there was time
 */
export async function makeTogether(context: ChangeContext, batch: Batch<Change>): Promise<Outcome[]> {
	const { now, sleep, raceMs } = context;
	const until = Math.min(batch.until, now().getTime() + raceMs);
	const earlier = new Map<string, PendingCommits>();
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await attempt(context, batch, earlier);
		} catch (error) {
			const isRace = error instanceof Refused && error.isRace;
			if (!isRace && !(error instanceof LostAnswer)) throw error;
			const pauseMs = 50 * 2 ** attempts * (0.5 + Math.random());
			if (attempts === maxAttempts || now().getTime() + pauseMs >= until)
				throw isRace ? new GithubBusy(textOf("github-race"), raceSeconds, error.message) : error;
			await sleep(pauseMs);
		}
	}
}

/** @param earlier commits that may be on the branch although GitHub's answer was lost, by their last one */
async function attempt(
	context: ChangeContext,
	batch: Batch<Change>,
	earlier: Map<string, PendingCommits>,
): Promise<Outcome[]> {
	const { github, branch, heads } = context;
	const [first] = batch.jobs as [Change];
	const main = await heads.find(github, branch);
	if (!main) return [await commitFirst(context, first)];
	const review = first.meta.review ? await findReview(context, main, first.meta) : null;
	const head = review?.base ?? main;
	let commits = head.recent.map(({ sha }) => earlier.get(sha)).find((pending) => pending !== undefined);
	if (!commits) {
		batch.fill();
		commits = await makeCommits(context, head, batch.jobs, review);
		if (commits.tip !== head.commit) {
			earlier.set(commits.tip, commits);
			const isNew = review !== null && !review.open;
			await moveBranch(github, review?.name ?? branch, commits.tip, isNew);
			if (!isNew) heads.noteReplaced(head.commit);
		}
	}
	const { tip, outcomes, edits, last } = commits;
	if (!review || !last || (!review.open && tip === main.commit)) return outcomes;
	const { html_url } = await showReview(context, review, main, edits, last);
	const isWaiting = await Promise.all(batch.jobs.map(({ meta }) => isProposed(review, main, meta)));
	return outcomes.map((outcome, index) => () => {
		const result = outcome();
		if (isRefusal(result) || !(result.changed || isWaiting[index])) return result;
		return { ...result, branch: review.name, pullRequest: html_url };
	});
}

/** Makes the first change in a repository without commits; the other changes follow in a later batch. */
async function commitFirst({ github, branch }: ChangeContext, change: Change): Promise<Outcome> {
	if (change.meta.review) throw emptyRepository();
	const decision = await decideOne(change, readerOf(noFiles));
	if (!Array.isArray(decision)) return decision;
	if (decision.length === 0) return () => ({ commit: "", changed: false });
	const commit = await makeFirstCommit(github, branch, decision, change.meta, change.started);
	return () => ({ commit, changed: true });
}

/** Decides each change on the state that the changes before it leave. */
async function decide(
	{ github, now }: ChangeContext,
	head: Head,
	changes: readonly Change[],
	review: Review | null,
): Promise<Decision[]> {
	const state = readerOf(head.files);
	const isUsed = ({ meta }: Change) => wasUsed(github, head, meta, now());
	// All requests to GitHub are made at once; what they read is kept.
	const early = changes.map(async (change) => {
		return changesSomething(await decideOne(change, state)) ? isUsed(change) : null;
	});
	const used = await Promise.all(early);
	const requests = new Set<string | null>();
	const decisions: Decision[] = [];
	for (const [index, change] of changes.entries()) {
		const { meta } = change;
		let decision = await decideOne(change, state);
		if (changesSomething(decision)) {
			const isRepeated = requests.has(meta.request) || (used[index] ?? (await isUsed(change)));
			const refusal = isRepeated ? usedBefore : ((await review?.refuse(meta, state)) ?? null);
			if (refusal) decision = () => refusal;
			else state.overlay(decision);
			if (meta.request !== null) requests.add(meta.request);
		}
		decisions.push(decision);
	}
	return decisions;
}

function changesSomething(decision: Decision | undefined): decision is Edit[] {
	return Array.isArray(decision) && decision.length > 0;
}

async function decideOne({ edits }: Change, state: Reader): Promise<Decision> {
	try {
		const outcome = await edits(state);
		return isRefusal(outcome) ? () => outcome : outcome;
	} catch (error) {
		if (error instanceof StoreBusy || error instanceof Refused) throw error;
		return failing(error);
	}
}

/**
 * Makes one commit for each change that changes something, on top of each other. A named review gets one for all: GitHub
 * lists at most 250 commits of a pull request.
 */
async function makeCommits(
	context: ChangeContext,
	head: Head,
	changes: readonly Change[],
	review: Review | null,
): Promise<PendingCommits> {
	const decisions = await decide(context, head, changes, review);
	const edits = decisions.filter(changesSomething).flat();
	const last = changes.findLast((_, index) => Array.isArray(decisions[index]))?.meta ?? null;
	const changing = changes.filter((_, index) => changesSomething(decisions[index]));
	if (last?.reviewName === undefined || changing.length < 2)
		return { ...(await commitEach(context, head, changes, decisions)), edits, last };
	const joined = { ...(changing[0] as Change), meta: joinMetas(changing.map(({ meta }) => meta)) };
	const { tip, outcomes } = await commitEach(context, head, [joined], [edits]);
	const outcomeOf = (decision: Decision) => {
		if (!Array.isArray(decision)) return decision;
		return decision.length > 0 ? (outcomes[0] as Outcome) : () => ({ commit: tip, changed: false });
	};
	return { tip, outcomes: decisions.map(outcomeOf), edits, last };
}

async function commitEach(
	{ github, now, lastCommitAt }: ChangeContext,
	head: Head,
	changes: readonly Change[],
	decisions: readonly Decision[],
): Promise<Pick<PendingCommits, "tip" | "outcomes">> {
	// Each tree is the head's tree with all edits up to its change, so that no tree has to wait for another one.
	const changing = decisions.filter(changesSomething);
	const trees = pMapIterable(
		changing.map((_, index) => changing.slice(0, index + 1).flat()),
		(edits) => writeTree(github, head.tree, edits),
		{ concurrency: treesAtOnce, backpressure: Number.POSITIVE_INFINITY },
	)[Symbol.asyncIterator]();
	const outcomes: Outcome[] = [];
	let tip: Pick<Head, "commit" | "tree"> = head;
	for (const [index, decision] of decisions.entries()) {
		if (!Array.isArray(decision)) {
			outcomes.push(decision);
			continue;
		}
		let changed = false;
		if (changesSomething(decision)) {
			if (tip !== head && now().getTime() >= lastCommitAt) break;
			const tree: string = (await trees.next()).value;
			const { meta, started } = changes[index] as Change;
			changed = tree !== tip.tree;
			if (changed) tip = { commit: await commitTree(github, tip.commit, tree, meta, started), tree };
		}
		const { commit } = tip;
		outcomes.push(() => ({ commit, changed }));
	}
	return { tip: tip.commit, outcomes };
}

/** The metadata of one commit for several requests of a sender: each trailer once. */
function joinMetas(metas: readonly Meta[]): Meta {
	const trailers = new Map(metas.flatMap(({ trailers }) => trailers).map((pair) => [pair.join(": "), pair]));
	const subject = `change ${metas.length} layers`;
	return { ...(metas[0] as Meta), smallkey: null, subject, trailers: [...trailers.values()] };
}

/** Whether a layer that a change leaves as it is waits in a review. */
async function isProposed({ open, base }: Review, main: Head, { smallkey }: Meta): Promise<boolean> {
	if (!open || smallkey === null) return open !== null;
	const states = [main, base].map(({ files }) => readerOf(files).ids(smallkey));
	const [served, proposed] = await Promise.all(states);
	return served?.registration !== proposed?.registration;
}
