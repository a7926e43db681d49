import pLimit from "p-limit";
import { folderOf } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/untrusted.ts";
import { decideChange, isProposed, isRefusal, usesOf } from "../decide.ts";
import { groupOf, reviewBranch, servedBranch } from "../naming.ts";
import { type Commit, type Decide, type Edit, type Meta, type Refusal, StoreBusy } from "../store.ts";
import type { StoreBase } from "./base.ts";
import { type Branch, changesOf } from "./branch.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { findLastCommit } from "./commands/commits.ts";
import { GitFailure } from "./commands/run.ts";
import type { WriteHealth } from "./health.ts";
import type { RequestLog } from "./request-log.ts";
import { findReview, type Place } from "./review-branches.ts";
import { BranchHeld, type GroupWriter } from "./writer.ts";

/** While other processes move the branch. */
const maxAttempts = 20;

/** Git processes at once. */
const lookupLimit = pLimit(4);

export interface StoreContext extends StoreBase {
	writer: GroupWriter;
	catFile: CatFile;
	branch: Branch;
	requests: RequestLog;
	health: WriteHealth;
}

export interface PendingChange {
	decide: Decide;
	meta: Meta;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

interface JudgedChange extends PendingChange {
	edits: Edit[];
	refusal: Refusal | null;
	/** Null for a change without edits. */
	commit: string | null;
}

export async function writeChanges(context: StoreContext, changes: readonly PendingChange[]): Promise<void> {
	let failure: StoreBusy | null = null;
	const repeats = new Map<string | null, number>();
	// A repeated request is judged after the commit of the first.
	const groups = groupBy(changes, ({ meta }) => {
		const round = repeats.get(meta.request) ?? 0;
		if (meta.request !== null) repeats.set(meta.request, round + 1);
		return `${round} ${groupOf(meta)}`;
	});
	for (const group of groups.values()) {
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
	const pending = new Set(group);
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await tryGroup(context, pending, meta);
		} catch (error) {
			if (!(error instanceof BranchHeld)) throw error;
			const branch = meta.review ? reviewBranch(meta) : servedBranch;
			const reason = `others keep changing or holding the branch ${branch}: ${error.message}`;
			if (attempts === maxAttempts) throw new StoreBusy("branch-moved", 2, reason);
		}
	}
}

async function tryGroup(context: StoreContext, group: Set<PendingChange>, meta: Meta): Promise<void> {
	const { branch, requests, health, writer } = context;
	await branch.follow();
	// The commits of a failed group may be on the branch.
	if (await writer.persist()) await requests.readCommitted();
	const served = branch.commit;
	const place = meta.review
		? await findReview(branch, meta)
		: { branch: servedBranch, base: served, reader: branch.readerAt(served), waiting: null };
	const judged = await judgeGroup(context, group, place);
	const changed = judged.filter(({ edits }) => edits.length > 0);
	const published = changed.length === 0 || (await makeCommits(context, place, changed));
	const tip = changed.at(-1)?.commit ?? place.base;
	const unchanged = judged.filter(({ edits }) => edits.length === 0);
	const uses = unchanged.flatMap((change) =>
		usesOf(change.meta, change.refusal ?? { commit: tip, changed: false }),
	);
	if (uses.length > 0) await requests.keep(uses);
	if (changed.length > 0 && health.cause) health.noteRecovery();
	for (const change of judged)
		void outcomeOf(context, place, change, tip, published)
			.then(change.resolve)
			.catch((error) => rejectAlone(context, change, error));
}

/** Sets the commit of each change. @returns false if a file could not be written */
async function makeCommits(
	{ branch, requests, writer }: StoreContext,
	place: Place,
	changed: readonly JudgedChange[],
): Promise<boolean> {
	const { base, reader, waiting } = place;
	const ids = await writer.write(place.branch, base, changed);
	for (const [index, change] of changed.entries()) {
		const commit = ids[index] as string;
		change.commit = commit;
		for (const use of usesOf(change.meta, { commit, changed: true })) requests.used.note(use);
	}
	const persisted = writer.persist();
	persisted.catch(() => undefined);
	const changes = changesOf(changed.flatMap(({ edits }) => edits));
	const range = { from: base, to: ids.at(-1) as string, changes, reader, isPushed: false };
	const published = waiting !== null || (await branch.publish(range));
	await persisted;
	return published;
}

async function outcomeOf(
	{ repository, branch, log }: StoreContext,
	place: Place,
	{ meta, refusal, commit }: JudgedChange,
	tip: string,
	published: boolean,
): Promise<Commit | Refusal> {
	if (refusal) return refusal;
	if (commit !== null && meta.review) return { commit, changed: true, branch: place.branch };
	if (commit !== null) return { commit, changed: true, published };
	const { smallkey } = meta;
	const served = branch.commit;
	if (meta.review && place.base !== served) {
		const isWaiting = await isProposed(smallkey, place.reader, branch.readerAt(served));
		if (isWaiting) return { commit: tip, changed: false, branch: place.branch };
	}
	const head = meta.review ? served : tip;
	if (smallkey === null) return { commit: head, changed: false, published: true };
	const last = await lookupLimit(() => findLastCommit(repository, smallkey, head)).catch(log.error);
	return { commit: last ?? head, changed: false, published: true };
}

function rejectAlone({ health }: StoreContext, { reject }: PendingChange, error: unknown): void {
	reject(error instanceof GitFailure ? health.noteFailure(error) : error);
}

/** Judges each change on the state after the earlier ones. @param group loses a change that cannot be judged */
async function judgeGroup(
	context: StoreContext,
	group: Set<PendingChange>,
	{ reader, waiting }: Place,
): Promise<JudgedChange[]> {
	const judged: JudgedChange[] = [];
	// Reads ahead while the first changes are judged.
	for (const { meta } of group)
		if (meta.smallkey !== null) reader.folder(folderOf(meta.smallkey)).catch(() => undefined);
	for (const change of group) {
		try {
			const outcome = await decideChange(change, reader, waiting, context.requests.used);
			const refusal = isRefusal(outcome) ? outcome : null;
			const edits = isRefusal(outcome) ? [] : outcome;
			judged.push({ ...change, edits, refusal, commit: null });
			reader.overlay(edits);
		} catch (error) {
			group.delete(change);
			rejectAlone(context, change, error);
		}
	}
	return judged;
}
