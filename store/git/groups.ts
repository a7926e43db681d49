import { folderOf } from "../../registry/smallkey.ts";
import { type Problem, problemAt } from "../../registry/texts.ts";
import { groupBy } from "../../registry/untrusted-text.ts";
import { isProposed, refuseTwin } from "../reader.ts";
import {
	type Commit,
	changesFiles,
	decideChange,
	type Edit,
	type Edits,
	groupOf,
	isRefusal,
	type Meta,
	type Refusal,
	reviewBranch,
	StoreBusy,
	usesOf,
	waitsOf,
} from "../store.ts";
import { type Branch, changesOf, type openLastCommits } from "./branch.ts";
import type { CatFile, CommitReader } from "./commands/cat-file.ts";
import { isAncestor } from "./commands/commits.ts";
import { GitFailure, GitTimeout } from "./commands/run.ts";
import { DiskTimeout, type WriteHealth } from "./health.ts";
import { senderOf, waitingSpellings } from "./review-branches.ts";
import type { UsedRequests } from "./used-requests.ts";
import { BranchHeld, branchName, GroupImport, measured, type StoreBase } from "./writer.ts";

/** How often a group is judged that another process has overtaken, and one on which git failed. */
const maxMoves = 20;
const maxFailures = 2;

export interface StoreContext extends StoreBase {
	catFile: CatFile;
	branch: Branch;
	requests: UsedRequests;
	health: WriteHealth;
	lastCommits: ReturnType<typeof openLastCommits>;
}

export interface PendingChange {
	edits: Edits;
	meta: Meta;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

interface JudgedChange extends Omit<PendingChange, "edits"> {
	edits: Edit[];
	refusal: Refusal | null;
	commit?: string;
	/** Whether it changes nothing because the same change waits there for review. */
	waits?: boolean;
}

interface Target {
	name: string;
	base: string;
	/** The state before the group, to which the edits of the group are added. */
	reader: CommitReader;
	/** Whether a change of the same sender waits there for review. */
	isWaiting: boolean;
	/** Refuses a change while another one waits. */
	refuse: (meta: Meta) => Promise<Refusal | null>;
}

export class GroupWriter {
	readonly #import: GroupImport;

	constructor(readonly context: StoreContext) {
		this.#import = new GroupImport(context);
	}

	/** Resolves or rejects each change. */
	async write(changes: readonly PendingChange[]): Promise<void> {
		let failure: unknown = null;
		for (const group of groupBy(changes, ({ meta }) => groupOf(meta)).values()) {
			try {
				if (failure) throw failure;
				await this.#writeGroup(group);
			} catch (error) {
				// What fails for one branch would fail for all, each after its time limit.
				if (this.context.health.reason !== null) failure = error;
				for (const { reject } of group) reject(error);
			}
		}
	}

	async #writeGroup(group: readonly PendingChange[]): Promise<void> {
		const { health, catFile } = this.context;
		for (let attempt = 1; ; attempt += 1) {
			try {
				return await this.#tryGroup(group);
			} catch (error) {
				const isHeld = error instanceof BranchHeld;
				const isFinal = [StoreBusy, GitTimeout, DiskTimeout].some((type) => error instanceof type);
				const busy = isHeld ? branchMoved(group, error) : health.failed(error);
				if (isFinal || attempt >= (isHeld ? maxMoves : maxFailures)) throw busy;
				if (!isHeld) void catFile.renew();
			}
		}
	}

	/** If this fails although the group is on the branch, the next attempt finds its requests, or that nothing changes. */
	async #tryGroup(group: readonly PendingChange[]): Promise<void> {
		const { branch, requests } = this.context;
		const { meta } = group[0] as PendingChange;
		await branch.follow();
		// The commits of a group that failed may be on the branch.
		if (await this.#import.persist()) await requests.readCommitted();
		const target = meta.review ? await this.#reviewTarget(meta) : this.#servedTarget();
		const judged = await judgeGroup(group, target, this.context);
		for (const change of judged) change.waits = await this.#waits(change, target);
		const changed = judged.filter(({ edits }) => edits.length > 0);
		if (changed.length === 0) return this.#answer(target, judged, target.base);
		const tip = await this.#commit(target, changed);
		const persisted = this.#import.persist();
		persisted.catch(() => undefined);
		const warnings = meta.review ? [] : await this.#publish(target, changed, tip);
		await persisted;
		await this.#answer(target, judged, tip, warnings);
	}

	/** @returns the commit of the last change */
	async #commit({ name, base }: Target, changed: readonly JudgedChange[]): Promise<string> {
		const task = () => this.#import.importGroup(name, base, changed);
		const ids = await measured(this.context, "checkpoint", task);
		for (const [index, change] of changed.entries()) change.commit = ids[index] as string;
		const tip = ids.at(-1) as string;
		const uses = changed.flatMap(({ meta, commit = tip }) => usesOf(meta, commit));
		this.context.requests.noteCommitted(uses, name === branchName ? tip : undefined);
		return tip;
	}

	async #publish({ base, reader }: Target, changed: readonly JudgedChange[], tip: string) {
		const { branch, lastCommits } = this.context;
		const changes = changesOf(changed.flatMap(({ edits }) => edits));
		const { warnings } = await branch.publish({ from: base, to: tip, changes, at: reader, isPushed: false });
		for (const { edits, commit = tip } of changed) lastCommits.note(edits, commit);
		return warnings;
	}

	#servedTarget(): Target {
		const { branch } = this.context;
		const reader = branch.readerAt(branch.commit);
		return { name: branchName, base: branch.commit, reader, isWaiting: false, refuse: async () => null };
	}

	async #reviewTarget(meta: Meta): Promise<Target> {
		const { branch, catFile, repository } = this.context;
		const name = reviewBranch(meta);
		const { commit } = branch;
		const from = (await catFile.read(`refs/heads/${name}`))?.id ?? null;
		const waits = from !== null && !(await isAncestor(repository, from, commit));
		const sender = waits ? await senderOf(repository, commit, from) : null;
		const isHeld = sender !== null && sender !== meta.author;
		const isWaiting = waits && !isHeld;
		const base = isWaiting ? from : commit;
		const reader = branch.readerAt(base);
		const spellings = (smallkey: string) => waitingSpellings(branch, repository, smallkey);
		const refuse = async ({ smallkey }: Meta) =>
			isHeld ? waitsOf(sender) : refuseTwin(smallkey, reader, spellings);
		return { name, base, reader, isWaiting, refuse };
	}

	/** @param tip the commit of a change without a commit of its own */
	async #answer(target: Target, judged: readonly JudgedChange[], tip: string, warnings: Problem[] = []) {
		const { requests, health } = this.context;
		const unchanged = judged.filter(({ edits }) => edits.length === 0);
		await requests.keep(unchanged.flatMap(({ meta, refusal }) => usesOf(meta, refusal?.status ?? tip)));
		if (tip !== target.base && health.reason !== null) health.recovered();
		for (const change of judged)
			void this.#resultOf(change, target, tip, warnings).then(change.resolve, change.reject);
	}

	async #waits({ meta, edits, refusal }: JudgedChange, { isWaiting, reader }: Target): Promise<boolean> {
		const { branch } = this.context;
		if (!isWaiting || refusal || edits.length > 0) return false;
		return isProposed(meta.smallkey, reader, branch.readerAt(branch.commit));
	}

	async #resultOf(
		change: JudgedChange,
		{ name }: Target,
		tip: string,
		warnings: Problem[],
	): Promise<Commit | Refusal> {
		const { meta, edits, refusal, commit = tip, waits } = change;
		const isServed = name === branchName;
		if (refusal) return refusal;
		if (waits) return { commit: tip, changed: false, branch: name };
		if (edits.length === 0) {
			const served = isServed ? tip : this.context.branch.commit;
			return { commit: await this.#lastCommit(meta.smallkey, served), changed: false };
		}
		if (!isServed) return { commit, changed: true, branch: name };
		return { commit, changed: true, warnings, published: warnings.length === 0 };
	}

	async #lastCommit(smallkey: string | null, tip: string): Promise<string> {
		const { lastCommits, log } = this.context;
		if (smallkey === null) return tip;
		try {
			return (await lastCommits.find(smallkey, tip)) ?? tip;
		} catch (error) {
			log.error(error);
			return tip;
		}
	}
}

function branchMoved([first]: readonly PendingChange[], { message }: BranchHeld): StoreBusy {
	const name = first?.meta.review ? reviewBranch(first.meta) : branchName;
	const reason = `others keep changing or holding the branch ${name}: ${message}`;
	return new StoreBusy("branch-moved", 2, reason);
}

/** Judges each change on the state after the ones before it. @param group no two of them have the same signed request */
async function judgeGroup(
	group: readonly PendingChange[],
	{ reader, refuse }: Target,
	{ requests, health }: StoreContext,
): Promise<JudgedChange[]> {
	const judged: JudgedChange[] = [];
	// The folders of all changes are read in advance, while the first ones are judged.
	for (const { smallkey } of group.map(({ meta }) => meta))
		if (smallkey !== null) reader.folder(folderOf(smallkey)).catch(() => undefined);
	for (const pending of group) {
		const { request, time } = pending.meta;
		try {
			let outcome = await decideChange(pending, reader, refuse, requests.find(request));
			if (changesFiles(outcome) && request !== null && requests.isForgotten(time)) outcome = mayBeUsed;
			const refusal = isRefusal(outcome) ? outcome : null;
			const edits = isRefusal(outcome) ? [] : outcome;
			judged.push({ ...pending, edits, refusal });
			reader.overlay(edits);
		} catch (error) {
			pending.reject(error instanceof GitFailure ? health.failed(error) : error);
		}
	}
	return judged;
}

const mayBeUsed: Refusal = {
	status: 401,
	reason: "used before",
	errors: [problemAt("TimeStamp", "clock")],
};
