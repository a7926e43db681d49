import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import type { Problem } from "../../registry/texts.ts";
import { visible } from "../../registry/untrusted-text.ts";
import { type Edit, type Log, serviceIdentity } from "../store.ts";
import { type CatFile, type CommitReader, openReader } from "./commands/cat-file.ts";
import { isDescendant, listCommits, personText, readCommits } from "./commands/commits.ts";
import { GitDamage, gitText, NotDescendant, readRecords } from "./commands/run.ts";
import { diffTree, listTree, type PathChange } from "./commands/tree.ts";
import type { UsedRequests } from "./used-requests.ts";
import { branchName, measured, type StoreBase } from "./writer.ts";

/** For a merge, its own changes are those against its first parent. */
const walk = ["log", "--first-parent", "--diff-merges=first-parent", "--no-renames", "--format=%H"];

const limitMs = 5_000;
const niceness = 5;

/**
 * Finds the last commits of layers: the merge, if a merge changed it. Publishers repeat all their registrations, and so
 * the whole history is read once, in the background, after the first look.
 */
export function openLastCommits(repository: string, log: Log) {
	let last = new Map<string, string>();
	let hasBegun = false;

	async function read(range: string, isNewer: boolean): Promise<void> {
		const noted = last;
		const changed = new Map<string, string>();
		let commit = "";
		const words = [...walk, "--root", "--name-only", "-z", range, "--", "layers"];
		// `<id>\0\n<path>\0<path>\0` of each commit, the newest first; only a path has a slash.
		for await (const fields of readRecords(repository, words, "\0", { niceness })) {
			for (const text of fields.map((field) => field.trim())) {
				if (text !== "" && !text.includes("/")) commit = text;
				const name = parseLayerPath(text);
				if (name?.kind === "registration" && !changed.has(name.smallkey)) changed.set(name.smallkey, commit);
			}
		}
		for (const [smallkey, id] of changed) if (isNewer || !noted.has(smallkey)) noted.set(smallkey, id);
	}

	return {
		note(edits: readonly { path: string }[], commit: string): void {
			for (const { path } of edits) {
				const name = parseLayerPath(path);
				if (name?.kind === "registration") last.set(name.smallkey, commit);
			}
		},

		/** @returns false if git failed: they have to be forgotten once the commits are served */
		async follow(from: string, to: string): Promise<boolean> {
			if (!hasBegun && last.size === 0) return true;
			const reading = read(`${from}..${to}`, true).then(() => true);
			return reading.catch((error) => {
				log.error(error);
				return false;
			});
		},

		/** Git is asked again. What is still being read may be of an older tip, and is dropped. */
		forget(): void {
			last = new Map();
			hasBegun = false;
		},

		async find(smallkey: string, tip: string): Promise<string | null> {
			const noted = last;
			const id = noted.get(smallkey);
			if (id) return id;
			// Without `--no-patch` git prints the patch of a merge.
			const words = [...walk, "-1", "--no-patch", tip, "--", layerPath(smallkey)];
			const isFirst = !hasBegun;
			// From now on pushes are followed: one may come while git looks.
			hasBegun = true;
			try {
				return (await gitText(repository, words, { limitMs })) || null;
			} finally {
				if (isFirst && noted === last) read(tip, false).catch(log.error);
			}
		},
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
	requests: Pick<UsedRequests, "readCommitted">,
	lastCommits: Pick<ReturnType<typeof openLastCommits>, "follow" | "forget">,
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
		const range = await rangeBetween(earlier, commit);
		// Commits may have been pushed while the service was down.
		report(range);
		return range;
	}

	/** @throws {NotDescendant} a standby does not follow a service that lost its layers */
	async function follow(): Promise<void> {
		const head = await readTip();
		if (head !== commit) {
			behind = "a push is not published yet";
			if (!(await isDescendant(repository, commit, head))) throw new NotDescendant(commit, head);
			await measured(base, "push", async () => {
				const range = await rangeBetween(commit, head);
				await requests.readCommitted(head);
				const isNoted = await lastCommits.follow(commit, head);
				await publish(range);
				if (!isNoted) lastCommits.forget();
				report(range);
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

	function report(range: CommitRange & { from: string }): void {
		void describePush(repository, range).then((push) => push && log.info({ push }), log.error);
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

const maxCommits = 1_000;
const maxListed = 10;

const maxName = 100;

async function describePush(repository: string, { from, to, changes }: CommitRange & { from: string }) {
	const ids = await listCommits(repository, [`${from}..${to}`]);
	const people = new Set<string>();
	let isPushed = false;
	for await (const { author, committer } of readCommits(repository, ids.slice(0, maxCommits))) {
		isPushed ||= personText(committer) !== serviceIdentity;
		for (const person of [author, committer]) people.add(visible(personText(person)).slice(0, maxName));
	}
	if (!isPushed) return null;
	return {
		from,
		to,
		commits: ids.length,
		newest: ids.slice(0, maxListed),
		people: [...people].slice(0, maxListed),
		layers: new Set(changes.flatMap(({ path }) => parseLayerPath(path)?.smallkey ?? [])).size,
	};
}
