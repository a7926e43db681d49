import { type Commit, type Refusal, StoreBusy } from "../store.ts";
import { type Chain, type Change, decide, makeChain, type Outcome } from "./chain.ts";
import { GithubBusy, LostAnswer, spread } from "./client.ts";
import { moveBranch } from "./commit.ts";
import type { Heads } from "./history.ts";
import type { Batch, Entry } from "./queue.ts";
import { Conflict } from "./refusal.ts";
import { proposeChange } from "./review.ts";
import type { Github } from "./routes.ts";

type ChangeEntry = Entry<Change, Commit | Refusal>;
export type ChangeBatch = Batch<Change, Commit | Refusal>;

/** What changes are made with. */
export interface BatchContext {
	github: Github;
	/** The branch that is changed. */
	branch: string;
	heads: Heads;
	now: () => Date;
	/** Waits a number of milliseconds. */
	sleep: (ms: number) => Promise<void>;
	/** A number from 0 to 1, for jitter. */
	random: () => number;
	/** How long changes are built again because others were faster, in milliseconds. */
	raceMs: number;
	/** After this time no further commit is begun: what is left is for moving the branch, and for building again. */
	lastCommitAt: number;
}

/**
 * Makes the changes of a batch: a commit each, one on top of the other, and one move of the branch; or a pull request.
 * Where GitHub refuses what one of them brings, it is not known whose it is: each is then made alone.
 * @throws {Error} which fails all changes of the batch that have no outcome yet
 */
export async function commitBatch(context: BatchContext, batch: ChangeBatch): Promise<void> {
	const [first] = batch.entries as [ChangeEntry];
	const { edits, meta, started } = first.job;
	if (meta.review) {
		const proposing = { ...context, started, written: null };
		const propose = () => proposeChange(proposing, edits, meta);
		return first.settle(await retryRaces(context, batch.until, propose));
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
	{ now, sleep, random, raceMs }: BatchContext,
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

async function commitTogether(context: BatchContext, batch: ChangeBatch): Promise<void> {
	const chains: Chain[] = [];
	const outcomes = await retryRaces(context, batch.until, () => attempt(context, batch, chains));
	for (const [index, outcome] of outcomes.entries()) {
		const entry = batch.entries[index] as ChangeEntry;
		if ("thrown" in outcome) entry.fail(outcome.thrown);
		else entry.settle("refusal" in outcome ? outcome.refusal : outcome.commit);
	}
}

/**
 * @param chains of earlier attempts: they may be on the branch although the answer was lost
 * @returns what the first changes of the batch came to: for the others there was no time
 */
async function attempt(context: BatchContext, batch: ChangeBatch, chains: Chain[]): Promise<Outcome[]> {
	const { github, branch, heads, now, lastCommitAt } = context;
	const head = await heads.read(github, branch);
	const landed = chains.find(({ tip }) => head.recent.some(({ sha }) => sha === tip));
	if (landed) return landed.outcomes;
	batch.fill();
	const changes = batch.entries.map(({ job }) => job);
	const decisions = await decide(github, head, changes, now());
	const chain = await makeChain(github, head, changes, decisions, () => now().getTime() < lastCommitAt);
	if (chain.tip === head.commit) return chain.outcomes;
	chains.push(chain);
	await moveBranch(github, branch, chain.tip);
	heads.replaced(head.commit);
	return chain.outcomes;
}
