import pMap, { pMapIterable } from "p-map";
import {
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	StoreBusy,
	usedBefore,
} from "../store.ts";
import type { Connection } from "./client.ts";
import { type CommitWithTree, commitTree, writeTree } from "./commit.ts";
import { type Head, type Heads, wasUsed } from "./history.ts";
import { Conflict } from "./refusal.ts";
import type { Github } from "./routes.ts";
import { CommitFiles, Snapshot } from "./snapshot.ts";

/** A change that waits to be made. */
export interface Change {
	edits: Edits;
	meta: Meta;
	started: Date;
}

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

/** The answer to a change's sender, or the error that the change's `edits` threw. */
export type Outcome = { done: Commit | Refusal } | { thrown: unknown };

/** The edits of a change, or its outcome where it has none. */
type Decision = { edits: Edit[] } | Outcome;

/** Most changes that are decided at once: a whole batch. Each reads a folder and its history, and often a file. */
const readsAtOnce = 20;

/** Most trees that are written at once: GitHub asks clients to make few writes at the same time. */
const treesAtOnce = 4;

/** Decides each change on the state that the changes before it leave. */
async function decide({ github, now }: ChangeContext, head: Head, changes: readonly Change[]) {
	const files = new CommitFiles(github, head);
	const isUsed = ({ meta }: Change) => wasUsed(github, head, meta, now());
	// All requests to GitHub are made at once. A change after the first edits is decided again, with these edits.
	const early = await pMap(
		changes,
		async (change) => {
			const decision = await decideOne(change, new Snapshot(files));
			return { decision, used: changesSomething(decision) ? await isUsed(change) : null };
		},
		{ concurrency: readsAtOnce },
	);
	const requests = new Set<string | null>();
	const edits: Edit[] = [];
	const decisions: Decision[] = [];
	for (const [index, change] of changes.entries()) {
		let { decision, used } = early[index] as (typeof early)[number];
		if (edits.length > 0) decision = await decideOne(change, new Snapshot(files, edits));
		const { request } = change.meta;
		if (changesSomething(decision)) {
			used ??= await isUsed(change);
			if (used || requests.has(request)) decision = { done: usedBefore };
			else edits.push(...decision.edits);
			if (request !== null) requests.add(request);
		}
		decisions.push(decision);
	}
	return decisions;
}

function changesSomething(decision: Decision): decision is { edits: Edit[] } {
	return "edits" in decision && decision.edits.length > 0;
}

export async function decideOne({ edits }: Change, snapshot: Snapshot): Promise<Decision> {
	try {
		const wanted = await edits(snapshot);
		return isRefusal(wanted) ? { done: wanted } : { edits: wanted };
	} catch (thrown) {
		if (thrown instanceof StoreBusy || thrown instanceof Conflict) throw thrown;
		return { thrown };
	}
}

/** Commits on top of each other, on no branch yet. */
export interface Chain {
	/** Id of the last commit; the head's id where nothing changes. */
	tip: string;
	/** The outcome of each change once the branch is at `tip`; changes for which there was no time are left out. */
	outcomes: Outcome[];
}

/**
 * Makes one commit for each change that changes something, on top of each other.
 * @throws {Error} where GitHub does not return the stored files or the history
 */
export async function makeChain(
	context: ChangeContext,
	head: Head,
	changes: readonly Change[],
): Promise<Chain> {
	const { github, now, lastCommitAt } = context;
	const decisions = await decide(context, head, changes);
	// Each tree is the head's tree with all edits up to its change, so that no tree has to wait for another one.
	const changing = decisions.filter(changesSomething).map(({ edits }) => edits);
	const trees = pMapIterable(
		changing.map((_, index) => changing.slice(0, index + 1).flat()),
		(edits) => writeTree(github, head.tree, edits),
		{ concurrency: treesAtOnce, backpressure: Number.POSITIVE_INFINITY },
	)[Symbol.asyncIterator]();
	const outcomes: Outcome[] = [];
	let tip: CommitWithTree = head;
	for (const [index, decision] of decisions.entries()) {
		if (!("edits" in decision)) outcomes.push(decision);
		else if (decision.edits.length === 0) outcomes.push({ done: { commit: tip.commit, changed: false } });
		else {
			if (tip !== head && now().getTime() >= lastCommitAt) break;
			const tree: string = (await trees.next()).value;
			const { meta, started } = changes[index] as Change;
			const changed = tree !== tip.tree;
			if (changed) tip = { commit: await commitTree(github, tip, tree, meta, started), tree };
			outcomes.push({ done: { commit: tip.commit, changed } });
		}
	}
	return { tip: tip.commit, outcomes };
}
