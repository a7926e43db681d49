import { join } from "node:path";
import { GitTimeout } from "../../git/run.ts";
import { DiskTimeout } from "../../git/sync.ts";
import type { PathChange } from "../../git/tree.ts";
import { BranchHeld } from "../../git/update-ref.ts";
import { type Edit, StoreBusy } from "../store.ts";
import { measured, type StoreContext } from "./context.ts";
import { type Judged, judgeGroup, type Pending } from "./judge.ts";
import { branchLocks, clearLocks } from "./locks.ts";
import type { Packs } from "./packs.ts";
import type { PublishedHead } from "./published-head.ts";
import type { CommitReader } from "./reader.ts";
import type { RequestUse } from "./used-requests.ts";

/** How often changes are built again on a branch that others keep moving, and where git fails. */
const maxMoves = 20;
const maxFailures = 2;

/** Changes in the reader that groups share; it holds their texts in memory. */
const maxReaderEdits = 2_000;

/** Writes groups of changes to the branch, one group after the other. */
export class GroupWriter {
	readonly #context: StoreContext;
	readonly #head: PublishedHead;
	readonly #packs: Packs;
	/** The state that the next group is judged on, and the number of edits over its commit. */
	#reader: { at: CommitReader; commit: string; edits: number } | null = null;
	/** Answers that wait for the files. */
	readonly #answering = new Set<Promise<void>>();

	constructor(context: StoreContext, head: PublishedHead, packs: Packs) {
		this.#context = context;
		this.#head = head;
		this.#packs = packs;
	}

	/** Ends once each group is answered. */
	async idle(): Promise<void> {
		await Promise.all(this.#answering);
	}

	/** Brings a group to the branch, built again where others were faster or git fails, and answers it. */
	async write(group: Pending[]): Promise<void> {
		const { health, branch } = this.#context;
		let failure: unknown;
		for (let moves = 0, failures = 0; moves < maxMoves && failures < maxFailures; ) {
			let judged: Judged[] = [];
			try {
				const reader = this.#readerAtHead();
				this.#context.writer.begin(this.#head.commit);
				// Git answers this while the group is judged.
				const head = branch.head();
				head.catch(() => undefined);
				judged = await judgeGroup(group, reader, this.#context);
				if ((await head) !== this.#head.commit) throw new BranchHeld("others have moved the branch");
				return await this.#land(judged, reader);
			} catch (error) {
				failure = error;
			}
			this.#reader = null;
			if (failure instanceof BranchHeld) moves += 1;
			else failures += 1;
			try {
				await this.#recover(failure);
				// The branch may have the group although moving or publishing it failed.
				const id = await lastCommit(judged)?.catch(() => null);
				if (id && (await branch.has(id))) return await this.#finish(judged, id);
			} catch (error) {
				failure = error;
				break;
			}
			if (failure instanceof GitTimeout || failure instanceof DiskTimeout) break;
		}
		const busy =
			failure instanceof BranchHeld
				? new StoreBusy("the branch cannot be moved, or others keep moving it", 2)
				: health.failed(failure);
		for (const { reject } of group) reject(busy);
	}

	/** The state that the next group is judged on. */
	#readerAtHead(): CommitReader {
		if (this.#reader?.commit !== this.#head.commit || this.#reader.edits > maxReaderEdits) {
			this.#reader = { at: this.#head.readerAt(this.#head.commit), commit: this.#head.commit, edits: 0 };
		}
		return this.#reader.at;
	}

	/**
	 * Brings a judged group to the disk, the branch, the readers and its senders.
	 * @throws {BranchHeld} where others have moved the branch first, or hold its lock
	 */
	async #land(judged: readonly Judged[], reader: CommitReader): Promise<void> {
		const { writer, branch, measure } = this.#context;
		const from = this.#head.commit;
		const last = lastCommit(judged);
		if (!last) return this.#answer(judged, from, Promise.resolve([]));
		const to = await measured(measure, "checkpoint", async () => {
			await writer.store();
			const id = await last;
			await writer.move(branch.name, from, id);
			return id;
		});
		this.#packs.written();
		await this.#noteCommitted(judged);
		const edits = judged.flatMap((one) => one.edits);
		const range = { from, to, changes: changesOf(edits), at: reader };
		const [published] = await Promise.all([this.#head.publish(range), this.#syncBranch()]);
		if (this.#reader) this.#reader = { at: reader, commit: to, edits: this.#reader.edits + edits.length };
		await this.#answer(judged, to, published.warnings);
	}

	/** Answers a group that the branch has, and that is published. */
	async #finish(judged: readonly Judged[], id: string): Promise<void> {
		await this.#noteCommitted(judged);
		await this.#syncBranch();
		await this.#answer(judged, id, Promise.resolve([]));
	}

	/** Puts the name of the branch's file on the disk. */
	async #syncBranch(): Promise<void> {
		const { repository, sync } = this.#context;
		await sync(join(repository, "refs/heads"));
	}

	async #noteCommitted(judged: readonly Judged[]): Promise<void> {
		this.#context.requests.noteCommitted(await usesOf(judged.filter(({ edits }) => edits.length > 0)));
	}

	/** Answers a group whose requests are on the disk. */
	async #answer(judged: readonly Judged[], id: string, warnings: Promise<string[]>): Promise<void> {
		const { requests, health } = this.#context;
		await requests.keep(
			await usesOf(
				judged.filter(({ edits }) => edits.length === 0),
				id,
			),
		);
		if (lastCommit(judged)) health.recovered();
		// The next group does not wait for files that are behind.
		const answering = warnings.then(async (texts) => {
			for (const { pending, refusal, commit, edits } of judged) {
				if (refusal) pending.resolve(refusal);
				else if (edits.length === 0) pending.resolve({ commit: (await commit) ?? id, changed: false });
				else pending.resolve({ commit: (await commit) ?? id, changed: true, warnings: texts });
			}
		});
		this.#answering.add(answering);
		void answering.finally(() => this.#answering.delete(answering));
	}

	/** After a failure: ends the writer, follows the branch, and removes locks of killed processes. */
	async #recover(failure: unknown): Promise<void> {
		const { health, log, writer, branch, repository, limits } = this.#context;
		if (!(failure instanceof BranchHeld)) health.failed(failure);
		writer.kill();
		if (await this.#head.follow()) return;
		const removed = await clearLocks(repository, branchLocks(branch.name), limits.lockMs);
		if (removed.length > 0) log.warn(`removed locks that a killed process left: ${removed.join(", ")}`);
	}
}

/** Id of the last commit of a group; undefined where it has none. */
function lastCommit(judged: readonly Judged[]): Promise<string> | undefined {
	return judged.findLast(({ edits }) => edits.length > 0)?.commit ?? undefined;
}

/** The signed requests among judged changes; `tip` is the commit of those that name no other. */
function usesOf(judged: readonly Judged[], tip = ""): Promise<RequestUse[]> {
	const signed = judged.flatMap((one) => {
		const { request } = one.pending.meta;
		return request === null ? [] : [{ ...one, request }];
	});
	return Promise.all(
		signed.map(async ({ request, pending, refusal, commit }) => {
			const { method = "-", time: timeMs } = pending.meta;
			return [request, { method, timeMs, outcome: refusal?.status ?? (await commit) ?? tip }] as const;
		}),
	);
}

/** The paths that edits change, each once, sorted. */
function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}
