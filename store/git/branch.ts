import type { CatFile } from "../../git/cat-file.ts";
import { listCommits, personText, readCommits, trailersOf } from "../../git/commits.ts";
import { GitDamage, GitTimeout, runGit } from "../../git/run.ts";
import { diffTree, listTree, type PathChange } from "../../git/tree.ts";
import { declinedFolder, parseTimestamp, reviewFolders, serviceIdentity } from "../store.ts";
import { measured, type StoreBase } from "./base.ts";
import { reasonOf } from "./health.ts";
import { CommitReader } from "./reader.ts";
import type { RequestUse } from "./used-requests.ts";

/** Name of the branch that is served. */
export const branchName = "main";

/** The highest number of commits whose requests are read if there is no log of requests. */
const maxCommits = 100_000;

/** The range from one published commit to the next. */
export interface CommitRange {
	/** The commit that was published before; null: no commit was, and everything is new. */
	from: string | null;
	to: string;
	/** The paths under `layers/` that differ, sorted. */
	changes: readonly PathChange[];
	/** Reads the state at `to`. */
	at: CommitReader;
}

/** The result of publishing a range. */
export interface Published {
	/** Resolves with warnings for the senders, once all derived files are written or have failed. */
	warnings: Promise<string[]>;
}

/** Publishes a range: it can be read once the promise resolves. */
export type Publish = (range: CommitRange) => Promise<Published>;

/** A range after a published commit. */
export type FollowedRange = CommitRange & { from: string };

/** Callbacks of a branch. */
export interface BranchCallbacks {
	publish: Publish;
	/** Runs before a pushed range is published: its commits may carry out signed requests. */
	beforePush: (range: FollowedRange) => Promise<void>;
	/** Runs for each range that was pushed, or may have been. */
	onPush: (range: FollowedRange) => void;
}

/** The branch that is served. Other processes may push to it at any time; their commits are found and published. */
export class Branch {
	readonly #base: StoreBase;
	readonly #catFile: CatFile;
	readonly #callbacks: BranchCallbacks;
	#commit: string;
	#behind: string | null = null;

	/** @param commit the published commit */
	constructor(base: StoreBase, catFile: CatFile, commit: string, callbacks: BranchCallbacks) {
		this.#base = base;
		this.#catFile = catFile;
		this.#callbacks = callbacks;
		this.#commit = commit;
	}

	/** Id of the published commit. */
	get commit(): string {
		return this.#commit;
	}

	/** Why commits of the branch are not published yet, in a few words; null if all are published. */
	get behind(): string | null {
		return this.#behind;
	}

	/** Returns a reader of the state at a commit. */
	readerAt(commit: string): CommitReader {
		return new CommitReader(this.#catFile, commit);
	}

	/** The range from nothing to the published commit. */
	async firstRange(): Promise<CommitRange> {
		const to = this.#commit;
		const changes = await listTree(this.#base.repository, to, "layers/");
		return { from: null, to, changes, at: this.readerAt(to) };
	}

	/**
	 * The range from an earlier commit to the published one.
	 * @returns null if that commit is not in its history: this may be another repository, or an older copy
	 */
	async rangeSince(commit: string): Promise<FollowedRange | null> {
		if (!(await this.isAncestor(commit, this.#commit))) return null;
		const range = await this.#rangeBetween(commit, this.#commit);
		// The range may have commits that were pushed while the service was down.
		this.#callbacks.onPush(range);
		return range;
	}

	/** Publishes commits that other processes have pushed. @returns whether there were any */
	async follow(): Promise<boolean> {
		const { beforePush, onPush } = this.#callbacks;
		try {
			const head = await this.#head();
			const isMoved = head !== this.#commit;
			if (isMoved) {
				this.#behind = "a push is being taken in";
				await measured(this.#base, "push", async () => {
					const range = await this.#rangeBetween(this.#commit, head);
					await beforePush(range);
					await this.publish(range);
					onPush(range);
				});
			}
			this.#behind = null;
			return isMoved;
		} catch (error) {
			this.#behind = `a push cannot be served: ${reasonOf(error)}`;
			throw error;
		}
	}

	/** How many commits of the branch are not published yet. @throws {GitFailure} if git fails */
	async commitsBehind(): Promise<number> {
		const { repository, limits } = this.#base;
		if ((await this.#head()) === this.#commit) return 0;
		const args = ["rev-list", "--count", `${this.#commit}..refs/heads/${branchName}`];
		return Number(await runGit(repository, args, { limitMs: limits.commandMs }));
	}

	/** Goes back to an earlier commit of the branch: later commits cannot be read now, and are retried. */
	goBackTo(commit: string): void {
		this.#commit = commit;
		this.#behind = "what the branch has cannot be read";
	}

	/** Publishes a range. Its end is the published commit then. */
	async publish(range: CommitRange): Promise<Published> {
		const published = await this.#callbacks.publish(range);
		this.#commit = range.to;
		return published;
	}

	/**
	 * Whether one commit is in the history of another; false if either of them is missing.
	 * @throws {GitTimeout} if git does not answer
	 */
	async isAncestor(earlier: string, later: string): Promise<boolean> {
		if (earlier === later) return true;
		const { repository, limits } = this.#base;
		const args = ["merge-base", "--is-ancestor", earlier, later];
		return (await orNull(runGit(repository, args, { limitMs: limits.commandMs }))) !== null;
	}

	/**
	 * Reads the signed requests that the service's own commits carry out, each with its commit: on the branch, and on the
	 * branches of waiting and declined reviews. A pusher can write the same trailer, but cannot name the service as the
	 * committer: the hook refuses that.
	 * @param since only commits outside the history of this commit are read; null or a missing commit: the newest commits
	 * @throws {GitTimeout} if git does not answer
	 */
	async requestsSince(since: string | null): Promise<RequestUse[]> {
		const { repository, limits } = this.#base;
		const folders = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
		const refs = [...folders, `refs/heads/${branchName}`];
		const list = (args: string[]) => orNull(listCommits(repository, args, limits.commandMs));
		const newer = since ? await list([...refs, `^${since}`]) : null;
		const ids = newer ?? (await list([`--max-count=${maxCommits}`, ...refs])) ?? [];
		const uses: RequestUse[] = [];
		for await (const { id, author, committer, message } of readCommits(repository, ids)) {
			if (personText(committer) !== serviceIdentity) continue;
			const timeMs = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
			for (const request of trailersOf(message, "Request"))
				uses.push([request, { method: "", timeMs, outcome: id }]);
		}
		return uses;
	}

	/** Id of the branch's last commit. @throws {GitDamage} if the branch was removed, or its commit is missing */
	async #head(): Promise<string> {
		const head = await this.#catFile.read(`refs/heads/${branchName}`);
		if (head?.type !== "commit") throw new GitDamage(`refs/heads/${branchName} is gone, or names no commit`);
		return head.id;
	}

	async #rangeBetween(from: string, to: string): Promise<FollowedRange> {
		const changes = await diffTree(this.#base.repository, from, to, "layers");
		return { from, to, changes, at: this.readerAt(to) };
	}
}

/** The result of a git task, or null if it fails. @throws {GitTimeout} if git does not answer */
async function orNull<T>(task: Promise<T>): Promise<T | null> {
	return task.catch((error) => {
		if (error instanceof GitTimeout) throw error;
		return null;
	});
}
