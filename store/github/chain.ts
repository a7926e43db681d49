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
import { commitTree, type Place, writeTree } from "./commit.ts";
import { type Head, type Heads, wasUsed } from "./history.ts";
import { Conflict } from "./refusal.ts";
import type { Github } from "./routes.ts";
import { CommitFiles, Snapshot } from "./snapshot.ts";

/** A change that waits. */
export interface Change {
	edits: Edits;
	meta: Meta;
	started: Date;
}

/** What changes are made with. */
export interface ChangeContext extends Pick<Connection, "now" | "sleep" | "random"> {
	github: Github;
	branch: string;
	heads: Heads;
	/** How long changes are built again because others were faster, in milliseconds. */
	raceMs: number;
	/** After this time no further commit is begun: what is left is for moving the branch, and for building again. */
	lastCommitAt: number;
}

/** What the sender of a change is answered, or what its own code has thrown. */
export type Outcome = { done: Commit | Refusal } | { thrown: unknown };

/** What a change comes to: edits, or its outcome without any. */
type Decision = { edits: Edit[] } | Outcome;

/** Changes that are decided at once, a whole batch: each reads a folder and its history, and often a file. */
const readsAtOnce = 20;

/** Trees that are written at once: GitHub asks for few writes at the same time. */
const treesAtOnce = 4;

/** Decides on changes as if each were made on top of the one before. */
async function decide({ github, now }: ChangeContext, head: Head, changes: readonly Change[]) {
	const files = new CommitFiles(github, head);
	const isUsed = ({ meta }: Change) => wasUsed(github, head, meta, now());
	// All that has to be asked of GitHub is asked at once; what follows an earlier one's edits is decided again.
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

/** Commits of which each follows the one before; on no branch yet. */
export interface Chain {
	/** Id of the last one; that of the head where nothing changes. */
	tip: string;
	/** What each change comes to once the branch is at `tip`; those for which there was no time are left out. */
	outcomes: Outcome[];
}

/**
 * Makes one commit of each change that changes something, as if each were made on top of the one before.
 * @throws {Error} where GitHub does not show what they are decided on
 */
export async function makeChain(
	context: ChangeContext,
	head: Head,
	changes: readonly Change[],
): Promise<Chain> {
	const { github, now, lastCommitAt } = context;
	const decisions = await decide(context, head, changes);
	// Each tree is all edits so far on top of the head's, so that they need not wait for each other.
	const changing = decisions.filter(changesSomething).map(({ edits }) => edits);
	const trees = pMapIterable(
		changing.map((_, index) => changing.slice(0, index + 1).flat()),
		(edits) => writeTree(github, head.tree, edits),
		{ concurrency: treesAtOnce, backpressure: Number.POSITIVE_INFINITY },
	)[Symbol.asyncIterator]();
	const outcomes: Outcome[] = [];
	let tip: Place = head;
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
