import type { PeerPull } from "../approvals/review-peer.ts";

type Git = (...words: string[]) => string;

/** A pull request whose commits, files and merge are those of a git repository, as GitHub computes them. */
export class Pull implements PeerPull {
	merged = false;
	isClosed = false;
	reviews: PeerPull["reviews"] = [];
	pushers: string[];

	constructor(
		readonly git: Git,
		readonly number: number,
		readonly author: string,
		/** `owner:branch`. */
		readonly from: string,
		public base: string,
		public title: string,
	) {
		this.pushers = [author];
	}

	get sha(): string {
		return this.git("rev-parse", `refs/pull/${this.number}/head`);
	}

	/** GitHub lists the differences to one merge base. */
	get files() {
		const fork = this.git("merge-base", this.#base, this.sha);
		const paths = this.git("diff-tree", "-r", "--name-only", fork, this.sha).split("\n").filter(Boolean);
		return paths.map((filename) => ({ filename }));
	}

	/** Each commit with its author's name as a login. */
	get commits() {
		const log = this.git("log", "--format=%an%x00%cn%x00%B%x01", `${this.#base}..${this.sha}`);
		const records = log.split("\u0001").filter((text) => text.trim() !== "");
		return records.reverse().map((record) => {
			const [author = "", committer = "", message = ""] = record.trim().split("\0");
			return { author, committer, message };
		});
	}

	/** The commit that GitHub makes to try the merge; null where there is a conflict. */
	get mergeSha(): string | null {
		const ref = `refs/pull/${this.number}/merge`;
		const tree = this.tree;
		if (tree === null) return null;
		const parents = ["-p", this.#base, "-p", this.sha];
		const merge = this.git("commit-tree", tree, ...parents, "-m", `Merge ${this.sha} into ${this.#base}`);
		this.git("update-ref", ref, merge);
		return merge;
	}

	get tree(): string | null {
		try {
			return this.git("merge-tree", "--write-tree", this.#base, this.sha);
		} catch {
			return null;
		}
	}

	get mergeable(): boolean {
		return this.tree !== null;
	}

	get #base(): string {
		return this.git("rev-parse", `refs/heads/${this.base}`);
	}
}
