import { dirname, join } from "node:path";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { servedBranch } from "../naming.ts";
import type { Edit } from "../store.ts";
import type { StoreBase } from "./base.ts";
import { type CatFile, type CommitReader, openReader } from "./commands/cat-file.ts";
import { isDescendant } from "./commands/commits.ts";
import { GitDamage } from "./commands/run.ts";
import { diffTree, listTree, type PathChange } from "./commands/tree.ts";
import { readRef } from "./repository.ts";

const maxQuoted = 60;

/** @returns null if the branch does not exist yet @throws {GitDamage} if it names no commit or a missing one */
export async function readHead(repository: string, catFile: CatFile): Promise<string | null> {
	const head = await catFile.read(`refs/heads/${servedBranch}`);
	if (head?.type === "commit") return head.id;
	const text = await readRef(repository);
	if (text === null) return null;
	const says = JSON.stringify(text.trim().slice(0, maxQuoted));
	throw new GitDamage(
		`${join(repository, "refs/heads", servedBranch)}: must name a commit of the repository, and says ${says}`,
	);
}

export interface CommitRange {
	/** Published before; null: everything is new. */
	from: string | null;
	to: string;
	/** Under `layers/`, sorted by path. */
	changes: readonly PathChange[];
	reader: CommitReader;
	isPushed: boolean;
}

export function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}

/** @returns false if a file could not be written */
export type Publish = (range: CommitRange) => Promise<boolean>;

/** The served branch, to which other processes may push at any time. */
export class Branch {
	/** Why commits are not published yet, in a few words; null if all are. */
	behind: string | null = null;

	constructor(
		readonly base: StoreBase,
		readonly catFile: CatFile,
		public commit: string,
		readonly publishRange: Publish,
	) {}

	readerAt(commit: string): CommitReader {
		return openReader(this.catFile, commit);
	}

	firstRange(): Promise<CommitRange> {
		return this.#rangeBetween(null, this.commit);
	}

	/**
	 * @returns null if `earlier` is missing: this is another repository, or an older copy
	 * @throws {GitDamage} if the branch went back, or was replaced
	 */
	async rangeSince(earlier: string): Promise<CommitRange | null> {
		if ((await this.catFile.read(earlier)) === null) return null;
		await this.#checkDescent(earlier, this.commit);
		return this.#rangeBetween(earlier, this.commit);
	}

	/** @throws {GitDamage} so that a standby does not follow a service that lost its layers */
	async follow(): Promise<void> {
		const { repository, log } = this.base;
		const head = await readHead(repository, this.catFile);
		if (head === null) throw new GitDamage(`refs/heads/${servedBranch} is gone`);
		if (head !== this.commit) {
			this.behind = "a push is not published yet";
			const earlier = this.commit;
			await this.#checkDescent(earlier, head);
			const range = await this.#rangeBetween(earlier, head);
			await this.publish(range);
			const layers = new Set(range.changes.flatMap(({ path }) => parseLayerPath(path)?.smallkey ?? []));
			log.info({ push: { from: earlier, to: head, layers: layers.size } });
		}
		this.behind = null;
	}

	/** Later commits cannot be read now, and are retried. */
	goBackTo(earlier: string): void {
		this.commit = earlier;
		this.behind = "what the branch has cannot be read";
	}

	async publish(range: CommitRange): Promise<boolean> {
		const published = await this.publishRange(range);
		this.commit = range.to;
		return published;
	}

	async #checkDescent(earlier: string, later: string): Promise<void> {
		const { repository } = this.base;
		if (await isDescendant(repository, earlier, later)) return;
		throw new GitDamage(
			`the branch main is at ${later.slice(0, 12)}, which does not have ${earlier.slice(0, 12)}, the last commit served, in its history: "git -C ${repository} update-ref refs/heads/main ${earlier}" goes back to it. To serve the branch as it is, end the service, remove ${join(dirname(repository), "dist.served")}, and start it`,
		);
	}

	async #rangeBetween(from: string | null, to: string): Promise<CommitRange> {
		const { repository } = this.base;
		const listed =
			from === null ? listTree(repository, to, "layers/") : diffTree(repository, from, to, "layers");
		return { from, to, changes: await listed, reader: this.readerAt(to), isPushed: true };
	}
}
