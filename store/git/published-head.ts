import { diffTree, listTree, type PathChange } from "../../git/tree.ts";
import { measured, type StoreContext } from "./context.ts";
import { reasonOf } from "./health.ts";
import { CommitFolders, CommitReader } from "./reader.ts";

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

/** What the published head needs from outside. */
export interface HeadOptions extends Pick<StoreContext, "repository" | "catFile" | "branch" | "measure"> {
	publish: Publish;
	/** Runs before a range that others may have made is published: its commits may carry out requests. */
	following?: (range: FollowedRange) => Promise<void>;
	/** Runs after each range that others have made, or may have made. */
	followed?: (range: FollowedRange) => void;
}

/** The commit that is published, and the ranges from one to the next. */
export class PublishedHead {
	readonly #options: HeadOptions;
	#commit: string;
	#behind: string | null = null;

	constructor(options: HeadOptions, commit: string) {
		this.#options = options;
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
		return new CommitReader(new CommitFolders(this.#options.catFile, commit));
	}

	/** The range from nothing to the published commit. */
	async firstRange(): Promise<CommitRange> {
		const to = this.#commit;
		const changes = await listTree(this.#options.repository, to, "layers/");
		return { from: null, to, changes, at: this.readerAt(to) };
	}

	/** The range from an earlier commit to the published one; null where that is not in its history. */
	async rangeSince(commit: string): Promise<FollowedRange | null> {
		const { branch, followed } = this.#options;
		if (!(await branch.isAncestor(commit, this.#commit))) return null;
		const range = await this.#rangeBetween(commit, this.#commit);
		// It may hold what was pushed while no process was there.
		followed?.(range);
		return range;
	}

	/** Publishes what others have brought to the branch. @returns whether there was anything */
	async follow(): Promise<boolean> {
		const { branch, measure, following, followed } = this.#options;
		try {
			const head = await branch.head();
			const isMoved = head !== this.#commit;
			if (isMoved) {
				this.#behind = "a push is being taken in";
				await measured(measure, "push", async () => {
					const range = await this.#rangeBetween(this.#commit, head);
					await following?.(range);
					await this.publish(range);
					followed?.(range);
				});
			}
			this.#behind = null;
			return isMoved;
		} catch (error) {
			this.#behind = `a push cannot be served: ${reasonOf(error)}`;
			throw error;
		}
	}

	/** How many commits of the branch are not published yet. */
	async commitsBehind(): Promise<number> {
		const { branch } = this.#options;
		const head = await branch.head();
		return head === this.#commit ? 0 : branch.countSince(this.#commit);
	}

	/** Goes back to an earlier commit on the branch, to follow it again from there. */
	goBackTo(commit: string): void {
		this.#commit = commit;
		this.#behind = "what the branch has cannot be read";
	}

	/** Makes a range readable; its end is the published commit then. */
	async publish(range: CommitRange): Promise<Published> {
		const published = await this.#options.publish(range);
		this.#commit = range.to;
		return published;
	}

	async #rangeBetween(from: string, to: string): Promise<FollowedRange> {
		const changes = await diffTree(this.#options.repository, from, to, "layers");
		return { from, to, changes, at: this.readerAt(to) };
	}
}
