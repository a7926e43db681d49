import { feedPath } from "../static/addresses.ts";
import { feedText, feedTitle } from "../static/feed.ts";
import type { Files } from "./chunks.ts";
import type { Entry } from "./entries.ts";
import {
	type ChangeDetail,
	type ChangeKind,
	maxRecent,
	type RecentChange,
	recentPath,
	recentText,
} from "./recent.ts";

/** One commit on the branch that touched layers. The newest ones have details. */
export interface CommitChanges {
	commit: string;
	/** When it was committed: ISO 8601 in UTC, whole seconds. */
	date: string;
	/** Sorted by smallkey, each once. */
	layers: { smallkey: string; kind: ChangeKind; detail?: ChangeDetail }[];
	/** Smallkeys of layers for which a repair was proposed. */
	repairs?: string[];
}

/** Most layers listed for one commit; of more, only the number is. */
export const maxListedLayers = 200;

/**
 * Renders the last changes as JSON and as a feed.
 * @param history oldest first
 * @param publicUrl address of the service with a slash at its end, or empty
 * @param titleOf the title of a layer as it is now; undefined if there is none
 */
export function changesFiles(
	history: readonly CommitChanges[],
	publicUrl: string,
	titleOf: (smallkey: string) => Entry["title"] | undefined,
): Files {
	const files: Files = new Map();
	const newest = history.at(-1);
	if (!newest) return files;
	const changes = history.slice(-maxRecent).reverse().flatMap(changesOf).slice(0, maxRecent);
	const titleIn = (smallkey: string, was?: Entry["title"]) => feedTitle(smallkey, titleOf(smallkey) ?? was);
	return files
		.set(recentPath, recentText(changes))
		.set(feedPath, feedText(changes, titleIn, publicUrl, newest.date));
}

/** The changes of a commit, one for each layer. */
function changesOf({ commit, date, layers, repairs = [] }: CommitChanges): RecentChange[] {
	const changed = layers.map(({ detail, ...layer }) => ({ ...layer, ...detail }));
	const repaired = repairs.map((smallkey) => ({ smallkey, kind: "repair" as const }));
	const whats = layers.length > maxListedLayers ? [{ many: layers.length }] : [...changed, ...repaired];
	return whats.map((what) => ({ commit, date, what }));
}
