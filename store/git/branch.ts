import { parseLayerPath } from "../../registry/smallkey.ts";
import type { Problem } from "../../registry/texts.ts";
import { visible } from "../../registry/untrusted-text.ts";
import { serviceIdentity } from "../store.ts";
import { branchName, measured, type StoreBase } from "./base.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { isDescendant, listCommits, personText, readCommits } from "./commands/commits.ts";
import { GitDamage, NotDescendant } from "./commands/run.ts";
import { diffTree, listTree, type PathChange } from "./commands/tree.ts";
import { reasonOf } from "./health.ts";
import { type CommitReader, openReader } from "./reader.ts";
import type { UsedRequests } from "./used-requests.ts";

export interface CommitRange {
	/** The commit that was published before; null: no commit was, and everything is new. */
	from: string | null;
	to: string;
	/** The paths under `layers/` that differ, sorted. */
	changes: readonly PathChange[];
	at: CommitReader;
	/** Whether other processes have pushed commits of it. */
	isPushed: boolean;
}

export interface Published {
	/** For the senders; empty if all files are written. */
	warnings: Problem[];
}

/** Publishes a range: it can be read once the promise resolves. */
export type Publish = (range: CommitRange) => Promise<Published>;

export type Branch = ReturnType<typeof openBranch>;

/**
 * Opens the branch that is served. Other processes may push to it at any time; their commits are found and published.
 * @param tip the published commit
 * @param requests gets the requests that pushed commits carry out
 */
export function openBranch(
	base: StoreBase,
	catFile: Pick<CatFile, "read">,
	tip: string,
	requests: Pick<UsedRequests, "readCommitted">,
	publishRange: Publish,
) {
	const { repository, log } = base;
	let commit = tip;
	/** Why commits of the branch are not published yet, in a few words; null if all are published. */
	let behind: string | null = null;

	const readerAt = (at: string): CommitReader => openReader(catFile, at);

	const firstRange = (): Promise<CommitRange> => rangeBetween(null, commit);

	/**
	 * The range from an earlier commit to the published one.
	 * @returns null if the repository does not have that commit: this may be another repository, or an older copy
	 * @throws {NotDescendant} if it has that commit, and the branch has gone back or aside
	 */
	async function rangeSince(earlier: string): Promise<CommitRange | null> {
		if ((await catFile.read(earlier)) === null) return null;
		if (!(await isDescendant(repository, earlier, commit))) throw new NotDescendant(earlier, commit);
		const range = await rangeBetween(earlier, commit);
		// The range may have commits that were pushed while the service was down.
		report(range);
		return range;
	}

	/**
	 * Publishes commits that other processes have pushed. @returns whether there were any
	 * @throws {NotDescendant} if the branch has gone back or aside: a standby does not follow a service that lost its layers
	 */
	async function follow(): Promise<boolean> {
		try {
			const head = await readTip();
			const isMoved = head !== commit;
			if (isMoved) {
				behind = "a push is being published";
				if (!(await isDescendant(repository, commit, head))) throw new NotDescendant(commit, head);
				await measured(base, "push", async () => {
					const range = await rangeBetween(commit, head);
					// Its commits may carry out signed requests.
					await requests.readCommitted(head);
					await publish(range);
					report(range);
				});
			}
			behind = null;
			return isMoved;
		} catch (error) {
			behind = `a push cannot be served: ${reasonOf(error)}`;
			throw error;
		}
	}

	/** How many commits of the branch are not published yet. @throws {GitFailure} if git fails */
	async function commitsBehind(): Promise<number> {
		if ((await readTip()) === commit) return 0;
		return (await listCommits(repository, [`${commit}..refs/heads/${branchName}`])).length;
	}

	/** Goes back to an earlier commit of the branch: later commits cannot be read now, and are retried. */
	function goBackTo(earlier: string): void {
		commit = earlier;
		behind = "what the branch has cannot be read";
	}

	async function publish(range: CommitRange): Promise<Published> {
		const published = await publishRange(range);
		commit = range.to;
		return published;
	}

	/** Id of the branch's last commit. @throws {GitDamage} if the branch was removed, or its commit is missing */
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

	/** Writes a line to the log about a range with commits that other processes have pushed. */
	function report(range: CommitRange & { from: string }): void {
		void describePush(repository, range).then(
			(push) => push && log.info({ push }),
			(error) => log.error(error),
		);
	}

	return {
		get commit() {
			return commit;
		},
		get behind() {
			return behind;
		},
		readerAt,
		firstRange,
		rangeSince,
		follow,
		commitsBehind,
		goBackTo,
		publish,
	};
}

/** How many commits are read, and how many commits and people are listed. The history has the others. */
const maxCommits = 1_000;
const maxListed = 10;

const maxName = 100;

/** Describes commits that other processes have pushed, for a line of the log; null if the service has made all of them. */
async function describePush(repository: string, { from, to, changes }: CommitRange & { from: string }) {
	if (from === to) return null;
	const ids = await listCommits(repository, [`${from}..${to}`]);
	const people = new Set<string>();
	let isPushed = false;
	for await (const { author, committer } of readCommits(repository, ids.slice(0, maxCommits))) {
		isPushed ||= personText(committer) !== serviceIdentity;
		for (const person of [author, committer]) people.add(visible(personText(person)).slice(0, maxName));
	}
	const layers = new Set(changes.flatMap(({ path }) => parseLayerPath(path)?.smallkey ?? []));
	const lists = { newest: ids.slice(0, maxListed), people: [...people].slice(0, maxListed) };
	return isPushed ? { from, to, commits: ids.length, ...lists, layers: layers.size } : null;
}
