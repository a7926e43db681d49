import { folderOf } from "../../registry/smallkey.ts";
import { type Problem, problemAt } from "../../registry/texts.ts";
import {
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	judgeRepeat,
	type Meta,
	type Refusal,
	reviewBranch,
	StoreBusy,
	type UsedRequest,
	waitsOf,
} from "../store.ts";
import type { Branch, openLastCommits } from "./branch.ts";
import type { CatFile, CommitReader } from "./commands/cat-file.ts";
import { isAncestor } from "./commands/commits.ts";
import { GitFailure, GitTimeout } from "./commands/run.ts";
import type { PathChange } from "./commands/tree.ts";
import { DiskTimeout, type WriteHealth } from "./health.ts";
import { clearLeftovers } from "./repository.ts";
import { findTwin, senderOf } from "./review-branches.ts";
import type { UsedRequests } from "./used-requests.ts";
import { BranchHeld, branchName, GroupImport, measured, type StoreBase } from "./writer.ts";

/** How often a group is judged that another process has overtaken, and one on which git failed. */
const maxMoves = 20;
const maxFailures = 2;

/** Edits after which the groups' shared reader is replaced: it keeps their texts in memory. */
const maxReaderEdits = 2_000;

export interface StoreContext extends StoreBase {
	catFile: CatFile;
	branch: Branch;
	requests: UsedRequests;
	health: WriteHealth;
	lastCommits: ReturnType<typeof openLastCommits>;
}

interface Target {
	name: string;
	base: string;
	reader: CommitReader;
	/** Whether the branch has a change of the same sender that waits for review. */
	isWaiting: boolean;
	/** Why a change cannot be made there: another one waits for review. Null: it can be. */
	held: (meta: Meta) => Promise<Refusal | null>;
}

/** Writes changes to their branches, and answers them. To be called for one group at a time. */
export class GroupWriter {
	readonly #import: GroupImport;
	/** The state for the next group, and the number of uncommitted edits in its reader: for row `put-alone`. */
	#shared: { reader: CommitReader; commit: string; edits: number } | null = null;

	constructor(readonly context: StoreContext) {
		this.#import = new GroupImport(context);
	}

	/** All changes for one branch are a group. Two senders may send the same layer for review: these are two groups. */
	async write(changes: readonly Pending[]): Promise<void> {
		const { health } = this.context;
		const groups = new Map<string, { name: string; group: Pending[] }>();
		for (const change of changes) {
			const { meta } = change;
			const name = meta.review ? reviewBranch(meta) : branchName;
			const key = meta.review ? `${name} ${meta.author}` : name;
			const entry = groups.get(key) ?? { name, group: [] };
			entry.group.push(change);
			groups.set(key, entry);
		}
		let failure: unknown = null;
		const sorted = [...groups.values()].sort(
			(a, b) => Number(b.name === branchName) - Number(a.name === branchName),
		);
		for (const { name, group } of sorted)
			await (failure ? Promise.reject(failure) : this.#writeTo(name, group)).catch((busy) => {
				// What fails for one branch would fail for all, each after its time limit.
				if (health.reason !== null) failure = busy;
				for (const { reject } of group) reject(busy);
			});
	}

	/** Writes a group to a branch, and answers it. @throws {StoreBusy} if that fails: nothing of it was answered */
	async #writeTo(name: string, changes: readonly Pending[]): Promise<void> {
		const { health, catFile, repository } = this.context;
		for (let attempt = 1; ; attempt += 1) {
			try {
				return await this.#tryTo(name, changes);
			} catch (error) {
				this.#shared = null;
				const isHeld = error instanceof BranchHeld;
				const busy = isHeld
					? new StoreBusy(
							"branch-moved",
							2,
							`others keep changing or holding the branch ${name}: ${error.message}`,
						)
					: health.failed(error);
				const isLast = attempt >= (isHeld ? maxMoves : maxFailures);
				if (isLast || [StoreBusy, GitTimeout, DiskTimeout].some((type) => error instanceof type)) throw busy;
				if (isHeld) continue;
				void catFile.renew();
				await clearLeftovers(repository).catch(() => undefined);
			}
		}
	}

	/** The group may be on the branch although this fails. Then the next attempt finds its requests, or that nothing changes. */
	async #tryTo(name: string, changes: readonly Pending[]): Promise<void> {
		const { branch, requests } = this.context;
		await branch.follow();
		if (this.#import.isUncertain) {
			await this.#import.persist();
			await requests.readCommitted();
		}
		const target =
			name === branchName ? this.#servedTarget() : await this.#reviewTarget(name, changes[0]?.meta);
		const judged = await judgeGroup(changes, target, this.context);
		const changed = judged.filter(({ edits }) => edits.length > 0);
		if (changed.length === 0) return this.#answer(target, judged, target.base);
		const task = () => this.#import.importGroup(name, target.base, changed);
		const ids = await measured(this.context, "checkpoint", task);
		for (const [index, change] of changed.entries()) change.commit = ids[index] as string;
		const to = ids.at(-1) as string;
		requests.noteCommitted(usesOf(changed, to), name === branchName ? to : undefined);
		const persisted = this.#import.persist();
		persisted.catch(() => undefined);
		const warnings = name === branchName ? await this.#publish(target, changed, to) : [];
		await persisted;
		await this.#answer(target, judged, to, warnings);
	}

	async #publish({ base, reader }: Target, changed: readonly Judged[], to: string): Promise<Problem[]> {
		const { branch, lastCommits } = this.context;
		const edits = changed.flatMap((change) => change.edits);
		const changes = changesOf(edits);
		const { warnings } = await branch.publish({ from: base, to, changes, at: reader, isPushed: false });
		for (const { edits: written, commit } of changed) lastCommits.note(written, commit);
		if (this.#shared) this.#shared = { reader, commit: to, edits: this.#shared.edits + edits.length };
		return warnings;
	}

	#servedTarget(): Target {
		const { branch } = this.context;
		const { commit } = branch;
		if (this.#shared?.commit !== commit || this.#shared.edits > maxReaderEdits)
			this.#shared = { reader: branch.readerAt(commit), commit, edits: 0 };
		const { reader } = this.#shared;
		return { name: branchName, base: commit, reader, isWaiting: false, held: async () => null };
	}

	async #reviewTarget(name: string, meta: Meta | undefined): Promise<Target> {
		const { branch, catFile, repository } = this.context;
		const { commit } = branch;
		const from = (await catFile.read(`refs/heads/${name}`))?.id ?? null;
		const waits = from !== null && !(await isAncestor(repository, from, commit));
		const sender = waits ? await senderOf(repository, commit, from) : null;
		const isHeld = sender !== null && sender !== meta?.author;
		const isWaiting = waits && !isHeld;
		const base = isWaiting ? from : commit;
		const reader = branch.readerAt(base);
		const held = async ({ smallkey }: Meta) =>
			isHeld ? waitsOf(sender) : findTwin(branch, repository, smallkey, reader);
		return { name, base, reader, isWaiting, held };
	}

	/** Answers a group whose commits are on the disk. @param to its last commit; that of the target if it has none */
	async #answer(
		{ name, isWaiting, base, reader }: Target,
		judged: readonly Judged[],
		to: string,
		warnings: Problem[] = [],
	): Promise<void> {
		const { branch, requests, health } = this.context;
		const unchanged = judged.filter(({ edits }) => edits.length === 0);
		await requests.keep(usesOf(unchanged, to));
		if (to !== base && health.reason !== null) health.recovered();
		const isReview = name !== branchName;
		const published = { warnings, published: warnings.length === 0 };
		for (const { pending, meta, refusal, commit, edits } of judged) {
			const changed = edits.length > 0;
			const waits = isReview && (changed || (isWaiting && (await this.#isProposed(meta, reader))));
			const more = waits ? { branch: name } : changed ? published : {};
			const resolve = (id: string) => pending.resolve(refusal ?? { commit: id, changed, ...more });
			const isStored = !refusal && !changed && !waits && meta.smallkey !== null;
			if (isStored)
				void this.#lastCommitOf(meta.smallkey as string, isReview ? branch.commit : to).then(resolve);
			else resolve(commit ?? to);
		}
	}

	/** Whether the state of a review differs from the served one in a layer. A commit of no single layer always does. */
	async #isProposed({ smallkey }: Meta, reader: CommitReader): Promise<boolean> {
		if (smallkey === null) return true;
		const { branch } = this.context;
		const served = await branch.readerAt(branch.commit).ids(smallkey);
		return (await reader.ids(smallkey))?.registration !== served?.registration;
	}

	async #lastCommitOf(smallkey: string, tip: string): Promise<string> {
		const { lastCommits, log } = this.context;
		return (await lastCommits.find(smallkey, tip).catch((error) => log.error(error))) ?? tip;
	}
}

function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}

export interface Pending {
	edits: Edits;
	meta: Meta;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

interface Judged {
	pending: Pending;
	meta: Meta;
	edits: Edit[];
	refusal: Refusal | null;
	/** Id of the commit with the requested state; null for the branch's last commit, or if there is no commit yet. */
	commit: string | null;
}

/**
 * Judges the changes of a group in their order, each on the state after the ones before it. If the function of a change
 * throws, the change is rejected and left out of the results.
 * @param group no two of them have the same signed request
 * @param target its reader has the state before the group, to which the edits of the group are added
 */
async function judgeGroup(
	group: readonly Pending[],
	{ reader, held }: Target,
	{ requests, health }: StoreContext,
): Promise<Judged[]> {
	const judged: Judged[] = [];
	// Reads the folders of all changes in advance, while the first ones are judged; the next reader handles a failure.
	for (const { smallkey } of group.map(({ meta }) => meta))
		if (smallkey !== null) reader.folder(folderOf(smallkey)).catch(() => undefined);
	for (const pending of group) {
		const { edits, meta } = pending;
		try {
			const proposed = await edits(reader);
			const refusal = isRefusal(proposed) || proposed.length === 0 ? null : await held(meta);
			const result = judge(meta, refusal ?? proposed, requests);
			judged.push({ pending, meta, edits: [], refusal: null, commit: null, ...result });
			reader.overlay(result.edits ?? []);
		} catch (error) {
			pending.reject(error instanceof GitFailure ? health.failed(error) : error);
		}
	}
	return judged;
}

/** The signed requests among judged changes. @param tip the commit of changes without a commit of their own */
function usesOf(judged: readonly Judged[], tip: string): UsedRequest[] {
	return judged.flatMap(({ meta: { request, method = "-", time }, refusal, commit }) =>
		request === null ? [] : [{ request, method, time, outcome: refusal?.status ?? commit ?? tip }],
	);
}

function judge(
	{ request, method = "-", time }: Meta,
	outcome: Edit[] | Refusal,
	requests: UsedRequests,
): Partial<Pick<Judged, "edits" | "refusal" | "commit">> {
	const first = request === null ? null : requests.find(request);
	if (first) {
		const refusal = judgeRepeat(first, method, outcome);
		return refusal ? { refusal } : { commit: String(first.outcome) };
	}
	if (isRefusal(outcome)) return { refusal: outcome };
	if (request !== null && outcome.length > 0 && requests.isForgotten(time)) return { refusal: mayBeUsed };
	return { edits: outcome };
}

const mayBeUsed: Refusal = {
	status: 401,
	reason: "used before",
	errors: [problemAt("TimeStamp", "clock")],
};
