import { folderOf } from "../../registry/smallkey.ts";
import { type Problem, problemAt } from "../../registry/texts.ts";
import { isProposed, refuseTwin } from "../reader.ts";
import {
	type Commit,
	changesFiles,
	decideChange,
	type Edit,
	type Edits,
	isRefusal,
	type Meta,
	type Refusal,
	reviewBranch,
	StoreBusy,
	type UsedRequest,
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

export interface Pending {
	edits: Edits;
	meta: Meta;
	resolve: (outcome: Commit | Refusal) => void;
	reject: (error: unknown) => void;
}

interface Judged extends Omit<Pending, "edits"> {
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
	held: (meta: Meta) => Promise<Refusal | null>;
}

export class GroupWriter {
	readonly #import: GroupImport;

	constructor(readonly context: StoreContext) {
		this.#import = new GroupImport(context);
	}

	/** All changes for one branch are a group. Two senders may send the same layer for review: these are two groups. */
	async write(changes: readonly Pending[]): Promise<void> {
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
		for (const { name, group } of groups.values())
			await (failure ? Promise.reject(failure) : this.#writeTo(name, group)).catch((busy) => {
				// What fails for one branch would fail for all, each after its time limit.
				if (this.context.health.reason !== null) failure = busy;
				for (const { reject } of group) reject(busy);
			});
	}

	async #writeTo(name: string, group: readonly Pending[]): Promise<void> {
		const { health, catFile } = this.context;
		for (let attempt = 1; ; attempt += 1) {
			try {
				return await this.#tryTo(name, group);
			} catch (error) {
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
			}
		}
	}

	/** If this fails although the group is on the branch, the next attempt finds its requests, or that nothing changes. */
	async #tryTo(name: string, group: readonly Pending[]): Promise<void> {
		const { branch, requests, lastCommits } = this.context;
		await branch.follow();
		// After a group that failed.
		if (await this.#import.persist()) await requests.readCommitted();
		const isServed = name === branchName;
		const target = isServed ? this.#servedTarget() : await this.#reviewTarget(name, group[0]?.meta);
		const judged = await judgeGroup(group, target, this.context);
		for (const change of judged) change.waits = await this.#waits(change, target);
		const changed = judged.filter(({ edits }) => edits.length > 0);
		if (changed.length === 0) return this.#answer(target, judged, target.base);
		const task = () => this.#import.importGroup(name, target.base, changed);
		const ids = await measured(this.context, "checkpoint", task);
		for (const [index, change] of changed.entries()) change.commit = ids[index] as string;
		const to = ids.at(-1) as string;
		requests.noteCommitted(changed.flatMap(useOf(to)), isServed ? to : undefined);
		const persisted = this.#import.persist();
		persisted.catch(() => undefined);
		let warnings: Problem[] = [];
		if (isServed) {
			const changes = changesOf(changed.flatMap(({ edits }) => edits));
			const range = { from: target.base, to, changes, at: target.reader, isPushed: false };
			({ warnings } = await branch.publish(range));
			for (const { edits, commit = to } of changed) lastCommits.note(edits, commit);
		}
		await persisted;
		await this.#answer(target, judged, to, warnings);
	}

	#servedTarget(): Target {
		const { branch } = this.context;
		const reader = branch.readerAt(branch.commit);
		return { name: branchName, base: branch.commit, reader, isWaiting: false, held: async () => null };
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
		const spellings = (smallkey: string) => waitingSpellings(branch, repository, smallkey);
		const held = async ({ smallkey }: Meta) =>
			isHeld ? waitsOf(sender) : refuseTwin(smallkey, reader, spellings);
		return { name, base, reader, isWaiting, held };
	}

	async #answer(target: Target, judged: Judged[], to: string, warnings: Problem[] = []): Promise<void> {
		const { requests, health } = this.context;
		await requests.keep(judged.filter(({ edits }) => edits.length === 0).flatMap(useOf(to)));
		if (to !== target.base && health.reason !== null) health.recovered();
		for (const change of judged)
			void this.#resultOf(change, target, to, warnings).then(change.resolve, change.reject);
	}

	async #waits({ meta, edits, refusal }: Judged, { isWaiting, reader }: Target): Promise<boolean> {
		const { branch } = this.context;
		if (!isWaiting || refusal || edits.length > 0) return false;
		return isProposed(meta.smallkey, reader, branch.readerAt(branch.commit));
	}

	async #resultOf(
		{ meta: { smallkey }, edits, refusal, commit = "", waits = false }: Judged,
		{ name }: Target,
		to: string,
		warnings: Problem[],
	): Promise<Commit | Refusal> {
		if (refusal) return refusal;
		const isServed = name === branchName;
		if (edits.length > 0) {
			const published = { warnings, published: warnings.length === 0 };
			return { commit, changed: true, ...(isServed ? published : { branch: name }) };
		}
		if (waits) return { commit: to, changed: false, branch: name };
		const { branch, lastCommits, log } = this.context;
		const tip = isServed ? to : branch.commit;
		if (smallkey === null) return { commit: tip, changed: false };
		const last = await lastCommits.find(smallkey, tip).catch((error) => {
			log.error(error);
			return null;
		});
		return { commit: last ?? tip, changed: false };
	}
}

/** Judges each change on the state after the ones before it. @param group no two of them have the same signed request */
async function judgeGroup(
	group: readonly Pending[],
	{ reader, held }: Target,
	{ requests, health }: StoreContext,
): Promise<Judged[]> {
	const judged: Judged[] = [];
	// The folders of all changes are read in advance, while the first ones are judged.
	for (const { smallkey } of group.map(({ meta }) => meta))
		if (smallkey !== null) reader.folder(folderOf(smallkey)).catch(() => undefined);
	for (const pending of group) {
		const { request, time } = pending.meta;
		try {
			let outcome = await decideChange(pending, reader, held, requests.find(request));
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

/** @param tip the commit of a change without a commit of its own */
function useOf(tip: string): (change: Judged) => UsedRequest[] {
	return ({ meta, refusal, commit = tip }) => usesOf(meta, refusal?.status ?? commit);
}
