import { tryJson } from "../registry/try-json.ts";
import { type Files, IndexBroken, type ReadFile } from "./chunks.ts";
import { feedPath } from "./static/addresses.ts";
import { escapeHtml } from "./static/html.ts";

/** Version of the files in `changes/`; a reader stops at a version that it does not know. */
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

/** A commit as listed in `changes/`. If too many layers changed, `many` is their number, and `layers` is left out. */
export type ListedCommit = CommitChanges | { commit: string; date: string; many: number };

/** Commits in one piece. */
export const commitsPerPiece = 50;

/** Most layers listed for one commit; if more have changed, readers load the index again. */
export const maxListedLayers = 200;

/** Most bytes of the commits in a piece; a commit that exceeds it has only the number of its layers. */
const maxPieceBytes = 11_000;

/** Number of pieces that are kept; a reader whose last piece is gone loads the index again. */
export const maxPieces = 200;

/** Most changes in the feed. */
const maxFeedEntries = 100;

/** The file that describes the pieces: their number, and the newest commit. */
export const changesPath = "changes/index.json";

/** The content of `changes/index.json`. */
export interface ChangesHead {
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

/** Path of a piece below the output. */
export function changesPiecePath(piece: number): string {
	return `changes/${piece}.json`;
}

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
): Files {
	const newest = further.at(-1);
	if (!newest) return new Map();
	const head = read ? readChangesHead(read(changesPath)) : emptyHead;
	if (!head) throw new IndexBroken(`${changesPath}: not whole or of another version`);
	const pieces = readPieces(read, head);
	const last = Math.floor((head.commits + further.length - 1) / commitsPerPiece);
	const first = Math.max(head.first, last - maxPieces + 1);
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

/** Parses `changes/index.json`; null if it is missing or of another version. */
export function readChangesHead(text: string | null): ChangesHead | null {
	const value = tryJson(text ?? "") as ChangesHead | null;
	return value?.version === changesVersion && value.perPiece === commitsPerPiece ? value : null;
}

const emptyHead = { commits: 0, first: 0, starts: [] };

/** Reads the newest pieces, as many as the feed needs: piece number → commits, oldest first. @throws {IndexBroken} */
function readPieces(
	read: ReadFile | null,
	{ first, starts }: Pick<ChangesHead, "first" | "starts">,
): Map<number, ListedCommit[]> {
	let pieces: [number, ListedCommit[]][] = [];
	for (let piece = first + starts.length - 1; piece >= first; piece -= 1) {
		const found = tryJson(read?.(changesPiecePath(piece)) ?? "") as { commits?: ListedCommit[] } | null;
		if (!Array.isArray(found?.commits)) throw new IndexBroken(`${changesPiecePath(piece)}: not whole`);
		pieces = [[piece, found.commits], ...pieces];
		if (feedEntries(pieces.flatMap(([, some]) => some)).length >= maxFeedEntries) break;
	}
	return new Map(pieces);
}

/** Adds commits to pieces. @param count number of earlier commits @returns the numbers of the pieces that differ */
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
		const isMany = one.layers.length > maxListedLayers || bytes + JSON.stringify(one).length > maxPieceBytes;
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
			if (entries.length === maxFeedEntries) return entries;
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
 * The last 100 changes as an Atom feed (RFC 4287). The ids are made from the commits, so they are the same on every
 * host. Smallkeys and commit ids need no escaping: they have no character that is special in XML.
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
