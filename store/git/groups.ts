import { dirname, join } from "node:path";
import { GitTimeout, runGit } from "../../git/run.ts";
import { DiskTimeout } from "../../git/sync.ts";
import type { PathChange } from "../../git/tree.ts";
import { batchBranch, type Edit, type Meta, reviewBranch, StoreBusy } from "../store.ts";
import { measured } from "./base.ts";
import { branchName, type CommitRange } from "./branch.ts";
import type { StoreContext } from "./context.ts";
import { type Judged, judgeGroup, type Pending, usesOf } from "./judge.ts";
import { clearLocks, listLocks } from "./locks.ts";
import type { CommitReader } from "./reader.ts";
import { BranchHeld } from "./writer.ts";

/** How often changes are built again on a branch that others keep moving, and where git fails. */
const maxMoves = 20;
const maxFailures = 2;

/** Changes in the reader that groups share; it holds their texts in memory. */
const maxReaderEdits = 2_000;

/** The branch that a group goes to. */
interface Target {
	name: string;
	/** Where it is now; null: there is none yet. */
	from: string | null;
	/** The commit that the group is built on. */
	base: string;
	/** What is stored there. */
	reader: CommitReader;
	/** Whether the branch has a change that waits for review. */
	isWaiting: boolean;
}

/** Writes groups of changes to a branch, one group after the other. */
export class GroupWriter {
	readonly #context: StoreContext;
	/** The state that the next group is judged on, and the number of edits over its commit: for row `put-alone`. */
	#reader: { at: CommitReader; commit: string; edits: number } | null = null;
	/** Whether the branch of a review may have a commit whose request is not noted. */
	#isUncertain = false;
	/** Answers that wait for the files. */
	readonly #answering = new Set<Promise<void>>();

	constructor(context: StoreContext) {
		this.#context = context;
	}

	/** Ends once each group is answered. */
	async idle(): Promise<void> {
		await Promise.all(this.#answering);
	}

	/**
	 * Brings changes to their branches, and answers them: each one that waits for review to a branch of its own, the others
	 * together to the one that is served.
	 */
	async write(changes: readonly Pending[]): Promise<void> {
		const group = changes.filter(({ meta }) => !meta.review);
		if (group.length > 0) await this.#writeTo(branchName, group);
		for (const one of changes) if (one.meta.review) await this.#writeTo(reviewOf(one.meta), [one]);
	}

	/** Brings a group to a branch, built again where others were faster or git fails, and answers it. */
	async #writeTo(name: string, group: readonly Pending[]): Promise<void> {
		let failure: unknown;
		for (let moves = 0, failures = 0; moves < maxMoves && failures < maxFailures; ) {
			let judged: Judged[] = [];
			let target: Target | null = null;
			try {
				target = await this.#targetOf(name);
				this.#context.writer.begin(target.base);
				// Git answers this while the group is judged.
				const following = this.#context.branch.follow();
				following.catch(() => undefined);
				judged = await judgeGroup(group, target.reader, this.#context);
				if (await following) throw new BranchHeld("others have moved the branch");
				return await this.#land(judged, target);
			} catch (error) {
				failure = error;
			}
			this.#reader = null;
			if (failure instanceof BranchHeld) moves += 1;
			else failures += 1;
			try {
				await this.#recover(failure, name);
				// The branch may have the group although moving or publishing it failed.
				const id = await lastCommit(judged)?.catch(() => null);
				if (target && id && (await this.#isAt(name, id))) return await this.#finish(judged, target, id);
			} catch (error) {
				failure = error;
				break;
			}
			if (failure instanceof GitTimeout || failure instanceof DiskTimeout) break;
		}
		this.#isUncertain ||= name !== branchName;
		const held =
			name === branchName
				? "the branch cannot be moved, or others keep moving it"
				: `others change the branch ${name}`;
		const isHeld = failure instanceof BranchHeld;
		const busy = isHeld ? new StoreBusy(held, 2) : this.#context.health.failed(failure);
		for (const { reject } of group) reject(busy);
	}

	/** What a group is built on. */
	async #targetOf(name: string): Promise<Target> {
		const { branch, catFile, requests } = this.#context;
		const { commit } = branch;
		if (name === branchName) {
			if (this.#reader?.commit !== commit || this.#reader.edits > maxReaderEdits)
				this.#reader = { at: branch.readerAt(commit), commit, edits: 0 };
			return { name, from: commit, base: commit, reader: this.#reader.at, isWaiting: false };
		}
		if (this.#isUncertain) requests.noteCommitted(await branch.requestsSince(commit));
		this.#isUncertain = false;
		const from = (await catFile.read(`refs/heads/${name}`))?.id ?? null;
		const isWaiting = from !== null && !(await branch.isAncestor(from, commit));
		const base = isWaiting ? from : commit;
		return { name, from, base, reader: branch.readerAt(base), isWaiting };
	}

	/**
	 * Brings a judged group to the disk, the branch, the readers and its senders.
	 * @throws {BranchHeld} where others have moved the branch first, or hold its lock
	 */
	async #land(judged: readonly Judged[], target: Target): Promise<void> {
		const { writer, packs } = this.#context;
		const { name, from, base, reader } = target;
		const last = lastCommit(judged);
		if (!last) return this.#answer(judged, target, base);
		const to = await measured(this.#context, "checkpoint", async () => {
			await writer.store();
			const id = await last;
			await writer.move(name, from, id);
			return id;
		});
		packs.written();
		if (name !== branchName) return this.#finish(judged, target, to);
		const edits = judged.flatMap((one) => one.edits);
		await this.#finish(judged, target, to, { from: base, to, changes: changesOf(edits), at: reader });
		if (this.#reader) this.#reader = { at: reader, commit: to, edits: this.#reader.edits + edits.length };
	}

	/** Answers a group that the branch has. @param range what is to be published first */
	async #finish(judged: readonly Judged[], target: Target, id: string, range?: CommitRange): Promise<void> {
		const { requests, branch } = this.#context;
		requests.noteCommitted(await usesOf(judged.filter(({ edits }) => edits.length > 0)));
		const publishing = range && branch.publish(range);
		const [published] = await Promise.all([publishing, this.#syncNames(target.name)]);
		await this.#answer(judged, target, id, published?.warnings);
	}

	/** Puts the name of a branch's file on the disk, and those of the folders that lead to it. */
	async #syncNames(name: string): Promise<void> {
		const { repository, sync } = this.#context;
		for (let folder = dirname(`refs/heads/${name}`); folder !== "refs"; folder = dirname(folder))
			await sync(join(repository, folder));
	}

	/** Answers a group whose commits are on the disk. @param tip the commit of those that name no other */
	async #answer(
		judged: readonly Judged[],
		{ name, isWaiting }: Target,
		tip: string,
		warnings = Promise.resolve<string[]>([]),
	): Promise<void> {
		const { requests, health } = this.#context;
		const unchanged = judged.filter(({ edits }) => edits.length === 0);
		await requests.keep(await usesOf(unchanged, tip));
		if (lastCommit(judged)) health.recovered();
		const isReview = name !== branchName;
		// The next group does not wait for files that are behind.
		const answering = warnings.then(async (texts) => {
			for (const { pending, refusal, commit, edits } of judged) {
				const changed = edits.length > 0;
				const branch = isReview && (changed || isWaiting) ? { branch: name } : {};
				const more = changed && !isReview ? { warnings: texts } : branch;
				pending.resolve(refusal ?? { commit: (await commit) ?? tip, changed, ...more });
			}
		});
		this.#answering.add(answering);
		void answering.finally(() => this.#answering.delete(answering));
	}

	/**
	 * After a failure: ends the writer, follows the branch, and removes locks of killed processes.
	 * @throws {StoreBusy} where another branch has the name as a folder, or a folder's name
	 */
	async #recover(failure: unknown, name: string): Promise<void> {
		const { health, log, writer, branch, repository, limits } = this.#context;
		if (!(failure instanceof BranchHeld)) health.failed(failure);
		writer.kill();
		if (await branch.follow()) return;
		if (name !== branchName) await this.#refuseInTheWay(name);
		const removed = await clearLocks(repository, await listLocks(repository), limits.lockMs);
		if (removed.length > 0) log.warn(`removed locks that a killed process left: ${removed.join(", ")}`);
	}

	/** Whether a branch has a commit. */
	async #isAt(name: string, commit: string): Promise<boolean> {
		const { catFile, branch } = this.#context;
		const head = await catFile.read(`refs/heads/${name}`);
		return head !== null && branch.isAncestor(commit, head.id);
	}

	async #refuseInTheWay(name: string): Promise<void> {
		const { repository, limits, log } = this.#context;
		const refs = [`refs/heads/${dirname(name)}`, `refs/heads/${name}`];
		const args = ["for-each-ref", "--format=%(refname)", ...refs];
		const output = await runGit(repository, args, { limitMs: limits.commandMs });
		const found = output.toString("utf8").split("\n").filter(Boolean);
		const other = found.find((ref) => ref === refs[0] || ref.startsWith(`${refs[1]}/`));
		if (!other) return;
		const branch = other.slice("refs/heads/".length);
		const error = new StoreBusy(`the branch ${branch} is in the way of ${name}: rename or remove it`, 60);
		log.error(error);
		throw error;
	}
}

/** The branch of a change that waits for review. */
function reviewOf({ smallkey, author }: Meta): string {
	return smallkey === null ? batchBranch(author) : reviewBranch(smallkey);
}

/** Id of the last commit of a group; undefined where it has none. */
function lastCommit(judged: readonly Judged[]): Promise<string> | undefined {
	return judged.findLast(({ edits }) => edits.length > 0)?.commit ?? undefined;
}

/** The paths that edits change, each once, sorted. */
function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}
