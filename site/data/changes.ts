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

/** Version of the files in `changes/`; a reader stops at a version that it does not know. */
const changesVersion = 2;

/** A commit as a piece lists it. */
interface ListedCommit {
	commit: string;
	/** When it was committed: ISO 8601 in UTC, whole seconds. */
	date: string;
	/** Sorted by smallkey, each once; left out if they are too many. */
	layers?: { smallkey: string; kind: ChangeKind }[];
	/** Smallkeys of layers for which a repair was proposed. */
	repairs?: string[];
	/** The number of the layers, if they are too many for a list. */
	many?: number;
}

/** One commit on the branch that touched layers. The newest ones have details. */
export interface CommitChanges extends Omit<ListedCommit, "many"> {
	layers: { smallkey: string; kind: ChangeKind; detail?: ChangeDetail }[];
}

/** Commits in one piece. */
export const commitsPerPiece = 50;

/** Number of pieces that are kept; a reader whose last piece is gone loads the index again. */
export const maxPieces = 200;

/** Most layers listed for one commit; if more have changed, readers load the index again. */
export const maxListedLayers = 200;

/** The file that describes the pieces: their number, and the newest commit. */
export const changesPath = "changes/index.json";

/** The content of `changes/index.json`. */
interface ChangesHead {
	version: number;
	/** Number of all commits that touched layers, removed pieces included; `commit` is the newest one. */
	commits: number;
	commit: string;
	date: string;
	/** Commits per piece: commit number `n`, counted from 0, is in `changes/<n / perPiece, rounded down>.json`. */
	perPiece: number;
	/** Number of the first piece that is kept. */
	first: number;
	/** For each kept piece, the first 12 digits of its first commit. */
	starts: string[];
}

const pathOf = (piece: number) => `changes/${piece}.json`;

/**
 * Renders the files of `changes/`, and the feed.
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
	const last = Math.floor((history.length - 1) / commitsPerPiece);
	const first = Math.max(0, last - maxPieces + 1);
	const starts: string[] = [];
	for (let piece = first; piece <= last; piece += 1) {
		const commits = history.slice(piece * commitsPerPiece, (piece + 1) * commitsPerPiece);
		starts.push((commits[0] as CommitChanges).commit.slice(0, 12));
		const lines = commits.map((one) => JSON.stringify(listed(one)));
		const text = `{"version":${changesVersion},"piece":${piece},"commits":[\n${lines.join(",\n")}\n]}\n`;
		files.set(pathOf(piece), text);
	}
	const head: ChangesHead = {
		...{ version: changesVersion, commits: history.length, commit: newest.commit, date: newest.date },
		...{ perPiece: commitsPerPiece, first, starts },
	};
	files.set(changesPath, `${JSON.stringify(head)}\n`);
	const changes = recentChanges(history);
	files.set(recentPath, recentText(changes));
	const titleIn = (smallkey: string, was?: Entry["title"]) => feedTitle(smallkey, titleOf(smallkey) ?? was);
	return files.set(feedPath, feedText(changes, titleIn, { path: feedPath, publicUrl, updated: newest.date }));
}

/** The last changes, newest first. @param history oldest first */
function recentChanges(history: readonly CommitChanges[]): RecentChange[] {
	const changes = history
		.slice(-maxRecent)
		.reverse()
		.flatMap((commit) => {
			const details = new Map(commit.layers.map(({ smallkey, detail }) => [smallkey, detail]));
			return changesOf(listed(commit)).map(({ what, ...change }): RecentChange => {
				const isRepair = "many" in what || what.kind === "repair";
				return { ...change, what: isRepair ? what : { ...what, ...details.get(what.smallkey) } };
			});
		});
	return changes.slice(0, maxRecent);
}

/** The changes of a commit, one for each layer. */
function changesOf({ commit, date, layers = [], repairs = [], many }: ListedCommit): RecentChange[] {
	const repaired = repairs.map((smallkey) => ({ smallkey, kind: "repair" as const }));
	const whats = many === undefined ? [...layers, ...repaired] : [{ many }];
	return whats.map((what) => ({ commit, date, what }));
}

/** A commit as its piece lists it: without the sender, who may have no public name. */
function listed({ commit, date, layers, repairs }: CommitChanges): ListedCommit {
	const isMany = layers.length > maxListedLayers;
	const plain = layers.map(({ smallkey, kind }) => ({ smallkey, kind }));
	const listedLayers = isMany ? { many: layers.length } : { layers: plain };
	return { commit, date, ...listedLayers, ...(!isMany && repairs && { repairs }) };
}
