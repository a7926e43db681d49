import type { CatFile } from "../../git/cat-file.ts";
import { diffTree, listTree, type PathChange } from "../../git/tree.ts";
import type { Trees } from "../../git/trees.ts";
import type { Branch } from "./branch.ts";
import { reasonOf } from "./condition.ts";
import { type MeasureGit, measured } from "./measure.ts";
import { CommitFolders, CommitReader } from "./reader.ts";

/** From one commit that is served to the next. */
export interface Step {
	/** The commit that was served before; null: none, everything is new. */
	from: string | null;
	to: string;
	/** The paths under `layers/` that differ, sorted; null where there are more than a thousand. */
	changes: readonly PathChange[] | null;
	/** What is stored at `to`. */
	at: CommitReader;
}

/** A step from a commit that was served. */
export interface Onward extends Step {
	from: string;
}

/** A step that can be read. */
export interface Published {
	/** What its senders should know, once everything that is derived from it is in step, or is known not to be. */
	warnings: Promise<string[]>;
}

/** Makes a step readable. */
export type Publish = (step: Step) => Promise<Published>;

/** Paths up to which a step names each of them. */
const mostChanges = 1_000;

/** What the served commit needs from outside. */
export interface ServedOptions {
	repository: string;
	catFile: CatFile;
	trees: Trees;
	branch: Branch;
	publish: Publish;
	measure: MeasureGit;
	/** Told of each step that others have made, or may have made. */
	followed?: (step: Onward) => void;
}

/** The commit that is served, and the steps from one to the next. */
export class Served {
	readonly #options: ServedOptions;
	#tip: string;
	#behind: string | null = null;

	constructor(options: ServedOptions, tip: string) {
		this.#options = options;
		this.#tip = tip;
	}

	/** Id of the commit that is served. */
	get tip(): string {
		return this.#tip;
	}

	/** Reads what is stored at a commit. */
	readerAt(commit: string): CommitReader {
		const { catFile, trees } = this.#options;
		return new CommitReader(new CommitFolders(catFile, trees, commit));
	}

	/** The step from nothing to the commit that is served. */
	async firstStep(): Promise<Step> {
		const to = this.#tip;
		const changes = await listTree(this.#options.repository, to, "layers/", mostChanges);
		return { from: null, to, changes, at: this.readerAt(to) };
	}

	/** The step from an earlier commit to the one that is served; null where that is not in its history. */
	async stepSince(commit: string): Promise<Onward | null> {
		const { branch, followed } = this.#options;
		if (!(await branch.isAncestor(commit, this.#tip))) return null;
		const step = await this.#stepBetween(commit, this.#tip);
		// It may hold what was pushed while no process was there.
		followed?.(step);
		return step;
	}

	/** Why what is served is not what the branch has, in a few words; null where it is. */
	get behind(): string | null {
		return this.#behind;
	}

	/** Takes over what others have brought to the branch; whether there was anything. */
	async follow(): Promise<boolean> {
		const { branch, measure, followed } = this.#options;
		try {
			const head = await branch.head();
			const isMoved = head !== this.#tip;
			if (isMoved) {
				this.#behind = "a push is being taken in";
				await measured(measure, "push", async () => {
					const step = await this.#stepBetween(this.#tip, head);
					await this.publish(step);
					followed?.(step);
				});
			}
			this.#behind = null;
			return isMoved;
		} catch (error) {
			this.#behind = `a push cannot be served: ${reasonOf(error)}`;
			throw error;
		}
	}

	/** How many commits of the branch are not served yet. */
	async commitsBehind(): Promise<number> {
		const { branch } = this.#options;
		const head = await branch.head();
		return head === this.#tip ? 0 : branch.countSince(this.#tip);
	}

	/** Goes back to an earlier commit on the branch, to follow it again from there. */
	goBackTo(commit: string): void {
		this.#tip = commit;
		this.#behind = "what the branch has cannot be read";
	}

	/** Makes a step readable, and goes on from there. */
	async publish(step: Step): Promise<Published> {
		const published = await this.#options.publish(step);
		this.#tip = step.to;
		return published;
	}

	async #stepBetween(from: string, to: string): Promise<Onward> {
		const changes = await diffTree(this.#options.repository, from, to, "layers", mostChanges);
		return { from, to, changes, at: this.readerAt(to) };
	}
}
