import { type Problem, textOf } from "../../registry/texts.ts";
import { type Edit, type Meta, type Refusal, reviewBranch, StoreBusy, waitsOf } from "../store.ts";
import { branchName, DiskTimeout, measured, type StoreBase } from "./base.ts";
import type { Branch, CommitRange } from "./branch.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { isAncestor } from "./commands/commits.ts";
import { GitTimeout } from "./commands/run.ts";
import type { PathChange } from "./commands/tree.ts";
import { explained, FileDamaged } from "./damage.ts";
import type { WriteHealth } from "./health.ts";
import { type Judged, judgeGroup, type Pending, usesOf } from "./judge-group.ts";
import type { openLastCommits } from "./last-commits.ts";
import { clearFiles, clearLocks } from "./leftovers.ts";
import type { CommitReader } from "./reader.ts";
import type { UsedRequests } from "./used-requests.ts";
import { findTwin, senderOf } from "./waiting.ts";
import { BranchHeld, startImport, syncNames } from "./writer.ts";

/** Limits of the attempts to write a group: attempts that another process has overtaken, and failed ones. */
const maxMoves = 20;
const maxFailures = 2;

/** Edits after which the groups' shared reader is replaced: it keeps their texts in memory. */
const maxReaderEdits = 2_000;

/** The parts of one local store. */
export interface StoreContext extends StoreBase {
	catFile: CatFile;
	branch: Branch;
	requests: UsedRequests;
	health: WriteHealth;
	lastCommits: ReturnType<typeof openLastCommits>;
}

/** The branch that a group goes to. */
interface Target {
	name: string;
	/** The commit that the group is built on. */
	base: string;
	/** Reads the state at `base`. */
	reader: CommitReader;
	/** Whether the branch has a change of the same sender that waits for review. */
	isWaiting: boolean;
	/** Why a change cannot be made there: another one waits for review. Null: it can be. */
	held: (meta: Meta) => Promise<Refusal | null>;
}

/** A group that is judged, and perhaps stored. */
interface Group extends Target {
	judged: readonly Judged[];
	/** Its last commit; `base` if it has none. */
	to: string;
}

/** Returns a function that writes changes to their branches, and answers them. To be called for one group at a time. */
export function createGroupWriter(context: StoreContext) {
	const { repository, log, limits, catFile, branch, requests, health, lastCommits } = context;
	/** The state for the next group, and the number of uncommitted edits in its reader: for row `put-alone`. */
	let shared: { at: CommitReader; commit: string; edits: number } | null = null;
	/** Whether a review's branch may have a commit whose request is not noted. */
	let isUncertain = false;
	/** Ends the running `git fast-import`, if there is one. */
	let kill = () => {};

	/** Writes a group to a branch, and answers it. If another process has moved the branch, or git fails, it retries. */
	async function writeTo(name: string, changes: readonly Pending[]): Promise<void> {
		let failure: unknown;
		for (let attempt = 1; attempt <= (failure instanceof BranchHeld ? maxMoves : maxFailures); attempt += 1) {
			let group: Group | null = null;
			try {
				await branch.follow();
				const target = await targetOf(name, changes[0]?.meta);
				const judged = await judgeGroup(changes, target.reader, context, target.held);
				group = { ...target, judged, to: target.base };
				return await persist(group);
			} catch (error) {
				failure = error;
			}
			shared = null;
			if (failure instanceof StoreBusy) {
				log.error(failure);
				break;
			}
			try {
				failure = await recover(failure);
				// The branch may have the group even if moving the branch or publishing the group failed.
				if (group && group.to !== group.base && (await isAt(name, group.to))) return await finish(group);
			} catch (error) {
				failure = error;
				break;
			}
			if (failure instanceof GitTimeout || failure instanceof DiskTimeout) break;
		}
		isUncertain ||= name !== branchName;
		const held = name === branchName ? textOf("branch-held") : textOf("branch-changed", name);
		const busy = failure instanceof BranchHeld ? new StoreBusy(held, 2) : health.failed(failure);
		for (const { reject } of changes) reject(busy);
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
		if (isUncertain) await requests.readCommitted();
		isUncertain = false;
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

	/**
	 * Stores a judged group, moves the branch, publishes the group and answers its senders.
	 * @throws {BranchHeld} if another process has moved the branch first, or holds its lock
	 */
	async function persist(group: Group): Promise<void> {
		const { name, base, reader: at } = group;
		const changed = group.judged.filter(({ edits }) => edits.length > 0);
		if (changed.length === 0) return answer(group);
		await measured(context, "checkpoint", async () => {
			const git = startImport(context);
			kill = git.kill;
			try {
				const ids = await git.store(base, changed);
				for (const [index, change] of changed.entries()) group.to = change.commit = ids[index] as string;
				await git.move(name, group.to);
			} finally {
				git.kill();
			}
		});
		if (name !== branchName) return finish(group);
		const { to } = group;
		const edits = changed.flatMap((one) => one.edits);
		await finish(group, { from: base, to, changes: changesOf(edits), at, isPushed: false });
		if (shared) shared = { at, commit: to, edits: shared.edits + edits.length };
	}

	/** Answers a group that is on the branch. @param range is published first */
	async function finish(group: Group, range?: CommitRange): Promise<void> {
		const changed = group.judged.filter(({ edits }) => edits.length > 0);
		requests.noteCommitted(usesOf(changed, group.to), range?.to);
		const [published] = await Promise.all([range && branch.publish(range), syncNames(context, group.name)]);
		await answer(group, published?.warnings);
	}

	/** Answers a group whose commits are on the disk. */
	async function answer(
		{ judged, name, isWaiting, base, to, reader }: Group,
		warnings: Problem[] = [],
	): Promise<void> {
		const unchanged = judged.filter(({ edits }) => edits.length === 0);
		await requests.keep(usesOf(unchanged, to));
		if (to !== base) health.recovered();
		const isReview = name !== branchName;
		const published = { warnings, published: warnings.length === 0 };
		for (const one of judged) {
			const { pending, meta, refusal, commit } = one;
			const changed = one.edits.length > 0;
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

	/** The last commit that changed a layer; `tip` if it cannot be read. */
	async function lastCommitOf(smallkey: string, tip: string): Promise<string> {
		const last = await lastCommits.find(smallkey, tip).catch((error) => log.error(error));
		return last ?? tip;
	}

	/** Called after a failure: follows the branch, and removes what a killed git left. @returns the failure, explained */
	async function recover(failure: unknown): Promise<unknown> {
		if (failure instanceof BranchHeld && (await branch.follow())) return failure;
		const reason = await explained(repository, failure);
		// No git works there until it is repaired.
		if (reason instanceof FileDamaged) throw reason;
		if (!(failure instanceof BranchHeld)) health.failed(reason);
		await branch.follow();
		const removed = await clearLocks(repository, limits.lockMs);
		if (removed.length > 0) log.warn(`removed locks that a killed process left: ${removed.join(", ")}`);
		await clearFiles(repository, limits.silenceMs);
		return reason;
	}

	/** Whether a commit is on a branch. */
	async function isAt(name: string, commit: string): Promise<boolean> {
		const head = await catFile.read(`refs/heads/${name}`);
		return head !== null && isAncestor(repository, commit, head.id);
	}

	/** All changes for one branch are a group. Two senders may send the same layer for review: these are two groups. */
	async function write(changes: readonly Pending[]): Promise<void> {
		const groups = new Map<string, { name: string; group: Pending[] }>();
		for (const change of [...changes].sort((a, b) => Number(a.meta.review) - Number(b.meta.review))) {
			const { meta } = change;
			const name = meta.review ? reviewBranch(meta) : branchName;
			const key = meta.review ? `${name} ${meta.author}` : name;
			const entry = groups.get(key) ?? { name, group: [] };
			entry.group.push(change);
			groups.set(key, entry);
		}
		for (const { name, group } of groups.values()) await writeTo(name, group);
	}

	return { write, kill: () => kill() };
}

/** The paths that edits change, each once, sorted. */
function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}
