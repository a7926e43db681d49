import pLimit from "p-limit";
import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import type { Problem } from "../../registry/texts.ts";
import type { Edit, Log } from "../store.ts";
import { type CatFile, type CommitReader, openReader } from "./commands/cat-file.ts";
import { isDescendant, listCommits } from "./commands/commits.ts";
import { GitDamage, gitText, NotDescendant, readRecords } from "./commands/run.ts";
import { diffTree, listTree, type PathChange } from "./commands/tree.ts";
import { branchName, measured, type StoreBase } from "./writer.ts";

/** For a merge, its own changes are those against its first parent. */
const walk = ["log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--format=%H"];

const limitMs = 5_000;
const niceness = 5;

/**
 * Finds the last commit of a layer up to a commit of the branch: the merge, if a merge changed it. Publishers repeat all their
 * registrations, and so the whole history is read once, in the background, after the first look.
 */
export function openLastCommits(repository: string, log: Log) {
	const last = new Map<string, string>();
	/** The commit up to which the history is read. */
	let head: string | null = null;
	const inOrder = pLimit(1);

	const readUpTo = (tip: string) =>
		inOrder(async () => {
			if (tip === head) return;
			const changed = new Map<string, string>();
			let commit = "";
			const range = head === null ? tip : `${head}..${tip}`;
			const words = [...walk, "--root", "--name-only", "-z", range, "--", "layers"];
			// `<id>\0\n<path>\0<path>\0` of each commit, the newest first; only a path has a slash.
			for await (const fields of readRecords(repository, words, "\0", { niceness })) {
				for (const text of fields.map((field) => field.trim())) {
					if (text !== "" && !text.includes("/")) commit = text;
					const name = parseLayerPath(text);
					if (name?.kind === "registration" && !changed.has(name.smallkey))
						changed.set(name.smallkey, commit);
				}
			}
			for (const [smallkey, id] of changed) last.set(smallkey, id);
			head = tip;
		});

	return async (smallkey: string, tip: string): Promise<string | null> => {
		if (head !== null) {
			await readUpTo(tip);
			return last.get(smallkey) ?? null;
		}
		if (inOrder.activeCount === 0) readUpTo(tip).catch(log.error);
		// Without `--no-patch` git prints the patch of a merge.
		const words = [...walk, "-1", "--no-patch", tip, "--", layerPath(smallkey)];
		return (await gitText(repository, words, { limitMs })) || null;
	};
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

export interface Published {
	warnings: Problem[];
}

export type Publish = (range: CommitRange) => Promise<Published>;

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
		const head = await readTip();
		if (head !== commit) {
			behind = "a push is not published yet";
			if (!(await isDescendant(repository, commit, head))) throw new NotDescendant(commit, head);
			await measured(base, "push", async () => {
				const range = await rangeBetween(commit, head);
				await publish(range);
				const layers = new Set(range.changes.flatMap(({ path }) => parseLayerPath(path)?.smallkey ?? []));
				log.info({ push: { from: range.from, to: head, layers: layers.size } });
			});
		}
		behind = null;
	}

	async function commitsBehind(): Promise<number> {
		if ((await readTip()) === commit) return 0;
		return (await listCommits(repository, [`${commit}..refs/heads/${branchName}`])).length;
	}

	/** Later commits cannot be read now, and are retried. */
	function goBackTo(earlier: string): void {
		commit = earlier;
		behind = "what the branch has cannot be read";
	}

	async function publish(range: CommitRange): Promise<Published> {
		const published = await publishRange(range);
		commit = range.to;
		return published;
	}

	async function readTip(): Promise<string> {
		const head = await catFile.read(`refs/heads/${branchName}`);
		if (head?.type !== "commit") throw new GitDamage(`refs/heads/${branchName} is gone, or names no commit`);
		return head.id;
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
		commitsBehind,
		goBackTo,
		publish,
	};
}
