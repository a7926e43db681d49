import { listTree } from "../git/tree.ts";
import { type Noted, nothingNoted, pickServed, type StoredLayer } from "../publish/changes.ts";
import { collectFolder, readEntries } from "../publish/collect.ts";
import { layersIn, streamLayers } from "../publish/commit-layers.ts";
import { findEarlier } from "../publish/earlier.ts";
import type { Entry, PublicName } from "../registry/entries.ts";
import { type Health, healthPath } from "../registry/health.ts";
import { type CheckedLayer, type Problem, problemLine } from "../registry/judge.ts";
import { ownersPath } from "../registry/owners.ts";
import { entryOf } from "./entry.ts";
import { type HistoryCommit, type LastChange, lastChanges, readHistory } from "./history.ts";
import type { CatalogueOptions } from "./options.ts";
import { type Reviewers, readReviewers } from "./reviewers.ts";
import { readThumbnails, type Thumbnails } from "./thumbnails.ts";

/** A commit's full id, or a folder of layers whose history is not known. */
export type CatalogueLayers = { repository: string; commit: string } | { folder: string };

/** Wrong files for which an earlier text is looked for. */
const maxWrong = 1_000;

/** What is known of layers beside their own files. */
export interface News {
	changes: ReadonlyMap<string, LastChange>;
	health: Health;
	thumbnails: Thumbnails;
}

/** The layers that were found, and those that are served of no file at this commit. */
export interface Found extends Noted {
	entries: Entry[];
}

/** Before anything was looked at. */
export function nothingFound(): Found {
	return { ...nothingNoted(), entries: [] };
}

/** Adds the layer that is served of some spellings. */
export function take(
	spellings: readonly StoredLayer[],
	found: Found,
	news: News,
	options: CatalogueOptions,
): void {
	const layer = pickServed(spellings, found);
	if (layer) found.entries.push(newEntry(layer, news, options));
}

function newEntry(layer: CheckedLayer, news: News, { fragments }: CatalogueOptions): Entry {
	const { smallkey } = layer;
	const known = { ...news.changes.get(smallkey), thumbnail: news.thumbnails.get(smallkey) };
	return entryOf(layer, known, news.health, fragments);
}

/** Every layer, and what is known beside their files. */
export interface AllLayers {
	entries: Entry[];
	history: HistoryCommit[] | null;
	reviewers: Reviewers & { stamp: string };
}

/** Reads all layers of a catalogue. @throws {Error} where a file of a folder is wrong */
export async function readAll(layers: CatalogueLayers, options: CatalogueOptions): Promise<AllLayers> {
	if ("folder" in layers) return readFolder(layers.folder, options);
	const { repository, commit } = layers;
	const files = await listTree(repository, commit, "layers/");
	const history = await readHistory(repository, null, commit);
	const reviewers = await readReviewersAt(repository, commit);
	const news = {
		changes: lastChanges(history ?? [], namesOf(options)),
		health: reviewers.health,
		thumbnails: readThumbnails(options.pictures),
	};
	const found = nothingFound();
	for await (const some of streamLayers(repository, files)) {
		for (const spellings of some) take(spellings, found, news, options);
	}
	for (const smallkey of found.wrong.slice(0, maxWrong)) {
		const registration = await findEarlier(repository, commit, smallkey);
		const layer = registration && { smallkey, registration, description: null };
		if (layer) found.entries.push(newEntry(layer, news, options));
	}
	return { entries: found.entries, history, reviewers };
}

/** The public name of a sender, by its id. */
export function namesOf({ senderNames }: CatalogueOptions): (sender: string) => PublicName | null {
	return (sender) => (Object.hasOwn(senderNames, sender) ? (senderNames[sender] ?? null) : null);
}

/** @throws {Error} where a file is wrong: nothing is served of it */
function readFolder(folder: string, options: CatalogueOptions): AllLayers {
	const files = collectFolder(folder);
	const reviewers = { ...readReviewers(files), stamp: "" };
	const found = nothingFound();
	const thumbnails = readThumbnails(options.pictures);
	const news = { changes: new Map(), health: reviewers.health, thumbnails };
	for (const spellings of layersIn(files)) take(spellings, found, news, options);
	if (found.problems.length > 0) throw new Error(problemLine(found.problems[0] as Problem));
	return { entries: found.entries, history: null, reviewers };
}

/** The files beside the layers at a commit, with a stamp of them. */
export async function readReviewersAt(
	repository: string,
	commit: string,
): Promise<Reviewers & { stamp: string }> {
	const own = await listTree(repository, commit, [healthPath, ownersPath]);
	const files = await readEntries(repository, own);
	return { ...readReviewers(files), stamp: own.map(({ path, id }) => `${path} ${id}`).join() };
}
