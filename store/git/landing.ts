import { join } from "node:path";
import type { PathChange } from "../../git/tree.ts";
import type { Edit } from "../store.ts";
import type { Decided } from "./decider.ts";
import { measured } from "./measure.ts";
import type { Parts } from "./parts.ts";
import type { CommitReader } from "./reader.ts";
import type { Published } from "./served.ts";
import type { Writer } from "./writer.ts";

/** Brings groups of decided changes to the branch, and from there to the disk, the readers and their senders. */
export class Landing {
	readonly #parts: Parts;
	readonly #writer: Writer;
	/** What is stored at the last commit that was published here. */
	readonly #at: CommitReader;
	/** Groups whose senders are told when all that is derived is in step. */
	readonly #answering: Set<Promise<void>>;

	/**
	 * @param at reads the commit that the first group is built on
	 * @param answering where answers that are still to be given are kept
	 */
	constructor(parts: Parts, writer: Writer, at: CommitReader, answering: Set<Promise<void>>) {
		this.#parts = parts;
		this.#writer = writer;
		this.#at = at;
		this.#answering = answering;
	}

	/**
	 * Brings the commits of a group to the branch. A process that is killed after that has lost nothing of them, and
	 * after a power cut every commit that the branch has is there whole, and is known to have used its request.
	 * @throws {BranchHeld} where others have moved the branch first, or hold it
	 */
	async land(group: readonly Decided[]): Promise<void> {
		const { requests, packs, measure } = this.#parts;
		if (!lastCommit(group)) return;
		await measured(measure, "checkpoint", async () => {
			// Before the branch has them, what says that they are about to be made: see UsedRequests.
			const [last] = await Promise.all([this.#writer.store(), requests.sync()]);
			packs.written();
			if (last !== null) await this.#writer.move(last);
		});
	}

	/**
	 * Puts a group that the branch has on the disk, makes it readable and answers its senders.
	 * @param isServed whether it is readable already
	 */
	async finish(group: readonly Decided[], isServed = false): Promise<void> {
		const id = await lastCommit(group);
		const [published] = await Promise.all([
			id === undefined || isServed ? null : this.#publish(group, id),
			id === undefined ? null : syncNames(this.#parts),
			this.#keepRequests(group, id ?? this.#parts.served.tip),
		]);
		if (id !== undefined) this.#parts.condition.recovered();
		if (!published) return this.#answer(group, id, []);
		// The next group need not wait for files that are behind.
		const answering = published.warnings.then((warnings) => this.#answer(group, id, warnings));
		this.#answering.add(answering);
		void answering.finally(() => this.#answering.delete(answering));
	}

	#publish(group: readonly Decided[], to: string): Promise<Published> {
		const edits = group.flatMap((one) => one.edits);
		this.#at.overlay(edits);
		const { served } = this.#parts;
		return served.publish({ from: served.tip, to, changes: changesOf(edits), at: this.#at });
	}

	/** Keeps what was answered, on the disk before it is. */
	async #keepRequests(group: readonly Decided[], tip: string): Promise<void> {
		const { requests } = this.#parts;
		let isAny = false;
		for (const { waiting, refusal, commit } of group) {
			const { request, method = "-", time: timeMs } = waiting.meta;
			if (request === null) continue;
			isAny = true;
			requests.add(request, { method, timeMs, outcome: refusal?.status ?? (await commit) ?? tip });
		}
		if (isAny) await requests.sync();
	}

	async #answer(group: readonly Decided[], id: string | undefined, warnings: string[]): Promise<void> {
		const tip = id ?? this.#parts.served.tip;
		for (const { waiting, refusal, commit, edits } of group) {
			if (refusal) waiting.resolve(refusal);
			else if (edits.length === 0) waiting.resolve({ commit: (await commit) ?? tip, changed: false });
			else waiting.resolve({ commit: (await commit) ?? tip, changed: true, warnings });
		}
	}
}

/** Puts the names of branches on the disk as they are now; what they name is there. */
export async function syncNames(
	{ repository, sync }: Pick<Parts, "repository" | "sync">,
	...folders: string[]
): Promise<void> {
	for (const folder of [...folders, "refs/heads"]) await sync(join(repository, folder));
}

/** Id of the last commit that a group needs; undefined where it needs none. */
export function lastCommit(group: readonly Decided[]): Promise<string> | undefined {
	return group.findLast(({ edits }) => edits.length > 0)?.commit ?? undefined;
}

/** The paths that edits change, each once, sorted. */
function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}
