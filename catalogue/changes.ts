import type { Files, ReadFile } from "./chunks.ts";
import { feedPath } from "./static/addresses.ts";
import { escapeHtml } from "./static/html.ts";

/** Version of these files; a reader that finds another one reads no further. */
export const changesVersion = 2;

/** What became of a layer in one commit. */
export type ChangeKind = "added" | "changed" | "removed";

/** One commit on the branch that touched layers. */
export interface CommitChanges {
	commit: string;
	/** When it was committed: ISO 8601 in UTC, whole seconds. */
	date: string;
	/** Sorted by smallkey, each once. */
	layers: { smallkey: string; kind: ChangeKind }[];
	/** Smallkeys of layers for which a repair was proposed. */
	repairs?: string[];
}

/** A commit as `changes/` has it. If too many layers changed, it has their number instead of their smallkeys. */
export type ListedCommit = CommitChanges | { commit: string; date: string; many: number };

/** Commits in one piece. */
export const commitsPerPiece = 50;

/** Most layers of one commit that are listed: with more, readers load the index again. */
export const maxListed = 200;

/** Most bytes of the commits in a piece; a commit beyond that has only the number of its layers. */
const maxPieceBytes = 11_000;

/** Pieces that are kept: a reader that comes after a longer time loads the index again. */
export const keptPieces = 200;

/** Changes in the feed. */
const feedLength = 100;

/** The file that says how far the changes go. */
export const changesPath = "changes/index.json";

/** The content of `changes/index.json`. */
export interface ChangesHead {
	version: number;
	/** Commits that touched layers, from the first one on; the last one is `commit`. */
	commits: number;
	commit: string;
	date: string;
	/** Commits in a piece: commit number `n`, from 0 on, is in `changes/<n / perPiece, rounded down>.json`. */
	perPiece: number;
	/** Number of the first piece that is kept. */
	first: number;
	/** The first 12 digits of the commit with which each kept piece starts. */
	starts: string[];
}

/** The file of a piece. */
export function changesPiecePath(piece: number): string {
	return `changes/${piece}.json`;
}

/** Settings of the feed. */
export interface FeedSettings {
	/** Address of the service with a slash at its end, or empty. */
	publicUrl: string;
}

/**
 * The files of `changes/` that differ after further commits.
 * @param read reads the files as they are; null: there are none
 * @param further oldest first
 * @returns null where the files are not of this version, or not whole: everything has to be built
 */
export function updateChanges(
	read: ReadFile | null,
	further: readonly CommitChanges[],
	settings: FeedSettings,
): Files | null {
	if (further.length === 0) return new Map();
	const state = read ? readState(read) : emptyState;
	return state && written(state, further, settings);
}

/** The head, or null where there is none of this version. */
export function readChangesHead(text: string | null): ChangesHead | null {
	const value = parseObject(text) as ChangesHead | null;
	return value?.version === changesVersion && value.perPiece === commitsPerPiece ? value : null;
}

/** A JSON object; null where the text is none. */
function parseObject(text: string | null): Record<string, unknown> | null {
	try {
		return JSON.parse(text ?? "") as Record<string, unknown> | null;
	} catch {
		return null;
	}
}

/** The last commits, as far as the feed and the open piece need them. */
interface State {
	commits: number;
	/** Number of the commit that `recent` starts with; the first one of a piece. */
	from: number;
	recent: ListedCommit[];
	/** First commits of the kept pieces. */
	first: number;
	starts: string[];
}

const emptyState: State = { commits: 0, from: 0, recent: [], first: 0, starts: [] };

function readState(read: ReadFile): State | null {
	const head = readChangesHead(read(changesPath));
	if (!head) return null;
	const last = head.first + head.starts.length - 1;
	const recent: ListedCommit[] = [];
	let from = last;
	for (let piece = last; piece >= head.first; piece -= 1) {
		const commits = parseObject(read(changesPiecePath(piece)))?.commits;
		if (!Array.isArray(commits)) return null;
		recent.unshift(...(commits as ListedCommit[]));
		from = piece;
		if (feedEntries(recent).length >= feedLength) break;
	}
	return {
		commits: head.commits,
		from: from * commitsPerPiece,
		recent,
		first: head.first,
		starts: head.starts,
	};
}

function written(state: State, further: readonly CommitChanges[], settings: FeedSettings): Files {
	const files: Files = new Map();
	const commits = state.commits + further.length;
	const all = [...state.recent, ...further];
	const starts = [...state.starts];
	const firstTouched = Math.floor(state.commits / commitsPerPiece);
	const last = Math.floor((commits - 1) / commitsPerPiece);
	const listed: ListedCommit[] = state.recent.slice(0, firstTouched * commitsPerPiece - state.from);
	for (let piece = firstTouched; piece <= last; piece += 1) {
		const at = piece * commitsPerPiece - state.from;
		const inPiece = bounded(all.slice(at, at + commitsPerPiece));
		listed.push(...inPiece);
		starts[piece - state.first] = (inPiece[0] as ListedCommit).commit.slice(0, 12);
		files.set(changesPiecePath(piece), pieceText(piece, inPiece));
	}
	const first = Math.max(state.first, last - keptPieces + 1);
	for (let piece = state.first; piece < first; piece += 1) files.set(changesPiecePath(piece), null);
	if (state.commits === 0)
		for (let piece = 0; piece < first; piece += 1) files.delete(changesPiecePath(piece));
	const { commit, date } = listed.at(-1) as ListedCommit;
	const head: ChangesHead = {
		version: changesVersion,
		commits,
		commit,
		date,
		perPiece: commitsPerPiece,
		first,
		starts: starts.slice(first - state.first),
	};
	files.set(changesPath, `${JSON.stringify(head)}\n`);
	const kept = Math.max(0, first * commitsPerPiece - state.from);
	files.set(feedPath, feedText(listed.slice(kept), settings));
	return files;
}

/** The commits of a piece, each with as many words as the piece has room for. */
function bounded(commits: readonly ListedCommit[]): ListedCommit[] {
	let bytes = 0;
	return commits.map((one) => {
		const isMany =
			"layers" in one && (one.layers.length > maxListed || bytes + commitText(one).length > maxPieceBytes);
		const listed = isMany ? { commit: one.commit, date: one.date, many: one.layers.length } : one;
		bytes += commitText(listed).length;
		return listed;
	});
}

function commitText(one: ListedCommit): string {
	return JSON.stringify(one);
}

function pieceText(piece: number, commits: readonly ListedCommit[]): string {
	return `{"version":${changesVersion},"piece":${piece},"commits":[\n${commits.map(commitText).join(",\n")}\n]}\n`;
}

/** One entry of the feed. */
interface FeedEntry {
	commit: string;
	date: string;
	smallkey: string;
	kind: ChangeKind | "repair";
}

/** The last changes, newest first. */
function feedEntries(commits: readonly ListedCommit[]): FeedEntry[] {
	const entries: FeedEntry[] = [];
	for (const one of [...commits].reverse()) {
		if (!("layers" in one)) continue;
		const repairs = (one.repairs ?? []).map((smallkey) => ({ smallkey, kind: "repair" as const }));
		for (const { smallkey, kind } of [...one.layers, ...repairs]) {
			entries.push({ commit: one.commit, date: one.date, smallkey, kind });
			if (entries.length === feedLength) return entries;
		}
	}
	return entries;
}

const kindWords: Record<FeedEntry["kind"], string> = {
	added: "added · ajoutée",
	changed: "changed · modifiée",
	removed: "removed · retirée",
	repair: "a repair is proposed · une réparation est proposée",
};

/**
 * The last 100 changes as an Atom feed (RFC 4287). Its ids are made from the commits, so that they are the same on
 * whatever host the feed stands; a smallkey and a commit hold no character that XML knows.
 */
function feedText(commits: readonly ListedCommit[], { publicUrl }: FeedSettings): string {
	const { date } = commits.at(-1) as ListedCommit;
	const base = escapeHtml(publicUrl);
	const entries = feedEntries(commits).map(
		({ commit, date, smallkey, kind }) => `<entry>
<id>urn:x-layer-change:${commit}:${encodeURIComponent(smallkey)}</id>
<title>${smallkey}: ${kindWords[kind]}</title>
<updated>${date}</updated>
<link href="${base || "../"}en/?layer=${encodeURIComponent(smallkey)}" hreflang="en"/>
<link rel="alternate" href="${base || "../"}fr/?layer=${encodeURIComponent(smallkey)}" hreflang="fr"/>
</entry>`,
	);
	const self = base ? `<link rel="self" href="${base}${feedPath}"/>\n` : "";
	return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:x-layer-changes</id>
<title>Map layers: changes · Couches cartographiques : modifications</title>
<author><name>Map layer registrations · Inscriptions de couches</name></author>
<updated>${date}</updated>
${self}${entries.join("\n")}
</feed>
`;
}
