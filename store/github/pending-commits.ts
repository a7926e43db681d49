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
import { Conflict, type Github } from "./answer.ts";
import { type Connection, GithubBusy, LostAnswer, spread } from "./client.ts";
import { commitTree, makeFirstCommit, moveBranch, writeTree } from "./commit.ts";
import { filesAt } from "./commit-files.ts";
import { type Head, type Heads, wasUsed } from "./history.ts";
import { type Batch, failing } from "./queue.ts";

/** A change that waits to be made. */
export interface Change {
	edits: Edits;
	meta: Meta;
	started: Date;
}

export type ChangeBatch = Batch<Change, Commit | Refusal>;

/** The dependencies and limits with which a batch of changes is made. */
export interface ChangeContext extends Pick<Connection, "now" | "sleep" | "random"> {
	github: Github;
	branch: string;
	heads: Heads;
	/** How long changes are retried because other writers were faster, in milliseconds. */
	raceMs: number;
	/** No commit is begun after this time, in milliseconds since 1970: the rest is for moving the branch and for retries. */
	lastCommitAt: number;
}

/** Returns the answer to a change's sender, or throws the error that the change's `edits` threw. */
type Outcome = () => Commit | Refusal;

/** The edits of a change, or its outcome if it has none. */
export type Decision = Edit[] | Outcome;

/** Most trees that are written at once: GitHub asks clients to make few writes at the same time. */
const treesAtOnce = 4;

const maxAttempts = 5;

/** `Retry-After` if other writers change the layers at the same moment, in seconds. */
const raceSeconds = 2;

/** Retries, each time from a fresh read, while other writers are faster or it is not known whether the branch was moved. */
export async function retryRaces<T>(
	{ now, sleep, random, raceMs }: ChangeContext,
	deadline: number,
	attempt: () => Promise<T>,
): Promise<T> {
	const until = Math.min(deadline, now().getTime() + raceMs);
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await attempt();
		} catch (error) {
			if (!(error instanceof Conflict) && !(error instanceof LostAnswer)) throw error;
			const pauseMs = 50 * 2 ** attempts * (0.5 + random());
			if (attempts === maxAttempts || now().getTime() + pauseMs >= until) {
				if (error instanceof LostAnswer || !error.isRace) throw error;
				throw new GithubBusy(textOf("github-race"), spread(raceSeconds, random), error.message);
			}
			await sleep(pauseMs);
		}
	}
}

/**
 * Makes one commit for each change of a batch that changes something, on top of each other, and moves the branch once.
 * Settles the changes for which there was time.
 */
export async function commitTogether(context: ChangeContext, batch: ChangeBatch): Promise<void> {
	const earlier: PendingCommits[] = [];
	const outcomes = await retryRaces(context, batch.until, () => attempt(context, batch, earlier));
	for (const [index, outcome] of outcomes.entries()) batch.jobs[index]?.settle(outcome);
}

/** @param earlier the commits of earlier attempts, which may be on the branch although GitHub's answer was lost */
async function attempt(
	context: ChangeContext,
	batch: ChangeBatch,
	earlier: PendingCommits[],
): Promise<Outcome[]> {
	const { github, branch, heads } = context;
	const head = await heads.find(github, branch);
	if (!head) return [await commitFirst(context, batch.jobs[0]?.job as Change)];
	const done = earlier.find(({ tip }) => head.recent.some(({ sha }) => sha === tip));
	if (done) return done.outcomes;
	batch.fill();
	const pending = await makeCommits(
		context,
		head,
		batch.jobs.map(({ job }) => job),
	);
	if (pending.tip === head.commit) return pending.outcomes;
	earlier.push(pending);
	await moveBranch(github, branch, pending.tip);
	heads.noteReplaced(head.commit);
	return pending.outcomes;
}

/** Makes the first change in a repository without commits; the other changes follow in a later batch. */
async function commitFirst({ github, branch }: ChangeContext, change: Change): Promise<Outcome> {
	const decision = await decideOne(change, readerOf(filesAt(github, null)));
	if (!Array.isArray(decision)) return decision;
	if (decision.length === 0) return () => ({ commit: "", changed: false });
	const commit = await makeFirstCommit(github, branch, decision, change.meta, change.started);
	return () => ({ commit, changed: true });
}

/** Decides each change on the state that the changes before it leave. */
export async function decide({ github, now }: ChangeContext, head: Head, changes: readonly Change[]) {
	const state = readerOf(filesAt(github, head));
	const isUsed = ({ meta }: Change) => wasUsed(github, head, meta, now());
	// All requests to GitHub are made at once. A change after the first edits is decided again, with these edits.
	const early = changes.map(async (change) => {
		const decision = await decideOne(change, state);
		return { decision, used: changesSomething(decision) ? await isUsed(change) : null };
	});
	const found = await Promise.all(early);
	const requests = new Set<string | null>();
	let isEdited = false;
	const decisions: Decision[] = [];
	for (const [index, change] of changes.entries()) {
		let { decision, used } = found[index] as (typeof found)[number];
		if (isEdited) decision = await decideOne(change, state);
		if (changesSomething(decision)) {
			const { request } = change.meta;
			used ??= await isUsed(change);
			if (used || requests.has(request)) decision = () => usedBefore;
			else {
				state.overlay(decision);
				isEdited = true;
			}
			if (request !== null) requests.add(request);
		}
		decisions.push(decision);
	}
	return decisions;
}

/** Whether a decision changes something. */
export function changesSomething(decision: Decision): decision is Edit[] {
	return Array.isArray(decision) && decision.length > 0;
}

async function decideOne({ edits }: Change, state: Reader): Promise<Decision> {
	try {
		const wanted = await edits(state);
		return isRefusal(wanted) ? () => wanted : wanted;
	} catch (error) {
		if (error instanceof StoreBusy || error instanceof Conflict) throw error;
		return failing(error);
	}
}

/** Commits on top of each other, on no branch yet. */
interface PendingCommits {
	/** Id of the last commit; the head's id if nothing changes. */
	tip: string;
	/** The outcome of each change once the branch is at `tip`; changes for which there was no time are left out. */
	outcomes: Outcome[];
}

/**
 * Makes one commit for each change that changes something, on top of each other.
 * @throws {Error} if GitHub does not return the stored files or the history
 */
async function makeCommits(
	context: ChangeContext,
	head: Head,
	changes: readonly Change[],
): Promise<PendingCommits> {
	const { github, now, lastCommitAt } = context;
	const decisions = await decide(context, head, changes);
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
