import { isSenderId, type PublicName } from "../../registry/sender.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import {
	believedMs,
	isShallow,
	type LoggedCommit,
	personText,
	readLog,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { serviceIdentity } from "../../store/naming.ts";
import { type ChangeKind, maxRecent, type RecentChange } from "./entries.ts";
import type { KnownOfLayer } from "./entry.ts";

type HistoryCommit = ReturnType<typeof historyCommit>;

export type CommitChanges = Pick<HistoryCommit, "commit" | "date" | "layers">;

const maxListedLayers = 200;

const walk = ["--first-parent", "--diff-merges=first-parent", "--reverse"];

/**
 * A merge is one commit: only first parents are read.
 * @param range a commit, or `<id>..<id>`
 * @param afterMs the believed date of the commit before the range
 * @returns with the believed date of the last commit; null if the repository is a shallow clone
 */
export async function readHistory(
	repository: string,
	range: string,
	afterMs = 0,
	nowMs: number = Date.now(),
) {
	if (await isShallow(repository)) return null;
	const commits: HistoryCommit[] = [];
	let dateMs = afterMs;
	for await (const logged of readLog(repository, [...walk, range, "--", "layers"])) {
		dateMs = believedMs(logged.committer.timeMs, dateMs, nowMs);
		const commit = historyCommit(logged, dateMs);
		if (commit.layers.length > 0) commits.push(commit);
	}
	return { commits, dateMs };
}

export function historyCommit(
	{ id, committer, message, files }: LoggedCommit,
	dateMs: number = committer.timeMs,
) {
	const kinds = new Map<string, ChangeKind>();
	const registered = new Set<string>();
	for (const { status, path } of files) {
		const { smallkey = "", part = "" } = parseLayerPath(path) ?? {};
		// A registration adds or removes a layer; a description alone only changes it.
		if (part === "registration") {
			registered.add(smallkey);
			kinds.set(smallkey, ({ A: "added", D: "removed" } as const)[status] ?? "changed");
		} else if (part !== "" && !kinds.has(smallkey)) kinds.set(smallkey, "changed");
	}
	// Only trailers of the service's commits are read: a pushed commit may have any trailer.
	const isOurs = personText(committer) === serviceIdentity;
	const sender = (isOurs && trailersOf(message, "Sender").at(-1)) || "";
	const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
	return {
		commit: id,
		/** ISO 8601 in UTC, whole seconds. */
		date: `${new Date(dateMs).toISOString().slice(0, 19)}Z`,
		layers: sorted.map(([smallkey, kind]) => ({ smallkey, kind })),
		/** Smallkeys whose registration it wrote or deleted. */
		registered,
		/** Null for a commit that did not arrive by a request. */
		sender: isSenderId(sender) ? sender : null,
	};
}

/** Adds who registered the layer last. @param names sender's id → public name */
export function addLastChanges(
	last: Map<string, KnownOfLayer>,
	commits: readonly HistoryCommit[],
	names: Readonly<Record<string, PublicName>> = {},
): void {
	for (const { commit, date, layers, registered, sender: id } of commits) {
		const name = id !== null && Object.hasOwn(names, id) ? names[id] : undefined;
		const changed = { commit: commit.slice(0, commitDigits), date };
		for (const { smallkey } of layers) {
			const sender = registered.has(smallkey) ? name : last.get(smallkey)?.sender;
			last.set(smallkey, { changed, ...(sender && { sender }) });
		}
	}
}

/** All 40 would make an entry a seventh longer. */
const commitDigits = 12;

export function recentChanges(
	commits: readonly CommitChanges[],
	earlier: readonly RecentChange[] = [],
): RecentChange[] {
	const changes = commits
		.slice(-maxRecent)
		.reverse()
		.flatMap(({ commit, date, layers }) => {
			const whats = layers.length > maxListedLayers ? [{ many: layers.length }] : layers;
			return whats.map((what) => ({ commit, date, what }));
		});
	return [...changes, ...earlier].slice(0, maxRecent);
}
