import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
	type Chunk,
	type Entry,
	type Manifest,
	manifestPath,
	parseChunk,
	parseManifest,
} from "../../../site/data/entries.ts";
import { type CatalogueSettings, catalogueFiles } from "../../../site/data/files.ts";
import { type CommitChanges, recentChanges } from "../../../site/data/history.ts";

/**
 * All files of the catalogue that depend on layers: the index, the report of health, the changes, and the pages.
 * @param entries each smallkey once
 * @param history commits that touched layers, oldest first; null where it is not known
 */
export function buildCatalogue(
	entries: readonly Entry[],
	history: readonly CommitChanges[] | null,
	settings: CatalogueSettings,
): Map<string, string> {
	const content = { entries, changes: recentChanges(history ?? []) };
	const { files, derived } = catalogueFiles(content, settings);
	for (const [path, { text: render }] of derived) {
		const text = render();
		if (text !== null) files.set(path, text);
	}
	return files;
}

/** @param minute of 2026, from 0; also the commit's id */
export function commitOf(minute: number, layers: CommitChanges["layers"]): CommitChanges {
	const date = new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString().replace(".000", "");
	return { commit: minute.toString(16).padStart(40, "0"), date, layers };
}

/** @param folder of a built catalogue @throws {Error} if its index cannot be read */
export function entriesIn(folder: string): Entry[] {
	const read = (path: string) => readFileSync(join(folder, path), "utf8");
	const { chunks } = parseManifest(read(manifestPath)) as Manifest;
	return chunks.flatMap((path) => (path === null ? [] : (parseChunk(read(path)) as Chunk).entries));
}
