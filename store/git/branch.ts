import type { CatFile } from "../../git/cat-file.ts";
import { listCommits, personText, readCommits, trailersOf } from "../../git/commits.ts";
import { GitDamage, GitTimeout, runGit } from "../../git/run.ts";
import { declinedFolder, reviewFolders } from "../store.ts";
import { parseTimestamp } from "../timestamp.ts";
import { serviceIdentity } from "./new-commit.ts";
import type { RequestUse } from "./used-requests.ts";

/** Newest commits whose requests are read where there is no log of them. */
const maxCommits = 100_000;

/** The branch that is served, as it is in the repository: others may move it at any time. */
export class Branch {
	readonly name: string;
	readonly #repository: string;
	readonly #catFile: CatFile;
	readonly #commandMs: number;

	/** @param commandMs longest time of one short git command, in milliseconds */
	constructor(repository: string, catFile: CatFile, name: string, commandMs: number) {
		this.#commandMs = commandMs;
		this.#repository = repository;
		this.#catFile = catFile;
		this.name = name;
	}

	/** Id of its last commit. @throws {GitDamage} where the branch was removed, or its commit is missing */
	async head(): Promise<string> {
		const head = await this.#catFile.read(`refs/heads/${this.name}`);
		if (head?.type !== "commit") throw new GitDamage(`refs/heads/${this.name} is gone, or names no commit`);
		return head.id;
	}

	/** Whether a commit is on the branch. */
	async has(commit: string): Promise<boolean> {
		const head = await this.head();
		return head === commit || this.isAncestor(commit, head);
	}

	/**
	 * Whether one commit is in the history of another; false where one of them is missing.
	 * @throws {GitTimeout} where git does not answer
	 */
	async isAncestor(earlier: string, later: string): Promise<boolean> {
		const args = ["merge-base", "--is-ancestor", earlier, later];
		return (await this.#orNull(runGit(this.#repository, args, { limitMs: this.#commandMs }))) !== null;
	}

	/** How many commits it has that are not in the history of an earlier one. @throws {GitFailure} where git fails */
	async countSince(commit: string): Promise<number> {
		const args = ["rev-list", "--count", `${commit}..refs/heads/${this.name}`];
		return Number(await runGit(this.#repository, args, { limitMs: this.#commandMs }));
	}

	/**
	 * The signed requests that the service's own commits carry out, on the branch or one for review that waits or was
	 * declined, each with its commit.
	 * A pusher can write the same trailer, but cannot name the service as the committer: the hook refuses that.
	 * @param since a commit: those in its history are left out; null, or one that is missing: the newest commits
	 */
	async requestsSince(since: string | null): Promise<RequestUse[]> {
		const folders = [...reviewFolders, declinedFolder].map((folder) => `--glob=refs/heads/${folder}`);
		const refs = [...folders, `refs/heads/${this.name}`];
		const list = (args: string[]) => this.#orNull(listCommits(this.#repository, args, this.#commandMs));
		const newer = since ? await list([...refs, `^${since}`]) : null;
		const ids = newer ?? (await list([`--max-count=${maxCommits}`, ...refs])) ?? [];
		const uses: RequestUse[] = [];
		for await (const { id, author, committer, message } of readCommits(this.#repository, ids)) {
			if (personText(committer) !== serviceIdentity) continue;
			const timeMs = parseTimestamp(trailersOf(message, "TimeStamp")[0] ?? "") ?? author.timeMs;
			for (const request of trailersOf(message, "Request"))
				uses.push([request, { method: "", timeMs: Math.floor(timeMs), outcome: id }]);
		}
		return uses;
	}

	/** What a task of git gives, or null where it fails. @throws {GitTimeout} where git does not answer */
	async #orNull<T>(task: Promise<T>): Promise<T | null> {
		return task.catch((error) => {
			if (error instanceof GitTimeout) throw error;
			return null;
		});
	}
}
