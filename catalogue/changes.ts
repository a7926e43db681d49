import { tryJson } from "../registry/try-json.ts";
import { feedPath } from "../site/static/addresses.ts";
import { escapeHtml } from "../site/static/html.ts";
import { type Files, IndexBroken, type ReadFile } from "./chunks.ts";

/** Version of the files in `changes/`; a reader stops at a version that it does not know. */
const changesVersion = 2;

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

/** Commits in one piece. */
export const commitsPerPiece = 50;

/** Number of pieces that are kept; a reader whose last piece is gone loads the index again. */
export const maxPieces = 200;

/** Most layers listed for one commit; if more have changed, readers load the index again. */
const maxListedLayers = 200;

/** Most bytes of the commits in a piece; a commit that exceeds it has only the number of its layers. */
const maxPieceBytes = 11_000;

/** Most changes in the feed. */
const maxFeedEntries = 100;

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
export function updateChanges(read: ReadFile | null, further: readonly CommitChanges[], publicUrl: string) {
	const files: Files = new Map();
	const newest = further.at(-1);
	if (!newest) return files;
	const head = read ? readChangesHead(read(changesPath)) : { commits: 0, first: 0, starts: [] };
	const feed = read ? read(feedPath) : "";
	if (!head || feed === null) throw new IndexBroken(`${changesPath}: not whole or of another version`);
	const commits = head.commits + further.length;
	const first = Math.max(head.first, pieceOf(commits - 1) - maxPieces + 1);
	for (let piece = head.first; read && piece < first; piece += 1) files.set(pathOf(piece), null);
	const starts = [...head.starts];
	const listed: CommitChanges[] = [];
	// The last piece may have room for further commits.
	let lines = head.commits % commitsPerPiece > 0 ? readPiece(read, pieceOf(head.commits)) : [];
	for (const [at, one] of further.entries()) {
		const { commit, date, layers, repairs } = one;
		const number = head.commits + at;
		if (number % commitsPerPiece === 0) {
			lines = [];
			starts.push(commit.slice(0, 12));
		}
		// Without the sender, who may have no public name.
		const line = JSON.stringify({ commit, date, layers, repairs });
		const isMany = layers.length > maxListedLayers || lines.join("").length + line.length > maxPieceBytes;
		lines.push(isMany ? JSON.stringify({ commit, date, many: layers.length }) : line);
		if (!isMany) listed.push(one);
		const piece = pieceOf(number);
		if (piece < first || (one !== newest && pieceOf(number + 1) === piece)) continue;
		const text = `{"version":${changesVersion},"piece":${piece},"commits":[\n${lines.join(",\n")}\n]}\n`;
		files.set(pathOf(piece), text);
	}
	const now: ChangesHead = {
		...{ version: changesVersion, commits, commit: newest.commit, date: newest.date },
		...{ perPiece: commitsPerPiece, first, starts: starts.slice(first - head.first) },
	};
	files.set(changesPath, `${JSON.stringify(now)}\n`);
	return files.set(feedPath, feedText(listed, feed, newest.date, escapeHtml(publicUrl)));
}

/** Parses `changes/index.json`; null if it is missing or of another version. */
export function readChangesHead(text: string | null): ChangesHead | null {
	const value = tryJson(text ?? "") as ChangesHead | null;
	return value?.version === changesVersion && value.perPiece === commitsPerPiece ? value : null;
}

/** The commits of a piece, oldest first, each as JSON. @throws {IndexBroken} */
function readPiece(read: ReadFile | null, piece: number): string[] {
	const found = tryJson(read?.(pathOf(piece)) ?? "") as { commits?: object[] } | null;
	if (!Array.isArray(found?.commits)) throw new IndexBroken(`${pathOf(piece)}: not whole`);
	return found.commits.map((one) => JSON.stringify(one));
}

const kindWords = {
	added: "added · ajoutée",
	changed: "changed · modifiée",
	removed: "removed · retirée",
	repair: "a repair is proposed · une réparation est proposée",
};

/**
 * The last 100 changes as an Atom feed (RFC 4287), newest first. The ids are made from the commits, so they are the same
 * on every host. Smallkeys and commit ids need no escaping: they have no character that is special in XML.
 * @param listed further commits, oldest first
 * @param before the existing feed; empty if there is none
 * @param base address of the service with a slash at its end, escaped, or empty
 */
function feedText(listed: readonly CommitChanges[], before: string, updated: string, base: string): string {
	const further = listed.slice(-maxFeedEntries).reverse();
	const entries = further.flatMap(({ commit, date, layers, repairs = [] }) => {
		const repaired = repairs.map((smallkey) => ({ smallkey, kind: "repair" as const }));
		return [...layers, ...repaired].map(
			({ smallkey, kind }) => `<entry>
<id>urn:x-layer-change:${commit}:${encodeURIComponent(smallkey)}</id>
<title>${smallkey}: ${kindWords[kind]}</title>
<updated>${date}</updated>
<link href="${base || "../"}en/?layer=${encodeURIComponent(smallkey)}" hreflang="en"/>
<link rel="alternate" href="${base || "../"}fr/?layer=${encodeURIComponent(smallkey)}" hreflang="fr"/>
</entry>`,
		);
	});
	entries.push(...(before.match(/<entry>.*?<\/entry>/gs) ?? []));
	const self = base ? `<link rel="self" href="${base}${feedPath}"/>\n` : "";
	return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:x-layer-changes</id>
<title>Map layers: changes · Couches cartographiques : modifications</title>
<author><name>Map layer registrations · Inscriptions de couches</name></author>
<updated>${updated}</updated>
${self}${entries.slice(0, maxFeedEntries).join("\n")}
</feed>
`;
}
