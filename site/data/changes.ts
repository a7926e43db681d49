import { tryJson } from "../../registry/try-json.ts";
import { feedPath } from "../static/addresses.ts";
import { feedText, feedTitle, titlesIn } from "../static/feed.ts";
import { type Files, IndexBroken, type ReadFile } from "./chunks.ts";
import type { Entry } from "./entries.ts";
import {
	type ChangeDetail,
	type ChangeKind,
	maxRecent,
	parseRecent,
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

/** The titles of the layers as they are now. */
export interface Titles {
	/** Null or undefined for a layer that was removed. */
	of(smallkey: string): Entry["title"] | null | undefined;
	/** Whether a title may differ from that in the existing feed; the titles of other layers are taken from there. */
	mayDiffer(smallkey: string): boolean;
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

/** The piece of a commit. @param number of the commit, counted from 0 */
const pieceOf = (number: number) => Math.floor(number / commitsPerPiece);

/**
 * Renders the files of `changes/`, and the feed, that differ after further commits; null for a removed file.
 * @param read reads the existing files; null if there are none
 * @param further oldest first
 * @param publicUrl address of the service with a slash at its end, or empty
 * @throws {IndexBroken} if the existing files are incomplete or of another version: everything has to be built
 */
export function updateChanges(
	read: ReadFile | null,
	further: readonly CommitChanges[],
	publicUrl: string,
	titles: Titles,
) {
	const files: Files = new Map();
	const newest = further.at(-1);
	if (!newest) return files;
	const head = read ? readChangesHead(read(changesPath)) : { commits: 0, first: 0, starts: [] };
	const feed = read ? read(feedPath) : "";
	if (!head || feed === null) throw new IndexBroken(`${changesPath}: not whole or of another version`);
	const commits = head.commits + further.length;
	const last = pieceOf(commits - 1);
	const first = Math.max(head.first, last - maxPieces + 1);
	for (let piece = head.first; read && piece < first; piece += 1) files.set(pathOf(piece), null);
	const starts = [...head.starts];
	/** The commits of a piece: those that were there, and the further ones. */
	const inPiece = (piece: number): ListedCommit[] => {
		const start = piece * commitsPerPiece;
		const before = start < head.commits ? readPiece(read, piece) : [];
		const added = further.slice(Math.max(0, start - head.commits), start + commitsPerPiece - head.commits);
		return start + commitsPerPiece <= head.commits ? before : [...before, ...added.map(listed)];
	};
	for (let piece = Math.max(pieceOf(head.commits), first); piece <= last; piece += 1) {
		const lines = inPiece(piece).map((one) => JSON.stringify(one));
		const text = `{"version":${changesVersion},"piece":${piece},"commits":[\n${lines.join(",\n")}\n]}\n`;
		files.set(pathOf(piece), text);
	}
	for (const [at, { commit }] of further.entries()) {
		if ((head.commits + at) % commitsPerPiece === 0) starts.push(commit.slice(0, 12));
	}
	const now: ChangesHead = {
		...{ version: changesVersion, commits, commit: newest.commit, date: newest.date },
		...{ perPiece: commitsPerPiece, first, starts: starts.slice(first - head.first) },
	};
	files.set(changesPath, `${JSON.stringify(now)}\n`);
	const changes = recentChanges(read, further);
	files.set(recentPath, recentText(changes));
	const known = titlesIn(feed);
	const titleIn = (smallkey: string, was?: Entry["title"]) =>
		(titles.mayDiffer(smallkey) ? undefined : known.get(smallkey)) ??
		feedTitle(smallkey, titles.of(smallkey) ?? was);
	return files.set(feedPath, feedText(changes, titleIn, { path: feedPath, publicUrl, updated: newest.date }));
}

/**
 * The last changes after further commits, newest first.
 * @param further oldest first
 * @throws {IndexBroken} if the existing file is incomplete or of another version
 */
function recentChanges(read: ReadFile | null, further: readonly CommitChanges[]): RecentChange[] {
	const before = read ? parseRecent(read(recentPath)) : [];
	if (!before) throw new IndexBroken(`${recentPath}: not whole or of another version`);
	const added = further
		.slice(-maxRecent)
		.reverse()
		.flatMap((commit) => {
			const details = new Map(commit.layers.map(({ smallkey, detail }) => [smallkey, detail]));
			return changesOf(listed(commit)).map(({ what, ...change }): RecentChange => {
				const isRepair = "many" in what || what.kind === "repair";
				return { ...change, what: isRepair ? what : { ...what, ...details.get(what.smallkey) } };
			});
		});
	return [...added, ...before].slice(0, maxRecent);
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

/** Parses `changes/index.json`; null if it is missing or of another version. */
export function readChangesHead(text: string | null): ChangesHead | null {
	const value = tryJson(text ?? "") as ChangesHead | null;
	return value?.version === changesVersion && value.perPiece === commitsPerPiece ? value : null;
}

/** The commits of a piece, oldest first. @throws {IndexBroken} */
function readPiece(read: ReadFile | null, piece: number): ListedCommit[] {
	const found = tryJson(read?.(pathOf(piece)) ?? "") as { commits?: ListedCommit[] } | null;
	if (!Array.isArray(found?.commits)) throw new IndexBroken(`${pathOf(piece)}: not whole`);
	return found.commits;
}
