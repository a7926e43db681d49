import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, manifestPath, parseChunk, parseManifest } from "../../../site/data/entries.ts";
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
	for (const [path, { text }] of derived) files.set(path, text() ?? "");
	return files;
}

export function commitOf(at: number, layers: CommitChanges["layers"]): CommitChanges {
	const date = new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString().replace(".000", "");
	return { commit: at.toString(16).padStart(40, "0"), date, layers };
}

export function entriesIn(out: string): Entry[] {
	const read = (path: string) => readFileSync(join(out, path), "utf8");
	const paths = parseManifest(read(manifestPath))?.chunks ?? [];
	return paths.flatMap((path) => (path === null ? [] : (parseChunk(read(path))?.entries ?? [])));
}
