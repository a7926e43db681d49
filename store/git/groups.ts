import type { Problem } from "../../registry/texts.ts";
import { type Edit, type Meta, type Refusal, reviewBranch, StoreBusy, waitsOf } from "../store.ts";
import type { WriteHealth } from "./base.ts";
import { branchName, DiskTimeout, measured, type StoreBase } from "./base.ts";
import type { Branch, openLastCommits } from "./branch.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { isAncestor } from "./commands/commits.ts";
import { GitTimeout } from "./commands/run.ts";
import type { PathChange } from "./commands/tree.ts";
import { findTwin, type Judged, judgeGroup, type Pending, senderOf, usesOf } from "./judge-group.ts";
import type { CommitReader } from "./reader.ts";
import { clearLeftovers } from "./repository.ts";
import type { UsedRequests } from "./used-requests.ts";
import { BranchHeld, createImport } from "./writer.ts";

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
	/** The commit that the group is built on. */
	base: string;
	reader: CommitReader;
	/** Whether the branch has a change of the same sender that waits for review. */
	isWaiting: boolean;
	/** Why a change cannot be made there: another one waits for review. Null: it can be. */
	held: (meta: Meta) => Promise<Refusal | null>;
}

/** Returns a function that writes changes to their branches, and answers them. To be called for one group at a time. */
export function createGroupWriter(context: StoreContext) {
	const { repository, catFile, branch, requests, health, lastCommits } = context;
	const git = createImport(context);
	/** The state for the next group, and the number of uncommitted edits in its reader: for row `put-alone`. */
	let shared: { at: CommitReader; commit: string; edits: number } | null = null;

	/** Writes a group to a branch, and answers it. @throws {StoreBusy} if that fails: nothing of it was answered */
	async function writeTo(name: string, changes: readonly Pending[]): Promise<void> {
		for (let attempt = 1; ; attempt += 1) {
			try {
				return await tryTo(name, changes);
			} catch (error) {
				shared = null;
				const isHeld = error instanceof BranchHeld;
				const busy = isHeld ? heldBy(name) : health.failed(error);
				const isLast = attempt >= (isHeld ? maxMoves : maxFailures);
				if (isLast || [StoreBusy, GitTimeout, DiskTimeout].some((type) => error instanceof type)) throw busy;
				if (isHeld) continue;
				void catFile.renew();
				await clearLeftovers(repository).catch(() => undefined);
			}
		}
	}

	/** The group may be on the branch although this fails. Then the next attempt finds its requests, or that nothing changes. */
	async function tryTo(name: string, changes: readonly Pending[]): Promise<void> {
		await branch.follow();
		if (git.isUncertain) {
			await git.persist();
			await requests.readCommitted();
		}
		const target = await targetOf(name, changes[0]?.meta);
		const judged = await judgeGroup(changes, target.reader, context, target.held);
		const changed = judged.filter(({ edits }) => edits.length > 0);
		if (changed.length === 0) return answer(target, judged, target.base);
		const ids = await measured(context, "checkpoint", () => git.importGroup(name, target.base, changed));
		for (const [index, change] of changed.entries()) change.commit = ids[index] as string;
		const to = ids.at(-1) as string;
		requests.noteCommitted(usesOf(changed, to), name === branchName ? to : undefined);
		const persisted = git.persist();
		persisted.catch(() => undefined);
		const warnings = name === branchName ? await publish(target, changed, to) : [];
		await persisted;
		await answer(target, judged, to, warnings);
	}

	async function publish(
		{ base, reader: at }: Target,
		changed: readonly Judged[],
		to: string,
	): Promise<Problem[]> {
		const edits = changed.flatMap((change) => change.edits);
		const { warnings } = await branch.publish({
			from: base,
			to,
			changes: changesOf(edits),
			at,
			isPushed: false,
		});
		for (const { edits: written, commit } of changed) lastCommits.note(written, commit);
		if (shared) shared = { at, commit: to, edits: shared.edits + edits.length };
		return warnings;
	}

	/**
	 * Reads the target of a group: its branch, and the state that it is built on.
	 * @param meta that of the change, if it is one for review
	 */
	async function targetOf(name: string, meta: Meta | undefined): Promise<Target> {
		const { commit } = branch;
		if (name === branchName) {
			if (shared?.commit !== commit || shared.edits > maxReaderEdits)
				shared = { at: branch.readerAt(commit), commit, edits: 0 };
			const held = async () => null;
			return { name, base: commit, reader: shared.at, isWaiting: false, held };
		}
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
	async function answer(
		{ name, isWaiting, base, reader }: Target,
		judged: readonly Judged[],
		to: string,
		warnings: Problem[] = [],
	): Promise<void> {
		const unchanged = judged.filter(({ edits }) => edits.length === 0);
		await requests.keep(usesOf(unchanged, to));
		if (to !== base) health.recovered();
		const isReview = name !== branchName;
		const published = { warnings, published: warnings.length === 0 };
		for (const { pending, meta, refusal, commit, edits } of judged) {
			const changed = edits.length > 0;
			const waits = isReview && (changed || (isWaiting && (await isProposed(meta, reader))));
			const more = waits ? { branch: name } : changed ? published : {};
			const resolve = (id: string) => pending.resolve(refusal ?? { commit: id, changed, ...more });
			const isStored = !refusal && !changed && !waits && meta.smallkey !== null;
			if (isStored) void lastCommitOf(meta.smallkey as string, isReview ? branch.commit : to).then(resolve);
			else resolve(commit ?? to);
		}
	}

	/** Whether the state of a review differs from the served one in a layer. A commit of no single layer always does. */
	async function isProposed({ smallkey }: Meta, reader: CommitReader): Promise<boolean> {
		if (smallkey === null) return true;
		const served = await branch.readerAt(branch.commit).ids(smallkey);
		return (await reader.ids(smallkey))?.registration !== served?.registration;
	}

	async function lastCommitOf(smallkey: string, tip: string): Promise<string> {
		const last = await lastCommits.find(smallkey, tip).catch((error) => context.log.error(error));
		return last ?? tip;
	}

	/** All changes for one branch are a group. Two senders may send the same layer for review: these are two groups. */
	return async function write(changes: readonly Pending[]): Promise<void> {
		const groups = new Map<string, { name: string; group: Pending[] }>();
		let failure: unknown = null;
		for (const change of [...changes].sort((a, b) => Number(a.meta.review) - Number(b.meta.review))) {
			const { meta } = change;
			const name = meta.review ? reviewBranch(meta) : branchName;
			const key = meta.review ? `${name} ${meta.author}` : name;
			const entry = groups.get(key) ?? { name, group: [] };
			entry.group.push(change);
			groups.set(key, entry);
		}
		for (const { name, group } of groups.values())
			await (failure ? Promise.reject(failure) : writeTo(name, group)).catch((busy) => {
				// What fails for one branch would fail for all, each after its time limit.
				if (health.reason !== null) failure = busy;
				for (const { reject } of group) reject(busy);
			});
	};
}

function heldBy(name: string): StoreBusy {
	return new StoreBusy("branch-moved", 2, `others keep changing or holding the branch ${name}`);
}

/** The paths that edits change, each once, sorted. */
function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}
