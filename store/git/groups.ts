import { folderOf } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/untrusted.ts";
import {
	type Change,
	decideGroup,
	isProposed,
	isRefusal,
	type Outcome,
	outcomesOf,
	stepsOf,
	usesOf,
} from "../decide.ts";
import { groupOf, reviewBranch, servedBranch } from "../naming.ts";
import { type Commit, type Meta, type Refusal, StoreBusy } from "../store.ts";
import type { StoreBase } from "./base.ts";
import { type Branch, changesOf } from "./branch.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { GitFailure } from "./commands/run.ts";
import type { WriteHealth } from "./health.ts";
import type { RequestLog } from "./request-log.ts";
import { type Destination, findReview } from "./review-branches.ts";
import { BranchHeld, type GroupWriter } from "./writer.ts";

/** While other processes move the branch. */
const maxAttempts = 20;

export interface StoreContext extends StoreBase {
	writer: GroupWriter;
	catFile: CatFile;
	branch: Branch;
	requests: RequestLog;
	health: WriteHealth;
}

export interface PendingChange extends Change {
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

export async function writeChanges(context: StoreContext, changes: readonly PendingChange[]): Promise<void> {
	let failure: StoreBusy | null = null;
	for (const group of groupBy(changes, ({ meta }) => groupOf(meta)).values()) {
		try {
			// What failed for one branch would fail for all, each after its time limit.
			if (failure) throw failure;
			await writeGroup(context, group);
		} catch (error) {
			if (!(error instanceof StoreBusy)) {
				failure = context.health.noteFailure(error);
				void context.catFile.renew();
			}
			for (const { reject } of group) reject(failure ?? error);
		}
	}
}

async function writeGroup(context: StoreContext, group: readonly PendingChange[]): Promise<void> {
	const { meta } = group[0] as PendingChange;
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await tryGroup(context, group, meta);
		} catch (error) {
			if (!(error instanceof BranchHeld)) throw error;
			const branch = meta.review ? reviewBranch(meta) : servedBranch;
			const reason = `others keep changing or holding the branch ${branch}: ${error.message}`;
			if (attempts === maxAttempts) throw new StoreBusy("branch-moved", 2, reason);
		}
	}
}

async function tryGroup(context: StoreContext, group: readonly PendingChange[], meta: Meta): Promise<void> {
	const { branch, requests, health, writer } = context;
	await branch.follow();
	// The commits of a failed group may be on the branch.
	if (await writer.persist()) await requests.readCommitted();
	const served = branch.commit;
	const destination = meta.review
		? await findReview(branch, meta)
		: { branch: servedBranch, base: served, reader: branch.readerAt(served), waiting: null };
	const { base, reader, waiting } = destination;
	// Reads ahead while the first changes are judged.
	for (const { meta } of group)
		if (meta.smallkey !== null) reader.folder(folderOf(meta.smallkey)).catch(() => undefined);
	const decisions = await decideGroup(group, reader, waiting, requests.used);
	const steps = stepsOf(group, decisions);
	const { commits, published } =
		steps.length > 0 ? await makeCommits(context, destination, steps) : nothingMade;
	const outcomes = outcomesOf(decisions, base, commits);
	if (steps.length < group.length)
		await requests.keep(group.flatMap(({ meta }, index) => usesOf(meta, outcomes[index])));
	if (steps.length > 0 && health.cause) health.noteRecovery();
	const servedReader = branch.readerAt(served);

	async function shown(smallkey: string | null, outcome: Outcome = null): Promise<Commit | Refusal> {
		if (outcome === null || "error" in outcome) throw outcome?.error;
		if (isRefusal(outcome)) return outcome;
		if (!meta.review) return { ...outcome, published: published || !outcome.changed };
		const isWaiting =
			outcome.changed || (base !== served && (await isProposed(smallkey, reader, servedReader)));
		return { ...outcome, ...(isWaiting ? { branch: destination.branch } : { published: true }) };
	}

	for (const [index, { meta, resolve, reject }] of group.entries())
		shown(meta.smallkey, outcomes[index])
			.then(resolve)
			.catch((error) => reject(error instanceof GitFailure ? health.noteFailure(error) : error));
}

const nothingMade = { commits: [], published: true };

/** @returns commits in order; `published`: false if a file could not be written */
async function makeCommits(
	{ branch, requests, writer }: StoreContext,
	{ branch: name, base, reader, waiting }: Destination,
	steps: ReturnType<typeof stepsOf>,
): Promise<{ commits: string[]; published: boolean }> {
	const commits = await writer.write(name, base, steps);
	for (const [index, { meta }] of steps.entries())
		for (const use of usesOf(meta, { commit: commits[index] as string, changed: true }))
			requests.used.note(use);
	const persisted = writer.persist();
	persisted.catch(() => undefined);
	const changes = changesOf(steps.flatMap(({ edits }) => edits));
	const range = { from: base, to: commits.at(-1) as string, changes, reader, isPushed: false };
	const published = waiting !== null || (await branch.publish(range));
	await persisted;
	return { commits, published };
}
