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
 * Makes the changes of a batch: a commit each, one on top of the other, and one move of the branch; or a pull request.
 * Where GitHub refuses what one of them brings, it is not known whose it is: each is then made alone.
 * @throws {Error} which fails all changes of the batch that have no outcome yet
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

/** What a publisher may wait before trying again when others change the layers at the same moment. */
const raceSeconds = 2;

/** Tries again, each time from a fresh read, while others are faster or it is not known whether the branch was written. */
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
 * @param chains of earlier attempts: they may be on the branch although the answer was lost
 * @returns what the first changes of the batch came to: for the others there was no time
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
	heads.replaced(head.commit);
	return chain.outcomes;
}

/** In a repository without commits one change is made; the others build on it. */
async function commitFirst({ github, branch }: ChangeContext, change: Change): Promise<Outcome> {
	const decision = await decideOne(change, new Snapshot(new CommitFiles(github, null)));
	if (!("edits" in decision)) return decision;
	if (decision.edits.length === 0) return { done: { commit: "", changed: false } };
	const commit = await makeFirstCommit(github, branch, decision.edits, change.meta, change.started);
	return { done: { commit, changed: true } };
}
