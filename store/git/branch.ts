import type { CatFile } from "../../git/cat-file.ts";
import { listCommits, personText, readCommits, trailersOf } from "../../git/commits.ts";
import { GitDamage, GitTimeout, runGit } from "../../git/run.ts";
import { serviceIdentity } from "./new-commit.ts";

/** The branch that is served, as it is in the repository: others may move it at any time. */
export class Branch {
	readonly #repository: string;
	readonly #catFile: CatFile;
	readonly #name: string;
	readonly #commandMs: number;

	/** @param commandMs longest time of one short git command, in milliseconds */
	constructor(repository: string, catFile: CatFile, name: string, commandMs: number) {
		this.#commandMs = commandMs;
		this.#repository = repository;
		this.#catFile = catFile;
		this.#name = name;
	}

	/** Id of its last commit. @throws {GitDamage} where somebody has removed the branch, or its commit is not there */
	async head(): Promise<string> {
		const head = await this.#catFile.read(`refs/heads/${this.#name}`);
		if (head?.type !== "commit") throw new GitDamage(`refs/heads/${this.#name} is gone, or names no commit`);
		return head.id;
	}

	/** Whether a commit is on the branch. */
	async has(commit: string): Promise<boolean> {
		const head = await this.head();
		if (head === commit) return true;
		return this.isAncestor(commit, head);
	}

	/**
	 * Whether one commit is in the history of another; false where one of them is not there.
	 * @throws {GitTimeout} where git does not answer
	 */
	async isAncestor(earlier: string, later: string): Promise<boolean> {
		const args = ["merge-base", "--is-ancestor", earlier, later];
		return (await this.#orNull(runGit(this.#repository, args, { limitMs: this.#commandMs }))) !== null;
	}

	/** How many commits it has that an earlier one does not lead to. @throws {GitFailure} where git fails */
	async countSince(commit: string): Promise<number> {
		const args = ["rev-list", "--count", `${commit}..refs/heads/${this.#name}`];
		return Number(await runGit(this.#repository, args, { limitMs: this.#commandMs }));
	}

	/**
	 * The signed requests that the service's own commits behind `base` carry out, on the branch or one for review, each
	 * with its commit. Whoever pushes can write the same trailer, but not name the service as the committer: the hook
	 * refuses that.
	 * @returns null where there is no such commit
	 */
	async requestsSince(base: string): Promise<Map<string, string> | null> {
		const refs = ["--glob=refs/heads/register", `^${base}`, `refs/heads/${this.#name}`];
		const ids = await this.#orNull(listCommits(this.#repository, refs, this.#commandMs));
		if (!ids) return null;
		const found = new Map<string, string>();
		for await (const { id, committer, message } of readCommits(this.#repository, ids)) {
			if (personText(committer) !== serviceIdentity) continue;
			for (const request of trailersOf(message, "Request")) found.set(request, id);
		}
		return found;
	}

	/** What a task of git gives, or null where it fails. @throws {GitTimeout} where git does not answer */
	async #orNull<T>(task: Promise<T>): Promise<T | null> {
		return task.catch((error) => {
			if (error instanceof GitTimeout) throw error;
			return null;
		});
	}
}
