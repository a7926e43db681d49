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
import { GitFailure } from "./commands/run.ts";
import type { WriteHealth } from "./health.ts";
import { senderOf, waitingSpellings } from "./review-branches.ts";
import type { UsedRequests } from "./used-requests.ts";
import { BranchHeld, branchName, GroupImport, measured, type StoreBase } from "./writer.ts";

/** How often a group is judged that another process has overtaken. */
const maxAttempts = 20;

export interface StoreContext extends StoreBase {
	catFile: CatFile;
	branch: Branch;
	requests: UsedRequests;
	health: WriteHealth;
	lastCommit: ReturnType<typeof openLastCommits>;
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
		const { health, catFile } = this.context;
		let failure: StoreBusy | null = null;
		for (const group of groupBy(changes, ({ meta }) => groupOf(meta)).values()) {
			try {
				if (failure) throw failure;
				await this.#writeGroup(group);
			} catch (error) {
				// What fails for one branch would fail for all, each after its time limit.
				if (!(error instanceof StoreBusy)) {
					failure = health.failed(error);
					void catFile.renew();
				}
				for (const { reject } of group) reject(failure ?? error);
			}
		}
	}

	async #writeGroup(group: readonly PendingChange[]): Promise<void> {
		for (let attempts = 1; ; attempts += 1) {
			try {
				return await this.#tryGroup(group);
			} catch (error) {
				if (!(error instanceof BranchHeld)) throw error;
				if (attempts === maxAttempts) throw branchMoved(group, error);
			}
		}
	}

	/** If this fails although the group is on the branch, a repeated request is found there. */
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
		this.context.requests.note(uses);
		return tip;
	}

	async #publish({ base, reader }: Target, changed: readonly JudgedChange[], tip: string) {
		const changes = changesOf(changed.flatMap(({ edits }) => edits));
		const range = { from: base, to: tip, changes, at: reader, isPushed: false };
		return (await this.context.branch.publish(range)).warnings;
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
		if (tip !== target.base && health.cause !== null) health.recovered();
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
		const { lastCommit, log } = this.context;
		if (smallkey === null) return tip;
		try {
			return (await lastCommit(smallkey, tip)) ?? tip;
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
