import { GitTimeout } from "../../git/run.ts";
import { BranchHeld } from "../../git/update-ref.ts";
import { DiskTimeout } from "../../git/write-pack.ts";
import { type Commit, type Edits, type Meta, type Refusal, StoreBusy } from "../store.ts";
import { type Decided, Decider, type Waiting } from "./decider.ts";
import { Landing, lastCommit } from "./landing.ts";
import { branchLocks, clearLocks } from "./locks.ts";
import type { NewCommit } from "./new-commit.ts";
import type { Parts } from "./parts.ts";
import { CommitFolders, CommitReader } from "./reader.ts";
import type { Writer } from "./writer.ts";

/** Checkpoints in a row before others get their turn at the repository: reviews and pushes. */
const maxGroups = 50;
/** How often changes are built anew on a branch that others keep moving, and where git fails. */
const maxMoves = 20;
const maxFailures = 2;

/** A group that did not get to its end, and what stopped it. */
interface Unfinished {
	groups: Decided[][];
	error: unknown;
}

/**
 * The changes that wait for the branch. Those that come while one checkpoint runs are decided meanwhile and share the
 * next, one commit each; while the next runs, the last are put on the disk, published and answered.
 */
export class ChangeQueue {
	readonly #parts: Parts;
	readonly #branchName: string;
	readonly #writer: Writer;
	#waiting: Waiting[] = [];
	/** Decides what arrives now, while groups are written. */
	#decider: Decider | null = null;
	/** Called for each change that arrives. */
	#arrived: () => void = () => undefined;
	/** Changes without an answer. */
	#open = 0;
	#isPumping = false;
	#timer: NodeJS.Timeout | null = null;
	readonly #answering = new Set<Promise<void>>();

	constructor(parts: Parts, branchName: string, writer: Writer) {
		this.#parts = parts;
		this.#branchName = branchName;
		this.#writer = writer;
	}

	/** Whether nothing is written or waits. */
	get isIdle(): boolean {
		return !this.#isPumping;
	}

	/** How many changes wait, or are under way. */
	get size(): number {
		return this.#open;
	}

	/** Makes one change, in its turn. @throws {StoreBusy} where it could not be made */
	add(edits: Edits, meta: Meta): Promise<Commit | Refusal> {
		this.#open += 1;
		const outcome = new Promise<Commit | Refusal>((resolve, reject) => {
			const waiting = { edits, meta, resolve, reject, sinceMs: performance.now() };
			this.#waiting.push(waiting);
			this.#decider?.prefetch(waiting);
			this.#arrived();
			if (!this.#isPumping) void this.#pump();
		});
		return outcome.finally(() => {
			this.#open -= 1;
		});
	}

	/** Ends when everything that waits has been answered. */
	async drain(): Promise<void> {
		while (this.#isPumping) await this.#parts.turns.idle();
		await Promise.all(this.#answering);
	}

	/** Refuses what waits. */
	refuseAll(error: StoreBusy): void {
		for (const { reject } of this.#waiting.splice(0)) reject(error);
	}

	async #pump(): Promise<void> {
		this.#isPumping = true;
		this.#timer = setInterval(() => this.#refuseLate(), this.#parts.limits.waitMs / 4);
		while (this.#waiting.length > 0) {
			await this.#parts.turns
				.run(() => this.#writeTurn())
				.catch((error) => {
					this.refuseAll(this.#parts.condition.failed(error));
				});
		}
		clearInterval(this.#timer);
		this.#isPumping = false;
	}

	/** Refuses what has waited too long for its turn. */
	#refuseLate(): void {
		const { waitMs } = this.#parts.limits;
		const late = (one: Waiting) => performance.now() - one.sinceMs > waitMs;
		const reason = this.#parts.condition.reason ?? "the changes before this one take too long";
		for (const one of this.#waiting.filter(late)) one.reject(new StoreBusy(reason, 5));
		this.#waiting = this.#waiting.filter((one) => !late(one));
	}

	/** Writes what waits, group after group. */
	async #writeTurn(): Promise<void> {
		const { served, packs } = this.#parts;
		if (packs.areMany) packs.gather();
		await served.follow();
		this.#writer.goOnFrom(served.tip);
		const { decider, landing } = this.#begin();
		this.#decider = decider;
		const unfinished = await this.#writeGroups(decider, landing);
		this.#decider = null;
		if (unfinished) await this.#writeAgain(unfinished);
	}

	#begin(): { decider: Decider; landing: Landing } {
		const { catFile, trees, written, served, requests, condition, now } = this.#parts;
		const base = served.tip;
		const folders = new CommitFolders(catFile, trees, base, written);
		const write = (commit: NewCommit) => this.#writer.commit(commit);
		return {
			decider: new Decider({ base, folders, requests, condition, now, write }),
			landing: new Landing(this.#parts, this.#writer, new CommitReader(folders), this.#answering),
		};
	}

	/** @returns what did not get to its end; null where all did */
	async #writeGroups(decider: Decider, landing: Landing): Promise<Unfinished | null> {
		let group = await decider.decideAll(this.#waiting.splice(0));
		/** The group before, and its end. */
		let before: Decided[] = [];
		let finishing: Promise<unknown> = Promise.resolve(null);
		for (let groups = 1; group.length > 0 || before.length > 0; groups += 1) {
			const isOpen = groups < maxGroups;
			const landed = failureOf(landing.land(group));
			const next = await this.#decideUntil(Promise.all([landed, finishing]), decider, isOpen);
			const failures = [await finishing, await landed];
			const failure = failures.find((error) => error !== null);
			if (failure !== undefined) {
				const groups = failures[0] === null ? [group, next] : [before, group, next];
				return { groups, error: failure };
			}
			finishing = failureOf(landing.finish(group));
			before = group;
			group = next;
		}
		return null;
	}

	/** Decides what arrives until something ends. */
	async #decideUntil(end: Promise<unknown>, decider: Decider, isOpen: boolean): Promise<Decided[]> {
		const decided: Decided[] = [];
		let hasEnded = false;
		const ended = end.then(() => {
			hasEnded = true;
		});
		while (!hasEnded) {
			const waiting = isOpen ? this.#waiting.shift() : undefined;
			const one = waiting && (await decider.decide(waiting));
			if (one) decided.push(one);
			if (!waiting) await Promise.race([ended, new Promise<void>((resolve) => (this.#arrived = resolve))]);
		}
		return decided;
	}

	/** Brings groups to their end that did not get there: answered where the branch has them, else built anew. */
	async #writeAgain({ groups, error }: Unfinished): Promise<void> {
		let rest = groups;
		let failure = error;
		try {
			for (let moves = 0, failures = 0; moves < maxMoves && failures < maxFailures; ) {
				if (failure instanceof BranchHeld) moves += 1;
				else failures += 1;
				rest = await this.#finishLanded(rest, failure);
				if (rest.length === 0) return;
				if (failure instanceof GitTimeout || failure instanceof DiskTimeout) break;
				this.#writer.goOnFrom(this.#parts.served.tip);
				const { decider, landing } = this.#begin();
				const group = await decider.decideAll(rest.flat().map(({ waiting }) => waiting));
				rest = [group];
				const again = await failureOf(landing.land(group).then(() => landing.finish(group)));
				if (again === null) return;
				failure = again;
			}
			throw failure instanceof BranchHeld
				? new StoreBusy("the branch cannot be moved, or others keep moving it", 2)
				: failure;
		} catch (error) {
			const busy = this.#parts.condition.failed(error);
			for (const { waiting } of rest.flat()) waiting.reject(busy);
		}
	}

	/** Answers the groups that have reached the branch although something failed; the others. */
	async #finishLanded(groups: Decided[][], failure: unknown): Promise<Decided[][]> {
		const { served, branch, repository, limits, condition } = this.#parts;
		if (!(failure instanceof BranchHeld)) condition.failed(failure);
		await this.#writer.close();
		const moved = await served.follow();
		// Whoever holds the branch without moving it may be dead.
		if (!moved) {
			const removed = await clearLocks(repository, branchLocks(this.#branchName), limits.lockMs);
			if (removed.length > 0)
				condition.tell(`removed locks that a killed process left: ${removed.join(", ")}`);
		}
		const others: Decided[][] = [];
		for (const group of groups) {
			const id = await lastCommit(group)?.catch(() => null);
			if (!id || !(await branch.has(id))) others.push(group);
			else await this.#begin().landing.finish(group, true);
		}
		return others.filter((group) => group.length > 0);
	}
}

/** What a promise failed with; null where it did not. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
	return promise.then(
		() => null,
		(error: unknown) => error ?? new Error("failed without a reason"),
	);
}
