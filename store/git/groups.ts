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

/** Limits of the attempts to write a group: attempts that another process has overtaken, and failed ones. */
const maxMoves = 20;
const maxFailures = 2;

/** Edits after which the groups' shared reader is replaced: it keeps their texts in memory. */
const maxReaderEdits = 2_000;

/** The branch that a group goes to. */
interface Target {
	name: string;
	/** Its commit now; null: the branch does not exist yet. */
	from: string | null;
	/** The commit that the group is built on. */
	base: string;
	/** Reads the state at `base`. */
	reader: CommitReader;
	/** Whether the branch has a change that waits for review. */
	isWaiting: boolean;
}

/** Writes groups of changes to a branch, one group after the other. */
export class GroupWriter {
	readonly #context: StoreContext;
	/** The state for the next group, and the number of uncommitted edits in its reader: for row `put-alone`. */
	#reader: { at: CommitReader; commit: string; edits: number } | null = null;
	/** Whether a review's branch may have a commit whose request is not noted. */
	#isUncertain = false;
	/** Answers that wait for the files. */
	readonly #answering = new Set<Promise<void>>();

	constructor(context: StoreContext) {
		this.#context = context;
	}

	/** Resolves once all groups are answered. */
	async idle(): Promise<void> {
		await Promise.all(this.#answering);
	}

	/**
	 * Writes changes to their branches, and answers them. Each change for review goes to a branch of its own. All others
	 * go to the served branch as one group.
	 */
	async write(changes: readonly Pending[]): Promise<void> {
		const group = changes.filter(({ meta }) => !meta.review);
		if (group.length > 0) await this.#writeTo(branchName, group);
		for (const one of changes) if (one.meta.review) await this.#writeTo(reviewOf(one.meta), [one]);
	}

	/** Writes a group to a branch, and answers it. If another process has moved the branch, or git fails, it retries. */
	async #writeTo(name: string, group: readonly Pending[]): Promise<void> {
		let failure: unknown;
		for (let moves = 0, failures = 0; moves < maxMoves && failures < maxFailures; ) {
			let judged: Judged[] = [];
			let target: Target | null = null;
			try {
				target = await this.#targetOf(name);
				this.#context.writer.begin(target.base);
				// Git looks for pushed commits while the group is judged.
				const following = this.#context.branch.follow();
				following.catch(() => undefined);
				judged = await judgeGroup(group, target.reader, this.#context);
				if (await following) throw new BranchHeld("others have moved the branch");
				return await this.#persist(judged, target);
			} catch (error) {
				failure = error;
			}
			this.#reader = null;
			if (failure instanceof BranchHeld) moves += 1;
			else failures += 1;
			try {
				await this.#recover(failure, name);
				// The branch may have the group even if moving the branch or publishing the group failed.
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

	/** Reads the target of a group: its branch, and the state that it is built on. */
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
	 * Stores a judged group, moves the branch, publishes the group and answers its senders.
	 * @throws {BranchHeld} if another process has moved the branch first, or holds its lock
	 */
	async #persist(judged: readonly Judged[], target: Target): Promise<void> {
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

	/** Answers a group that is on the branch. @param range is published first */
	async #finish(judged: readonly Judged[], target: Target, id: string, range?: CommitRange): Promise<void> {
		const { requests, branch } = this.#context;
		requests.noteCommitted(await usesOf(judged.filter(({ edits }) => edits.length > 0)));
		const publishing = range && branch.publish(range);
		const [published] = await Promise.all([publishing, this.#syncNames(target.name)]);
		await this.#answer(judged, target, id, published?.warnings);
	}

	/** Syncs the folders on the path to a branch's file, so that its name is on the disk. */
	async #syncNames(name: string): Promise<void> {
		const { repository, sync } = this.#context;
		for (let folder = dirname(`refs/heads/${name}`); folder !== "refs"; folder = dirname(folder))
			await sync(join(repository, folder));
	}

	/** Answers a group whose commits are on the disk. @param tip the commit of changes without a commit of their own */
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
		// Not awaited: the next group does not wait for the files.
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
	 * Called after a failure: ends the writer, follows the branch, and removes locks of killed processes.
	 * @throws {StoreBusy} if the name of another branch excludes this one: `a` excludes `a/b`, and `a/b` excludes `a`
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

	/** Whether a commit is on a branch. */
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

/** Id of the last commit of a group; undefined if the group has no commit. */
function lastCommit(judged: readonly Judged[]): Promise<string> | undefined {
	return judged.findLast(({ edits }) => edits.length > 0)?.commit ?? undefined;
}

/** The paths that edits change, each once, sorted. */
function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}
