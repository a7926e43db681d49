import { type Commit, type Refusal, StoreBusy } from "../store.ts";
import { type Chain, type Change, type Decision, decide, makeChain, type Outcome } from "./chain.ts";
import { makeFirstCommit, moveBranch } from "./commit.ts";
import type { Freshness } from "./freshness.ts";
import { type Head, readHead } from "./head.ts";
import type { Batch, Entry } from "./queue.ts";
import type { RetryRaces } from "./races.ts";
import { carriesRequest, type Replays } from "./replay.ts";
import type { Github } from "./routes.ts";

type ChangeEntry = Entry<Change, Commit | Refusal>;
export type ChangeBatch = Batch<Change, Commit | Refusal>;

/** What changes are made with. */
export interface BatchContext {
	github: Github;
	/** The branch that is changed. */
	branch: string;
	replays: Replays;
	fresh: Freshness;
	retryRaces: RetryRaces;
	/** The clock of the two limits below. */
	now: () => Date;
	/** When the batch has to have ended, in milliseconds. */
	until: number;
	/** After this time no further commit is begun: what is left is for moving the branch, and for building again. */
	lastCommitAt: number;
}

/** What earlier attempts have written: it may be on the branch although the answer was lost. */
interface Written {
	chains: Chain[];
	isFirstCommit: boolean;
}

/**
 * Makes the changes of a batch: a commit each, one on top of the other, and one move of the branch. Where GitHub
 * refuses what one of them brings, it is not known whose it is: each is then made alone.
 * @throws {Error} which fails all changes that are still in the batch
 */
export async function commitBatch(context: BatchContext, batch: ChangeBatch): Promise<void> {
	try {
		await attemptUntilDone(context, batch);
	} catch (error) {
		if (error instanceof StoreBusy || batch.entries.length === 1) throw error;
		for (const entry of batch.entries) entry.isAlone = true;
		batch.giveBack(batch.entries.slice(1));
		await attemptUntilDone(context, batch);
	}
}

function attemptUntilDone(context: BatchContext, batch: ChangeBatch): Promise<void> {
	const written: Written = { chains: [], isFirstCommit: false };
	let isFilled = false;
	return context.retryRaces(context.until, async () => {
		const { github, branch, fresh, replays } = context;
		const head = fresh.check(await readHead(github, branch));
		const landed = head && findLanded(head, written, batch);
		if (landed) return settle(context, batch, landed);
		if (!isFilled) batch.fill();
		isFilled = true;
		const changes = batch.entries.map(({ job }) => job);
		const decisions = await decide(github, head, changes, replays);
		if (!head) return settle(context, batch, await commitFirst(context, changes, decisions, written));
		return settle(context, batch, await commitAll(context, head, changes, decisions, written));
	});
}

/** What an earlier attempt's write has come to, where it is on the branch. */
function findLanded(head: Head, written: Written, batch: ChangeBatch): Outcome[] | null {
	const chain = written.chains.find(({ tip }) => head.recent.some(({ sha }) => sha === tip));
	if (chain) return chain.outcomes;
	const { meta } = (batch.entries[0] as ChangeEntry).job;
	const first = written.isFirstCommit && head.recent.find((commit) => carriesRequest(commit, meta));
	return first ? [{ commit: { commit: first.sha, changed: true } }] : null;
}

async function commitAll(
	{ github, branch, fresh, now, lastCommitAt }: BatchContext,
	head: Head,
	changes: readonly Change[],
	decisions: readonly Decision[],
	written: Written,
): Promise<Outcome[]> {
	const mayGoOn = () => now().getTime() < lastCommitAt;
	const chain = await makeChain(github, head, changes, decisions, mayGoOn);
	if (chain.length > 0) {
		written.chains.push(chain);
		await moveBranch(github, branch, chain.tip);
		fresh.replaced(head.commit);
	}
	return chain.outcomes;
}

/** In a repository without commits one change is made; the others build on it. */
async function commitFirst(
	{ github, branch }: BatchContext,
	[change]: readonly Change[],
	[decision]: readonly Decision[],
	written: Written,
): Promise<Outcome[]> {
	if (!change || !decision) return [];
	if (!("edits" in decision)) return [decision];
	if (decision.edits.length === 0) return [{ commit: { commit: "", changed: false } }];
	written.isFirstCommit = true;
	const commit = await makeFirstCommit(github, branch, decision.edits, change.meta, change.started);
	return [{ commit: { commit, changed: true } }];
}

/** Settles each change; those for which there was no time wait again. */
function settle({ replays }: BatchContext, batch: ChangeBatch, outcomes: readonly Outcome[]): void {
	batch.giveBack(batch.entries.slice(outcomes.length));
	for (const [index, entry] of batch.entries.entries()) {
		const outcome = outcomes[index] as Outcome;
		if ("thrown" in outcome) entry.fail(outcome.thrown);
		else if ("refusal" in outcome) entry.settle(outcome.refusal);
		else {
			if (outcome.commit.changed) replays.remember(entry.job.meta);
			entry.settle(outcome.commit);
		}
	}
}
