import type { CatFile } from "../../git/cat-file.ts";
import { runGit } from "../../git/run.ts";
import { StoreBusy } from "../../store.ts";

/** A commit that carries out a signed request. */
export interface RequestCommit {
	/** The trailer `Request`. */
	request: string;
	commit: string;
	/** Time of the commit, in milliseconds since 1970. */
	time: number;
}

/** The branch that is served, as it is in the repository: others may move it at any time. */
export class Branch {
	readonly #repository: string;
	readonly #catFile: CatFile;
	readonly #name: string;

	constructor(repository: string, catFile: CatFile, name: string) {
		this.#repository = repository;
		this.#catFile = catFile;
		this.#name = name;
	}

	/** Id of its last commit. @throws {StoreBusy} where somebody has removed the branch */
	async head(): Promise<string> {
		const head = await this.#catFile.read(`refs/heads/${this.#name}`);
		if (!head) throw new StoreBusy(`the branch ${this.#name} is gone from the repository`, 60);
		return head.id;
	}

	/** Whether a commit is on the branch. */
	async has(commit: string): Promise<boolean> {
		const head = await this.head();
		if (head === commit) return true;
		return this.isAncestor(commit, head);
	}

	/** Whether one commit is in the history of another; false where one of them is not there. */
	async isAncestor(earlier: string, later: string): Promise<boolean> {
		return runGit(this.#repository, ["merge-base", "--is-ancestor", earlier, later]).then(
			() => true,
			() => false,
		);
	}

	/** The signed requests that commits carry out. @param range as `git log` takes it */
	async requests(range: string[]): Promise<RequestCommit[]> {
		const format = "--format=%H %ct %(trailers:key=Request,valueonly,separator=%x2C)";
		const output = await runGit(this.#repository, ["log", format, ...range]);
		const lines = output.toString("utf8").split("\n").filter(Boolean);
		return lines.flatMap((line) => {
			const [commit = "", seconds = "", requests = ""] = line.split(" ");
			const time = Number(seconds) * 1000;
			return requests
				.split(",")
				.filter(Boolean)
				.map((request) => ({ request, commit, time }));
		});
	}
}
