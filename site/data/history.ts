import { healthPath, repairTrailer } from "../../registry/health.ts";
import { parseLayerPath, parseSmallkey } from "../../registry/smallkey.ts";
import type { PublicName } from "../../registry/timestamp.ts";
import { isSenderId } from "../../registry/timestamp.ts";
import {
	believedMs,
	isShallow,
	type LoggedCommit,
	personText,
	readLog,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { serviceIdentity } from "../../store/store.ts";
import type { CommitChanges } from "./changes.ts";
import type { KnownOfLayer } from "./entry.ts";
import type { ChangeKind } from "./recent.ts";

/** A commit on the branch that touched layers, or for which a repair was proposed. */
export interface HistoryCommit extends CommitChanges {
	/** Id of the sender whose request the service committed; null for a commit that arrived in another way. */
	sender: string | null;
	/** The smallkeys whose registration the commit wrote or deleted, not only their description. */
	registered: ReadonlySet<string>;
}

const walk = ["--first-parent", "--diff-merges=first-parent", "--reverse"];

/**
 * Reads the commits that touched layers, oldest first: first parents only, so a merge is one commit.
 * @param nowMs the clock: no date after it is believed
 * @returns null if the repository is a shallow clone
 */
export async function readHistory(
	repository: string,
	commit: string,
	nowMs: number = Date.now(),
): Promise<HistoryCommit[] | null> {
	if (await isShallow(repository)) return null;
	const history: HistoryCommit[] = [];
	let dateMs = 0;
	for await (const logged of readLog(repository, [...walk, commit, "--", "layers"])) {
		dateMs = believedMs(logged.committer.timeMs, dateMs, nowMs);
		const touching = historyCommit(logged, dateMs);
		if (touching.layers.length > 0 || touching.repairs) history.push(touching);
	}
	return history;
}

/** What a commit did to layers, and who asked for it. */
export function historyCommit(
	{ id, committer, message, files }: LoggedCommit,
	dateMs: number = committer.timeMs,
): HistoryCommit {
	const kinds = new Map<string, ChangeKind>();
	const registered = new Set<string>();
	for (const { status, path } of files) {
		const name = parseLayerPath(path);
		if (!name) continue;
		// A registration adds or removes a layer; a description alone only changes it.
		const isWhole = name.kind === "registration";
		const kind = isWhole && status === "A" ? "added" : isWhole && status === "D" ? "removed" : "changed";
		if (isWhole || !kinds.has(name.smallkey)) kinds.set(name.smallkey, kind);
		if (isWhole) registered.add(name.smallkey);
	}
	// Only trailers of the service's commits are read: a pushed commit may have any trailer.
	const isOurs = personText(committer) === serviceIdentity;
	const valuesOf = (trailer: string) => (isOurs ? trailersOf(message, trailer) : []);
	const isHealth = files.some(({ path }) => path === healthPath);
	const repairs = isHealth ? valuesOf(repairTrailer).filter((smallkey) => parseSmallkey(smallkey)) : [];
	const sender = valuesOf("Sender").at(-1) ?? "";
	const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
	return {
		commit: id,
		date: `${new Date(dateMs).toISOString().slice(0, 19)}Z`,
		layers: sorted.map(([smallkey, kind]) => ({ smallkey, kind })),
		...(repairs.length > 0 && { repairs }),
		registered,
		sender: isSenderId(sender) ? sender : null,
	};
}

/**
 * The last change of each layer that the history touched, with the public name of the sender who registered it last.
 * @param names sender's id → public name
 */
export function lastChanges(
	history: readonly HistoryCommit[],
	names: Readonly<Record<string, PublicName>> = {},
): Map<string, KnownOfLayer> {
	const last = new Map<string, KnownOfLayer>();
	for (const { commit, date, layers, registered, sender } of history) {
		const name = sender !== null && Object.hasOwn(names, sender) ? names[sender] : undefined;
		for (const { smallkey } of layers) {
			const known = registered.has(smallkey) ? name : last.get(smallkey)?.sender;
			last.set(smallkey, { changed: { commit, date }, sender: known });
		}
	}
	return last;
}
