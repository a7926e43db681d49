import { createHash } from "node:crypto";
import { healthPath, repairTrailer } from "../../registry/health.ts";
import { parseLayerPath, parseSmallkey } from "../../registry/smallkey.ts";
import { isSenderId, type PublicName } from "../../registry/timestamp.ts";
import {
	believedMs,
	isShallow,
	type LoggedCommit,
	personText,
	readLog,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { serviceIdentity } from "../../store/store.ts";
import { feedPath } from "../static/addresses.ts";
import { feedText, feedTitle } from "../static/feed.ts";
import {
	type Chunk,
	chunkCount,
	chunkOf,
	chunkPath,
	type Entry,
	indexVersion,
	type Manifest,
	manifestPath,
} from "./entries.ts";
import type { KnownOfLayer } from "./entry.ts";
import {
	type ChangeDetail,
	type ChangeKind,
	maxRecent,
	type RecentChange,
	recentPath,
	recentText,
} from "./recent.ts";

/** Path below an output → the file's text. */
export type Files = Map<string, string>;

/**
 * Renders the index of all layers.
 * @param entries each smallkey once
 * @param commit of the layers; null if unknown
 * @returns its files, the layers of each chunk in the order of their smallkeys, and the manifest
 */
export function indexFiles(entries: Iterable<Entry>, commit: string | null) {
	const chunks: Entry[][] = Array.from({ length: chunkCount }, () => []);
	for (const entry of entries) chunks[chunkOf(entry.smallkey)]?.push(entry);
	const files: Files = new Map();
	const paths = chunks.map((some, number) => {
		if (some.length === 0) return null;
		some.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
		const text = `${JSON.stringify({ version: indexVersion, entries: some } satisfies Chunk)}\n`;
		const path = chunkPath(number, createHash("sha256").update(text).digest("hex").slice(0, 16));
		files.set(path, text);
		return path;
	});
	const layers = chunks.reduce((sum, { length }) => sum + length, 0);
	const manifest: Manifest = { version: indexVersion, layers, ...(commit && { commit }), chunks: paths };
	files.set(manifestPath, `${JSON.stringify(manifest)}\n`);
	return { files, chunks, manifest };
}

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
