import { join } from "node:path";
import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import type { Problem } from "../../registry/texts.ts";
import { servedBranch } from "../branches.ts";
import type { Edit } from "../store.ts";
import { type CatFile, type CommitReader, openReader } from "./commands/cat-file.ts";
import { isDescendant } from "./commands/commits.ts";
import { GitDamage, gitText, NotDescendant } from "./commands/run.ts";
import { diffTree, listTree, type PathChange } from "./commands/tree.ts";
import { readRef } from "./repository.ts";
import type { StoreBase } from "./writer.ts";

const limitMs = 5_000;

/**
 * Finds the last commit of a layer up to a commit of the branch: the merge, if a merge changed it.
 * @throws {GitFailure}
 */
export async function findLastCommit(
	repository: string,
	smallkey: string,
	tip: string,
): Promise<string | null> {
	// Without `--no-patch` git prints the patch of a merge.
	const words = ["log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--no-patch"];
	const path = layerPath(smallkey);
	return (await gitText(repository, [...words, "--format=%H", "-1", tip, "--", path], { limitMs })) || null;
}

const maxQuoted = 60;

/** @returns null if the branch does not exist yet @throws {GitDamage} if it names no commit or a missing one */
export async function readHead(repository: string, catFile: Pick<CatFile, "read">): Promise<string | null> {
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
	/** The commit that was published before; null: no commit was, and everything is new. */
	from: string | null;
	to: string;
	/** The paths under `layers/` that differ, sorted. */
	changes: readonly PathChange[];
	at: CommitReader;
	isPushed: boolean;
}

export function changesOf(edits: readonly Edit[]): PathChange[] {
	const modes = new Map(edits.map(({ path, text }) => [path, text === null ? null : "100644"]));
	const sorted = [...modes].sort(([a], [b]) => (a < b ? -1 : 1));
	return sorted.map(([path, mode]) => ({ path, mode, id: null }));
}

/** @returns warnings for the receipts of the range */
export type Publish = (range: CommitRange) => Promise<Problem[]>;

export type Branch = ReturnType<typeof openBranch>;

/** Other processes may push at any time; their commits are found and published. @param tip the published commit */
export function openBranch(
	base: StoreBase,
	catFile: Pick<CatFile, "read">,
	tip: string,
	publishRange: Publish,
) {
	const { repository, log } = base;
	let commit = tip;
	let behind: string | null = null;

	const readerAt = (at: string): CommitReader => openReader(catFile, at);

	/**
	 * @returns null if the repository does not have the commit: this may be another repository, or an older copy
	 * @throws {NotDescendant} if the branch has gone back or aside
	 */
	async function rangeSince(earlier: string): Promise<CommitRange | null> {
		if ((await catFile.read(earlier)) === null) return null;
		if (!(await isDescendant(repository, earlier, commit))) throw new NotDescendant(earlier, commit);
		return rangeBetween(earlier, commit);
	}

	/** @throws {NotDescendant} a standby does not follow a service that lost its layers */
	async function follow(): Promise<void> {
		const head = await readHead(repository, catFile);
		if (head === null) throw new GitDamage(`refs/heads/${servedBranch} is gone`);
		if (head !== commit) {
			behind = "a push is not published yet";
			if (!(await isDescendant(repository, commit, head))) throw new NotDescendant(commit, head);
			const range = await rangeBetween(commit, head);
			await publish(range);
			const layers = new Set(range.changes.flatMap(({ path }) => parseLayerPath(path)?.smallkey ?? []));
			log.info({ push: { from: range.from, to: head, layers: layers.size } });
		}
		behind = null;
	}

	/** Later commits cannot be read now, and are retried. */
	function goBackTo(earlier: string): void {
		commit = earlier;
		behind = "what the branch has cannot be read";
	}

	async function publish(range: CommitRange): Promise<Problem[]> {
		const warnings = await publishRange(range);
		commit = range.to;
		return warnings;
	}

	async function rangeBetween<From extends string | null>(from: From, to: string) {
		const listed =
			from === null ? listTree(repository, to, "layers/") : diffTree(repository, from, to, "layers");
		return { from, to, changes: await listed, at: readerAt(to), isPushed: true };
	}

	return {
		get commit() {
			return commit;
		},
		/** Why commits of the branch are not published yet, in a few words; null if all are published. */
		get behind() {
			return behind;
		},
		readerAt,
		firstRange: (): Promise<CommitRange> => rangeBetween(null, commit),
		rangeSince,
		follow,
		goBackTo,
		publish,
	};
}
