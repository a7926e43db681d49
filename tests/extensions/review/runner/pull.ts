import type { PeerPull } from "../approvals/review-peer.ts";

const main = "refs/heads/main";

/** A pull request for main whose commits, files and merge are those of a git repository, as GitHub computes them. */
export class Pull implements PeerPull {
	merged = false;
	isClosed = false;
	reviews: PeerPull["reviews"] = [];
	readonly base = "main";
	readonly pushers: string[];

	constructor(
		readonly git: (...words: string[]) => string,
		readonly number: number,
		readonly author: string,
		/** `owner:branch`. */
		readonly from: string,
		public title: string,
	) {
		this.pushers = [author];
	}

	get sha(): string {
		return this.git("rev-parse", `refs/pull/${this.number}/head`);
	}

	/** GitHub lists the differences to one merge base. */
	get files() {
		const paths = this.git("diff", "--name-only", "--no-renames", `${main}...${this.sha}`).split("\n");
		return paths.map((filename) => ({ filename }));
	}

	/** Each commit with its author's name as a login. */
	get commits() {
		const log = this.git("log", "--reverse", "-z", "--format=%an%n%cn%n%B", `${main}..${this.sha}`);
		return log.split("\0").map((record) => {
			const [author = "", committer = "", ...lines] = record.split("\n");
			return { author, committer, message: lines.join("\n") };
		});
	}

	get tree(): string {
		return this.git("merge-tree", "--write-tree", main, this.sha);
	}

	/** Makes the commit with which GitHub tries the merge. @returns its ref */
	tryMerge(): string {
		const ref = `refs/pull/${this.number}/merge`;
		const merge = this.git("commit-tree", this.tree, "-p", main, "-p", this.sha, "-m", "Merge");
		this.git("update-ref", ref, merge);
		return ref;
	}
}
