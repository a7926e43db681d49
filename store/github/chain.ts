import pMap from "p-map";
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
import { commitTree, fitsOnePortion, type Place, writeTree } from "./commit.ts";
import type { Head } from "./head.ts";
import { Conflict } from "./refusal.ts";
import type { Replays } from "./replay.ts";
import type { Github } from "./routes.ts";
import { CommitFiles, changesOf, Snapshot } from "./snapshot.ts";

/** A change that waits. */
export interface Change {
	edits: Edits;
	meta: Meta;
	/** When it came in. */
	started: Date;
}

/** What a change comes to: edits, what its sender is answered instead, or what was thrown. */
export type Decision = { edits: Edit[] } | { refusal: Refusal } | { thrown: unknown };

/** Changes that are decided at once, a whole batch: each reads a folder and its history, and often a file. */
const readsAtOnce = 20;

/** Trees that are written at once: GitHub asks for few writes at the same time. */
const treesAtOnce = 4;

/**
 * Decides on changes as if each were made on top of the one before.
 * @returns one decision for each, in order
 * @throws {Error} where GitHub does not show what they are decided on
 */
export async function decide(
	github: Github,
	head: Head | null,
	changes: readonly Change[],
	replays: Replays,
): Promise<Decision[]> {
	const files = new CommitFiles(github, head);
	const answers = new Map<Change, Promise<boolean>>();
	// Asked once for each change: its answer does not depend on the decision, and takes a request.
	const wasUsed = async (change: Change, decision: Decision) => {
		if (head === null || !changesSomething(decision)) return false;
		const answer = answers.get(change) ?? replays.wasUsed(github, head, change.meta);
		answers.set(change, answer);
		return answer;
	};
	// All that has to be asked of GitHub is asked at once; what an earlier one of these alters is decided again.
	const early = await pMap(
		changes,
		async (change) => {
			const snapshot = new Snapshot(files);
			const decision = await decideOne(change, snapshot);
			return { decision, snapshot, isUsed: await wasUsed(change, decision) };
		},
		{ concurrency: readsAtOnce },
	);
	const requests = new Set<string | null>();
	const edits: Edit[] = [];
	const decisions: Decision[] = [];
	for (const [index, change] of changes.entries()) {
		let { decision, snapshot, isUsed } = early[index] as (typeof early)[number];
		const before = changesOf(edits);
		if (snapshot.isStaleAfter(before)) {
			decision = await decideOne(change, new Snapshot(files, before));
			isUsed = await wasUsed(change, decision);
		}
		const { request } = change.meta;
		if (changesSomething(decision) && (isUsed || requests.has(request))) decision = { refusal: usedBefore };
		if (changesSomething(decision)) {
			edits.push(...decision.edits);
			if (request !== null) requests.add(request);
		}
		decisions.push(decision);
	}
	return decisions;
}

function changesSomething(decision: Decision): decision is { edits: Edit[] } {
	return "edits" in decision && decision.edits.length > 0;
}

async function decideOne({ edits }: Change, snapshot: Snapshot): Promise<Decision> {
	try {
		const wanted = await edits(snapshot);
		return isRefusal(wanted) ? { refusal: wanted } : { edits: wanted };
	} catch (thrown) {
		const isGithubs = thrown instanceof StoreBusy || thrown instanceof Conflict;
		if (isGithubs) throw thrown;
		return { thrown };
	}
}

/** What a change came to. */
export type Outcome = { commit: Commit } | { refusal: Refusal } | { thrown: unknown };

/** Commits of which each follows the one before; on no branch yet. */
export interface Chain {
	/** Id of the last one; that of the head where nothing changes. */
	tip: string;
	/** What each change comes to once the branch is at `tip`; those for which there was no time are left out. */
	outcomes: Outcome[];
	/** How many commits there are. */
	length: number;
}

/**
 * Makes one commit of each change that changes something.
 * @param mayGoOn asked before each commit but the first
 */
export async function makeChain(
	github: Github,
	head: Head,
	changes: readonly Change[],
	decisions: readonly Decision[],
	mayGoOn: () => boolean,
): Promise<Chain> {
	const trees = startTrees(github, head.tree, decisions);
	const outcomes: Outcome[] = [];
	let tip: Place = head;
	let length = 0;
	for (const [index, decision] of decisions.entries()) {
		const tree = trees.get(index);
		if (!("edits" in decision)) outcomes.push(decision);
		else if (!tree) outcomes.push({ commit: { commit: tip.commit, changed: false } });
		else {
			if (length > 0 && !mayGoOn()) break;
			const { meta, started } = changes[index] as Change;
			const next = await commitOnce(github, tip, await tree, meta, started);
			const changed = next !== tip;
			if (changed) length += 1;
			tip = next;
			outcomes.push({ commit: { commit: tip.commit, changed } });
		}
	}
	return { tip: tip.commit, outcomes, length };
}

async function commitOnce(
	github: Github,
	parent: Place,
	tree: string,
	meta: Meta,
	now: Date,
): Promise<Place> {
	if (tree === parent.tree) return parent;
	return { commit: await commitTree(github, parent, tree, meta, now), tree };
}

/**
 * Begins to write the tree of each decision that changes something: the head's with all edits so far. So trees do not
 * wait for each other; where the edits are too many for one request, a tree builds on an earlier one.
 */
function startTrees(
	github: Github,
	base: string,
	decisions: readonly Decision[],
): Map<number, Promise<string>> {
	const trees = new Map<number, Promise<string>>();
	const started: Promise<string>[] = [];
	let from: Promise<string> = Promise.resolve(base);
	let edits: Edit[] = [];
	for (const [index, decision] of decisions.entries()) {
		if (!changesSomething(decision)) continue;
		if (!fitsOnePortion([...edits, ...decision.edits])) {
			from = started.at(-1) ?? from;
			edits = [];
		}
		edits = [...edits, ...decision.edits];
		const tree = writeAfter(started.at(-treesAtOnce), github, from, edits);
		// The failure is met where the tree is waited for.
		tree.catch(() => undefined);
		started.push(tree);
		trees.set(index, tree);
	}
	return trees;
}

async function writeAfter(
	earlier: Promise<string> | undefined,
	github: Github,
	from: Promise<string>,
	edits: readonly Edit[],
): Promise<string> {
	await earlier;
	return writeTree(github, await from, edits);
}
