import { listTree } from "../git/tree.ts";
import { emptyNotes, servedLayers } from "../publish/changes.ts";
import { collectFolder, readEntries } from "../publish/collect.ts";
import type { Entry, PublicName } from "../registry/entries.ts";
import {
	type Health,
	healthPath,
	healthReportPath,
	parseHealth,
	parseHealthReport,
} from "../registry/health.ts";
import { type CheckedLayer, judgeFiles, type LayerFile, problemLine } from "../registry/judge.ts";
import { ownersOf, ownersPath, parseOwners } from "../registry/owners.ts";
import { layerPath } from "../registry/smallkey.ts";
import type { CatalogueChanges } from "./catalogue.ts";
import { type Index, IndexBroken, type ReadFile } from "./chunks.ts";
import { entryOf } from "./entry.ts";
import type { OwnersOf } from "./health.ts";
import { type LastChange, lastChanges, readHistory } from "./history.ts";
import type { CatalogueOptions } from "./options.ts";
import { readThumbnails, type Thumbnails } from "./thumbnails.ts";

/** Where the layers are: a commit (its full id), or a folder without a known history. */
export type CatalogueLayers = { repository: string; commit: string } | { folder: string };

/** An existing catalogue. */
export interface EarlierCatalogue {
	/** Full id of the commit that its layers come from. */
	commit: string;
	read: ReadFile;
	index: Index;
}

/** What a range of commits changes in the catalogue, and the owners at its end. */
export interface ReadChanges extends CatalogueChanges {
	owners: OwnersOf;
}

/** Most changed layers for an update: the larger of this number and this share of all layers. */
const maxChangedLayers = 1_000;
const maxChangedShare = 0.1;

/**
 * Reads what has changed since an earlier catalogue, or all layers.
 * @param earlier null to read all layers
 * @throws {IndexBroken} if all layers have to be read
 * @throws {Error} if a file of a folder is wrong
 */
export async function readChanges(
	layers: CatalogueLayers,
	earlier: EarlierCatalogue | null,
	options: CatalogueOptions,
): Promise<ReadChanges> {
	if ("folder" in layers) return readFolder(layers.folder, options);
	const { repository, commit } = layers;
	const history = await readHistory(repository, earlier?.commit ?? null, commit);
	if (earlier && !history) throw new IndexBroken("the branch did not come by the earlier commit");
	const { health, owners } = await readReviewers(repository, commit);
	const touched = new Set(history?.flatMap((one) => one.layers.map(({ smallkey }) => smallkey)));
	if (earlier) for (const smallkey of findChangedHealth(earlier.read, health)) touched.add(smallkey);
	if (earlier && touched.size > Math.max(maxChangedLayers, earlier.index.manifest.layers * maxChangedShare))
		throw new IndexBroken("too much has changed");
	const before = earlier?.index.find(touched) ?? new Map<string, Entry>();
	const last = lastChanges(
		history ?? [],
		namesOf(options),
		(smallkey) => before.get(smallkey)?.sender ?? null,
	);
	for (const [smallkey, { changed, sender }] of before) {
		if (changed && !last.has(smallkey)) last.set(smallkey, { changed, sender: sender ?? null });
	}
	const thumbnails = readThumbnails(options.pictures);
	const changed = earlier && [...touched].map(layerPath).map((path) => ({ path, mode: "100644", id: null }));
	const notes = emptyNotes();
	const entries = new Map<string, Entry | null>();
	for await (const some of servedLayers(repository, commit, changed, notes)) {
		for (const layer of some)
			entries.set(layer.smallkey, entryOfLayer(layer, { last, health, thumbnails }, options));
	}
	// An untouched layer is served now, because the one that differed only in case was removed: its history is not read.
	if (earlier && [...entries.keys()].some((smallkey) => !touched.has(smallkey)))
		throw new IndexBroken("a layer came up");
	for (const smallkey of [...notes.gone, ...notes.wrong]) {
		if (!entries.has(smallkey)) entries.set(smallkey, null);
	}
	return { layers: entries, history: history ?? [], owners };
}

/** What is known about layers from other sources than their own files. */
interface Known {
	last: ReadonlyMap<string, LastChange>;
	health: Health;
	thumbnails: Thumbnails;
}

function entryOfLayer(layer: CheckedLayer, known: Known, { fragments }: CatalogueOptions): Entry {
	const { last, health, thumbnails } = known;
	const { smallkey } = layer;
	return entryOf(layer, { ...last.get(smallkey), thumbnail: thumbnails.get(smallkey) }, health, fragments);
}

/** Reads all layers of a folder. @throws {Error} if a file is wrong */
function readFolder(folder: string, options: CatalogueOptions): ReadChanges {
	const files = collectFolder(folder);
	const { health, owners } = parseReviewers(files);
	const thumbnails = readThumbnails(options.pictures);
	const layers = new Map<string, Entry>();
	const [problem] = judgeFiles(files, (layer) => {
		layers.set(layer.smallkey, entryOfLayer(layer, { last: new Map(), health, thumbnails }, options));
	});
	if (problem) throw new Error(problemLine(problem));
	return { layers, history: [], owners };
}

function namesOf({ senderNames }: CatalogueOptions): (sender: string) => PublicName | null {
	return (sender) => (Object.hasOwn(senderNames, sender) ? (senderNames[sender] ?? null) : null);
}

/** Reads the health and the owners, which reviewers keep in files under `layers/`. */
async function readReviewers(repository: string, commit: string) {
	const reviewerFiles = await listTree(repository, commit, [healthPath, ownersPath]);
	return parseReviewers(await readEntries(repository, reviewerFiles));
}

/** @param files some of the layers' files */
function parseReviewers(files: readonly LayerFile[]): { health: Health; owners: OwnersOf } {
	const { owners } = parseOwners(Buffer.from(contentOf(files, ownersPath) ?? ""));
	return {
		health: parseHealth(contentOf(files, healthPath)),
		owners: (smallkey) => (owners ? ownersOf(owners, layerPath(smallkey)) : []),
	};
}

function contentOf(files: readonly LayerFile[], path: string): string | null {
	const file = files.find((one) => one.path === path && one.kind === "file");
	return file ? Buffer.from(file.bytes).toString("utf8") : null;
}

/** The smallkeys of layers whose health differs from the earlier report. @throws {IndexBroken} */
function findChangedHealth(read: ReadFile, now: Health): string[] {
	const report = parseHealthReport(read(healthReportPath) ?? "");
	if (!report) throw new IndexBroken(`${healthReportPath}: not whole or of another version`);
	const known = new Map(
		report.groups.flatMap(({ layers }) => layers.map((layer) => [layer.smallkey, layer])),
	);
	const all = new Set([...known.keys(), ...now.keys()]);
	return [...all].filter((smallkey) => {
		const [before, after] = [known.get(smallkey), now.get(smallkey)];
		return (["state", "since", "cause", "repair"] as const).some((name) => before?.[name] !== after?.[name]);
	});
}
