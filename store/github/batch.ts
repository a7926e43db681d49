import { type Commit, type Refusal, StoreBusy } from "../store.ts";
import { type Chain, type Change, type ChangeContext, decideOne, makeChain, type Outcome } from "./chain.ts";
import { GithubBusy, LostAnswer, spread } from "./client.ts";
import { makeFirstCommit, moveBranch } from "./commit.ts";
import type { Batch, Entry } from "./queue.ts";
import { Conflict } from "./refusal.ts";
import { proposeChange } from "./review.ts";
import { CommitFiles, Snapshot } from "./snapshot.ts";

type ChangeEntry = Entry<Change, Commit | Refusal>;
export type ChangeBatch = Batch<Change, Commit | Refusal>;

/**
 * Makes the changes of a batch: one commit for each, on top of each other, and then moves the branch once. A change for
 * review becomes a pull request instead. GitHub's refusal of a batch does not say which change caused it, so each change
 * is then made alone.
 * @throws {Error} with which all changes of the batch fail that have no outcome yet
 */
export async function commitBatch(context: ChangeContext, batch: ChangeBatch): Promise<void> {
	const [first] = batch.entries as [ChangeEntry];
	if (first.job.meta.review) {
		const tried = { text: null };
		return first.settle(
			await retryRaces(context, batch.until, () => proposeChange(context, first.job, tried)),
		);
	}
	try {
		await commitTogether(context, batch);
	} catch (error) {
		if (error instanceof StoreBusy || batch.entries.length === 1) throw error;
		for (const entry of batch.entries) {
			const alone = { ...batch, entries: [entry], fill: () => undefined };
			await commitTogether(context, alone).catch((error: unknown) => entry.fail(error));
		}
	}
}

const maxAttempts = 5;

/** `Retry-After` where other writers change the layers at the same moment, in seconds. */
const raceSeconds = 2;

/** Retries, each time from a fresh read, while other writers are faster or it is not known whether the branch was moved. */
async function retryRaces<T>(
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
				const text = "others change the layers at the same moment";
				throw new GithubBusy(text, spread(raceSeconds, random), error.message);
			}
			await sleep(pauseMs);
		}
	}
}

async function commitTogether(context: ChangeContext, batch: ChangeBatch): Promise<void> {
	const chains: Chain[] = [];
	const outcomes = await retryRaces(context, batch.until, () => attempt(context, batch, chains));
	for (const [index, outcome] of outcomes.entries()) {
		const entry = batch.entries[index] as ChangeEntry;
		if ("thrown" in outcome) entry.fail(outcome.thrown);
		else entry.settle(outcome.done);
	}
}

/**
 * @param chains the chains of earlier attempts, which may be on the branch although GitHub's answer was lost
 * @returns the outcomes of the batch's first changes; there was no time for the others
 */
async function attempt(context: ChangeContext, batch: ChangeBatch, chains: Chain[]): Promise<Outcome[]> {
	const { github, branch, heads } = context;
	const head = await heads.find(github, branch);
	if (!head) return [await commitFirst(context, (batch.entries[0] as ChangeEntry).job)];
	const landed = chains.find(({ tip }) => head.recent.some(({ sha }) => sha === tip));
	if (landed) return landed.outcomes;
	batch.fill();
	const changes = batch.entries.map(({ job }) => job);
	const chain = await makeChain(context, head, changes);
	if (chain.tip === head.commit) return chain.outcomes;
	chains.push(chain);
	await moveBranch(github, branch, chain.tip);
	heads.noteReplaced(head.commit);
	return chain.outcomes;
}

/** Makes the first change in a repository without commits; the other changes follow in a later batch. */
async function commitFirst({ github, branch }: ChangeContext, change: Change): Promise<Outcome> {
	const decision = await decideOne(change, new Snapshot(new CommitFiles(github, null)));
	if (!("edits" in decision)) return decision;
	if (decision.edits.length === 0) return { done: { commit: "", changed: false } };
	const commit = await makeFirstCommit(github, branch, decision.edits, change.meta, change.started);
	return { done: { commit, changed: true } };
}
