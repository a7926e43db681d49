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

/** Newest commits whose requests are read where there is no log of them. */
const maxCommits = 100_000;

/** From one published commit to the next. */
export interface CommitRange {
	/** The commit that was published before; null: none, everything is new. */
	from: string | null;
	to: string;
	/** The paths under `layers/` that differ, sorted. */
	changes: readonly PathChange[];
	/** What is stored at `to`. */
	at: CommitReader;
}

/** A range that can be read. */
export interface Published {
	/** Warnings for its senders, once everything that is derived from it is written, or could not be. */
	warnings: Promise<string[]>;
}

/** Makes a range readable. */
export type Publish = (range: CommitRange) => Promise<Published>;

/** A range behind a commit that was published. */
export type FollowedRange = CommitRange & { from: string };

/** What others do with a branch. */
export interface Followers {
	publish: Publish;
	/** Runs before a range that others may have made is published: its commits may carry out requests. */
	following: (range: FollowedRange) => Promise<void>;
	/** Runs after each range that others have made, or may have made. */
	followed: (range: FollowedRange) => void;
}

/** The branch that is served: others may move it at any time, and the commits that they bring are published. */
export class Branch {
	readonly #base: StoreBase;
	readonly #catFile: CatFile;
	readonly #followers: Followers;
	#commit: string;
	#behind: string | null = null;

	/** @param commit the one that is published */
	constructor(base: StoreBase, catFile: CatFile, commit: string, followers: Followers) {
		this.#base = base;
		this.#catFile = catFile;
		this.#followers = followers;
		this.#commit = commit;
	}

	/** Id of the commit that is published. */
	get commit(): string {
		return this.#commit;
	}

	/** Why the branch has what is not published, in a few words; null where it has not. */
	get behind(): string | null {
		return this.#behind;
	}

	/** Reads what is stored at a commit. */
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
	 * @returns null where that commit is not in its history: the repository may be another one, or an older copy
	 */
	async rangeSince(commit: string): Promise<FollowedRange | null> {
		if (!(await this.isAncestor(commit, this.#commit))) return null;
		const range = await this.#rangeBetween(commit, this.#commit);
		// It may hold what was pushed while no process was there.
		this.#followers.followed(range);
		return range;
	}

	/** Publishes what others have brought to the branch. @returns whether there was anything */
	async follow(): Promise<boolean> {
		const { following, followed } = this.#followers;
		try {
			const head = await this.#head();
			const isMoved = head !== this.#commit;
			if (isMoved) {
				this.#behind = "a push is being taken in";
				await measured(this.#base, "push", async () => {
					const range = await this.#rangeBetween(this.#commit, head);
					await following(range);
					await this.publish(range);
					followed(range);
				});
			}
			this.#behind = null;
			return isMoved;
		} catch (error) {
			this.#behind = `a push cannot be served: ${reasonOf(error)}`;
			throw error;
		}
	}

	/** How many commits of the branch are not published yet. @throws {GitFailure} where git fails */
	async commitsBehind(): Promise<number> {
		const { repository, limits } = this.#base;
		if ((await this.#head()) === this.#commit) return 0;
		const args = ["rev-list", "--count", `${this.#commit}..refs/heads/${branchName}`];
		return Number(await runGit(repository, args, { limitMs: limits.commandMs }));
	}

	/** Goes back to an earlier commit on the branch: what came after it cannot be read yet, and is tried again. */
	goBackTo(commit: string): void {
		this.#commit = commit;
		this.#behind = "what the branch has cannot be read";
	}

	/** Makes a range readable; its end is the published commit then. */
	async publish(range: CommitRange): Promise<Published> {
		const published = await this.#followers.publish(range);
		this.#commit = range.to;
		return published;
	}

	/**
	 * Whether one commit is in the history of another; false where one of them is missing.
	 * @throws {GitTimeout} where git does not answer
	 */
	async isAncestor(earlier: string, later: string): Promise<boolean> {
		if (earlier === later) return true;
		const { repository, limits } = this.#base;
		const args = ["merge-base", "--is-ancestor", earlier, later];
		return (await orNull(runGit(repository, args, { limitMs: limits.commandMs }))) !== null;
	}

	/**
	 * The signed requests that the service's own commits carry out, on the branch or one for review that waits or was
	 * declined, each with its commit.
	 * A pusher can write the same trailer, but cannot name the service as the committer: the hook refuses that.
	 * @param since a commit: those in its history are left out; null, or one that is missing: the newest commits
	 * @throws {GitTimeout} where git does not answer
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

	/** Id of its last commit. @throws {GitDamage} where the branch was removed, or its commit is missing */
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

/** What a task of git gives, or null where it fails. @throws {GitTimeout} where git does not answer */
async function orNull<T>(task: Promise<T>): Promise<T | null> {
	return task.catch((error) => {
		if (error instanceof GitTimeout) throw error;
		return null;
	});
}
