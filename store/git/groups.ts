import pLimit from "p-limit";
import { folderOf } from "../../registry/smallkey.ts";
import type { Problem } from "../../registry/texts.ts";
import { groupBy } from "../../registry/values.ts";
import { groupOf, reviewBranch, servedBranch } from "../branches.ts";
import { decideChange, isProposed, type Waiting } from "../decide.ts";
import {
	type Commit,
	type Decide,
	type Edit,
	isRefusal,
	type Meta,
	type Refusal,
	StoreBusy,
} from "../store.ts";
import { usesOf } from "../used-requests.ts";
import { type Branch, changesOf, findLastCommit } from "./branch.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { isDescendant } from "./commands/commits.ts";
import { GitFailure } from "./commands/run.ts";
import type { WriteHealth } from "./health.ts";
import type { RequestLog } from "./request-log.ts";
import { senderOf, waitingSpellings } from "./review-branches.ts";
import { BranchHeld, type Import, type StoreBase } from "./writer.ts";

/** How often a group is judged that another process has overtaken. */
const maxAttempts = 20;

const look = pLimit(4);

export interface StoreContext extends StoreBase, Import {
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

interface JudgedChange extends Omit<PendingChange, "decide"> {
	/** Empty for a refusal. */
	edits: Edit[];
	refusal: Refusal | null;
}

/** Resolves or rejects each of them. */
export async function writeChanges(context: StoreContext, changes: readonly PendingChange[]): Promise<void> {
	let failure: StoreBusy | null = null;
	const repeats = new Map<string, number>();
	// A request that is repeated is judged after the commit of the first one.
	const nameOf = ({ meta }: PendingChange) => {
		const { request } = meta;
		const round = (repeats.get(request ?? "") ?? -1) + 1;
		if (request !== null) repeats.set(request, round);
		return `${round} ${groupOf(meta)}`;
	};
	for (const group of groupBy(changes, nameOf).values()) {
		try {
			if (failure) throw failure;
			await writeGroup(context, group);
		} catch (error) {
			// What fails for one branch would fail for all, each after its time limit.
			if (!(error instanceof StoreBusy)) {
				failure = context.health.failed(error);
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
			const name = meta.review ? reviewBranch(meta) : servedBranch;
			const reason = `others keep changing or holding the branch ${name}: ${error.message}`;
			if (attempts === maxAttempts) throw new StoreBusy("branch-moved", 2, reason);
		}
	}
}

/** If this fails although the group is on the branch, a repeated request is found there. */
async function tryGroup(context: StoreContext, group: readonly PendingChange[], meta: Meta): Promise<void> {
	const { repository, log, branch, requests, health, importGroup, persist } = context;
	await branch.follow();
	// The commits of a group that failed may be on the branch.
	if (await persist()) await requests.readCommitted();
	const target = await targetOf(context, meta);
	const { name, base, reader } = target;
	const judged = await judgeGroup(context, group, target);
	const changed = judged.filter(({ edits }) => edits.length > 0);
	const ids = changed.length > 0 ? await importGroup(name, base, changed) : [];
	const commits = new Map(changed.map((change, index) => [change, ids[index] as string]));
	const tip = ids.at(-1) ?? base;
	let warnings: Problem[] = [];
	for (const [{ meta }, commit] of commits) for (const use of usesOf(meta, commit)) requests.used.note(use);
	if (tip !== base) {
		const persisted = persist();
		persisted.catch(() => undefined);
		const changes = changesOf(changed.flatMap(({ edits }) => edits));
		const range = { from: base, to: tip, changes, at: reader, isPushed: false };
		if (!meta.review) warnings = await branch.publish(range);
		await persisted;
	}
	const unchanged = judged.filter((change) => !commits.has(change));
	await requests.keep(unchanged.flatMap(({ meta, refusal }) => usesOf(meta, refusal?.status ?? tip)));
	if (tip !== base && health.cause) health.recovered();
	const outcomeOf = async (change: JudgedChange): Promise<Commit | Refusal> => {
		const { refusal, meta } = change;
		const commit = commits.get(change);
		if (refusal) return refusal;
		if (commit !== undefined && meta.review) return { commit, changed: true, branch: name };
		if (commit !== undefined) return { commit, changed: true, warnings, published: warnings.length === 0 };
		const { smallkey } = meta;
		const served = branch.commit;
		// The same change waits there for review.
		if (meta.review && base !== served && (await isProposed(smallkey, reader, branch.readerAt(served))))
			return { commit: tip, changed: false, branch: name };
		const at = meta.review ? served : tip;
		const last = smallkey === null ? null : look(() => findLastCommit(repository, smallkey, at));
		return { commit: (await last?.catch(log.error)) ?? at, changed: false };
	};
	for (const change of judged)
		void outcomeOf(change)
			.then(change.resolve)
			.catch((error) => rejectAlone(health, change, error));
}

function rejectAlone(health: WriteHealth, { reject }: Pick<PendingChange, "reject">, error: unknown): void {
	reject(error instanceof GitFailure ? health.failed(error) : error);
}

async function targetOf({ repository, catFile, branch }: StoreContext, meta: Meta) {
	const at = (name: string, base: string, waiting: Waiting | null = null) => {
		return { name, base, reader: branch.readerAt(base), waiting };
	};
	const served = branch.commit;
	if (!meta.review) return at(servedBranch, served);
	const name = reviewBranch(meta);
	const review = (await catFile.read(`refs/heads/${name}`))?.id ?? null;
	const isOpen = review !== null && !(await isDescendant(repository, review, served));
	const sender = isOpen ? await senderOf(repository, served, review) : null;
	const holder = sender === meta.author ? null : sender;
	const spellings = (smallkey: string) => waitingSpellings(branch, repository, smallkey);
	return at(name, isOpen && holder === null ? review : served, { holder, spellings });
}

/** Judges each change on the state after the ones before it. @param group no two of them have the same signed request */
async function judgeGroup(
	{ requests, health }: StoreContext,
	group: readonly PendingChange[],
	{ reader, waiting }: Awaited<ReturnType<typeof targetOf>>,
) {
	const judged: JudgedChange[] = [];
	// The folders of all changes are read in advance, while the first ones are judged.
	for (const { meta } of group)
		if (meta.smallkey !== null) reader.folder(folderOf(meta.smallkey)).catch(() => undefined);
	for (const change of group) {
		try {
			const outcome = await decideChange(change, reader, waiting, requests.used);
			const [edits, refusal] = isRefusal(outcome) ? [[], outcome] : [outcome, null];
			judged.push({ ...change, edits, refusal });
			reader.overlay(edits);
		} catch (error) {
			rejectAlone(health, change, error);
		}
	}
	return judged;
}
