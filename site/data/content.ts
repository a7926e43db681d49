import { isDeepStrictEqual } from "node:util";
import type { ReadLayers } from "../../publish/build.ts";
import { readServed } from "../../publish/changed-layers.ts";
import type { LocatedCommit, LocatedLayers } from "../../publish/collect.ts";
import type { CheckedLayer, LayerFile } from "../../registry/judge.ts";
import { nameOf, ownersOf, parseOwners } from "../../registry/owners.ts";
import { healthPath, layerPath, ownersPath, parseLayerPath } from "../../registry/smallkey.ts";
import { listCommits } from "../../store/git/commands/commits.ts";
import { diffTree, listTree, readEntries } from "../../store/git/commands/tree.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";
import {
	type Entry,
	type Manifest,
	parseChunk,
	parseRecent,
	type RecentChange,
	recentPath,
} from "./entries.ts";
import { contentOf, entryOf, type KnownOfLayer } from "./entry.ts";
import type { CatalogueContent, EarlierChunk, OwnersOf } from "./files.ts";
import { parseHealth } from "./health.ts";
import { addLastChanges, readHistory, recentChanges } from "./history.ts";
import { hashOf, readText, type UsableState } from "./output.ts";
import type { Thumbnails } from "./proofs.ts";

type EarlierCatalogue = NonNullable<ReturnType<typeof readEarlier>>;

/** Null unless every chunk is as written. `dateMs` is 0 if the history has to be read from the start. */
export function readEarlier(out: string, { chunks }: Manifest, { commit, dateMs, isUntouched }: UsableState) {
	const whole = chunks.flatMap((path): EarlierChunk[] => {
		if (path === null) return [{ path, entries: [] }];
		const text = readText(out, path) ?? "";
		const chunk = path.includes(hashOf(text)) ? parseChunk(text) : null;
		return chunk ? [{ path, entries: chunk.entries }] : [];
	});
	if (whole.length < chunks.length) return null;
	const recent = isUntouched(recentPath) ? parseRecent(readText(out, recentPath)) : null;
	return { commit, chunks: whole, changes: recent?.changes ?? [], dateMs: recent ? dateMs : 0 };
}

interface ReadOptions {
	options: CatalogueOptions;
	thumbnails: Thumbnails;
	/** Null reads all layers. */
	before: EarlierCatalogue | null;
	/** Layers read already. */
	read: ReadLayers;
}

export async function readContent(
	layersAt: LocatedLayers,
	{ options, thumbnails, before, read }: ReadOptions,
): Promise<CatalogueContent & { owners: OwnersOf; dateMs: number }> {
	const tip = "commit" in layersAt ? layersAt : null;
	const files = "files" in layersAt ? layersAt.files : await readReviewers(layersAt);
	const { health, owners } = parseReviewers(files);
	const earlier = tip && before && (await isOnBranch(tip, before.commit)) ? before : null;
	const earlierEntries = (earlier?.chunks ?? []).flatMap((chunk) => chunk.entries);
	const entries = new Map(earlierEntries.map((entry) => [entry.smallkey, entry]));
	const recovered = earlierEntries.filter((entry) => entry.health && !health.has(entry.smallkey));
	const make = (layer: CheckedLayer) => contentOf(layer, options.fragments);
	const layers = tip
		? await readLayers(tip, earlier, recovered, read, make)
		: new Map<string, Entry | null>();
	for (const [smallkey, layer] of read) layers.set(smallkey, layer && make(layer));
	const served = [...layers].flatMap(([smallkey, content]) => (content ? smallkey : []));
	const { last, changes, dateMs } = await continueHistory(tip, options.senderNames, earlier, entries, served);
	const update = (content: Entry) => {
		const { smallkey } = content;
		const thumbnail = thumbnails.get(smallkey)?.path;
		entries.set(smallkey, entryOf(content, { ...last.get(smallkey), thumbnail }, health));
	};
	for (const [smallkey, entry] of entries) {
		if (layers.has(smallkey)) continue;
		const isSame = isDeepStrictEqual(entry.health ?? undefined, health.get(smallkey));
		if (!isSame || last.get(smallkey) !== entry) update(entry);
	}
	for (const [smallkey, content] of layers) {
		if (content) update(content);
		else entries.delete(smallkey);
	}
	return { entries: [...entries.values()], changes, owners, dateMs };
}

/** Changed and recovered ones, or all; null if not served. */
async function readLayers(
	tip: LocatedCommit,
	earlier: EarlierCatalogue | null,
	recovered: readonly Entry[],
	read: ReadLayers,
	make: (layer: CheckedLayer) => Entry,
): Promise<Map<string, Entry | null>> {
	const changed = earlier && [
		...(await diffTree(tip.repository, earlier.commit, tip.commit, "layers")),
		...recovered.map(({ smallkey }) => ({ path: layerPath(smallkey), mode: "100644", id: null })),
	];
	const paths = changed ?? (await listTree(tip.repository, tip.commit, "layers/"));
	const unread = paths.filter(({ path }) => !read.has(parseLayerPath(path)?.smallkey ?? ""));
	const served = await readServed(tip, unread, make, changed ? null : paths);
	return new Map(served.layers);
}

/**
 * Continues the earlier catalogue's history, unless that lacks a layer: another spelling of its smallkey was served.
 * @param served smallkeys of layers whose files were read
 */
async function continueHistory(
	tip: LocatedCommit | null,
	names: CatalogueOptions["senderNames"],
	earlier: EarlierCatalogue | null,
	entries: ReadonlyMap<string, KnownOfLayer>,
	served: readonly string[],
): Promise<{ last: ReadonlyMap<string, KnownOfLayer>; changes: RecentChange[]; dateMs: number }> {
	const before = earlier && earlier.dateMs > 0 ? earlier : null;
	const range = before ? `${before.commit}..${tip?.commit}` : tip?.commit;
	const history = tip && range && (await readHistory(tip.repository, range, before?.dateMs));
	if (!history) return { last: new Map(), changes: [], dateMs: 0 };
	const last = new Map(before ? entries : []);
	addLastChanges(last, history.commits, names);
	if (before && !served.every((smallkey) => last.has(smallkey)))
		return continueHistory(tip, names, null, entries, served);
	return { last, changes: recentChanges(history.commits, before?.changes), dateMs: history.dateMs };
}

async function isOnBranch({ repository, commit }: LocatedCommit, earlier: string): Promise<boolean> {
	const words = ["--first-parent", "--parents", "--reverse", `${earlier}..${commit}`];
	const [oldest = ""] = await listCommits(repository, words).catch(() => []);
	return oldest.split(" ")[1] === earlier;
}

async function readReviewers({ repository, commit }: LocatedCommit): Promise<LayerFile[]> {
	return readEntries(repository, await listTree(repository, commit, [healthPath, ownersPath]));
}

function parseReviewers(files: readonly LayerFile[]) {
	const bytesOf = (path: string) => files.find((file) => file.path === path)?.bytes;
	const { owners } = parseOwners(bytesOf(ownersPath));
	return {
		health: parseHealth(new TextDecoder().decode(bytesOf(healthPath))),
		owners: (smallkey: string) => (owners ? ownersOf(owners, layerPath(smallkey)) : []).map(nameOf),
	};
}
