import { tryJson } from "../registry/try-json.ts";
import { type Files, IndexBroken, type ReadFile } from "./chunks.ts";
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

/**
 * The files of `changes/` that differ after further commits.
 * @param read reads the files as they are; null: there are none
 * @param further oldest first
 * @param publicUrl address of the service with a slash at its end, or empty
 * @throws {IndexBroken} where the files are not of this version, or not whole: everything has to be built
 */
export function updateChanges(
	read: ReadFile | null,
	further: readonly CommitChanges[],
	publicUrl: string,
): Files {
	const newest = further.at(-1);
	if (!newest) return new Map();
	const head = read ? readChangesHead(read(changesPath)) : emptyHead;
	if (!head) throw new IndexBroken(`${changesPath}: not whole or of another version`);
	const pieces = readPieces(read, head);
	const last = Math.floor((head.commits + further.length - 1) / commitsPerPiece);
	const first = Math.max(head.first, last - keptPieces + 1);
	const starts = [...head.starts];
	const files: Files = new Map();
	for (let piece = head.first; read && piece < first; piece += 1) files.set(changesPiecePath(piece), null);
	for (const piece of addCommits(pieces, head.commits, further)) {
		const commits = pieces.get(piece) as ListedCommit[];
		starts[piece - head.first] = (commits[0] as ListedCommit).commit.slice(0, 12);
		if (piece >= first) files.set(changesPiecePath(piece), pieceText(piece, commits));
	}
	const kept = [...pieces].flatMap(([piece, commits]) => (piece < first ? [] : commits));
	const now: ChangesHead = {
		version: changesVersion,
		commits: head.commits + further.length,
		commit: newest.commit,
		date: newest.date,
		perPiece: commitsPerPiece,
		first,
		starts: starts.slice(first - head.first),
	};
	files.set(changesPath, `${JSON.stringify(now)}\n`);
	return files.set(feedPath, feedText(kept, newest.date, publicUrl));
}

/** The head, or null where there is none of this version. */
export function readChangesHead(text: string | null): ChangesHead | null {
	const value = tryJson(text ?? "") as ChangesHead | null;
	return value?.version === changesVersion && value.perPiece === commitsPerPiece ? value : null;
}

const emptyHead = { commits: 0, first: 0, starts: [] };

/** The commits of the last pieces by number, oldest first, as many as the feed needs. @throws {IndexBroken} */
function readPieces(
	read: ReadFile | null,
	{ first, starts }: Pick<ChangesHead, "first" | "starts">,
): Map<number, ListedCommit[]> {
	let pieces: [number, ListedCommit[]][] = [];
	for (let piece = first + starts.length - 1; piece >= first; piece -= 1) {
		const found = tryJson(read?.(changesPiecePath(piece)) ?? "") as { commits?: ListedCommit[] } | null;
		if (!Array.isArray(found?.commits)) throw new IndexBroken(`${changesPiecePath(piece)}: not whole`);
		pieces = [[piece, found.commits], ...pieces];
		if (feedEntries(pieces.flatMap(([, some]) => some)).length >= feedLength) break;
	}
	return new Map(pieces);
}

/** Adds commits to pieces. @param count commits before them @returns the numbers of the pieces that differ */
function addCommits(
	pieces: Map<number, ListedCommit[]>,
	count: number,
	further: readonly CommitChanges[],
): Set<number> {
	const changed = new Set<number>();
	let bytes = 0;
	for (const [at, one] of further.entries()) {
		const number = Math.floor((count + at) / commitsPerPiece);
		const piece = pieces.get(number) ?? [];
		if (!changed.has(number)) bytes = piece.map((one) => JSON.stringify(one)).join("").length;
		const isMany = one.layers.length > maxListed || bytes + JSON.stringify(one).length > maxPieceBytes;
		const listed = isMany ? { commit: one.commit, date: one.date, many: one.layers.length } : one;
		bytes += JSON.stringify(listed).length;
		pieces.set(number, [...piece, listed]);
		changed.add(number);
	}
	return changed;
}

function pieceText(piece: number, commits: readonly ListedCommit[]): string {
	return `{"version":${changesVersion},"piece":${piece},"commits":[\n${commits.map((one) => JSON.stringify(one)).join(",\n")}\n]}\n`;
}

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
function feedText(commits: readonly ListedCommit[], updated: string, publicUrl: string): string {
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
<updated>${updated}</updated>
${self}${entries.join("\n")}
</feed>
`;
}
