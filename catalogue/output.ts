import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { ifThereSync } from "../files/if-there.ts";
import { placeFile, removeTemporaryFiles } from "../publish/place-file.mjs";
import { chunksFolder, type Manifest, manifestPath, parseManifest } from "../registry/entries.ts";
import type { ReadFile } from "./chunks.ts";
import { catalogueFiles, catalogueFolders, presentFiles, removeState } from "./state.ts";

/** Path below an output → the file's content, or null if the file is to be removed. */
export type OutputFiles = ReadonlyMap<string, string | Uint8Array | null>;

/** Marks the catalogue's unfinished files, because another process writes the fragments into the same output. */
const writer = "-catalogue";

/** Smallest file that is compressed; a smaller file fits into one network packet. */
const minCompressedBytes = 1_000;

/** Reads the files of an output. */
export function readerOf(out: string): ReadFile {
	return (path) => ifThereSync(join(out, path), () => readFileSync(join(out, path), "utf8"));
}

/**
 * Writes the files whose content differs, the deepest paths first, so that a file exists before an index names it. Then
 * it removes files. Each file is replaced atomically.
 * @param isCompressed whether each file gets compressed copies (`.gz`, and `.br` if its name has a hash)
 * @returns the numbers of written and removed files
 */
export function writeFiles(out: string, files: OutputFiles, isCompressed: boolean) {
	let written = 0;
	const folders = new Set<string>();
	for (const [path, content] of [...files].sort(([a], [b]) => depthOf(b) - depthOf(a))) {
		if (content === null) continue;
		const folder = dirname(join(out, path));
		if (!folders.has(folder)) mkdirSync(folder, { recursive: true });
		folders.add(folder);
		const copies = isCompressed ? { copies: (bytes: Uint8Array) => compressed(path, bytes) } : {};
		const change = placeFile(out, path, Buffer.from(content), { writer, ...copies });
		if (change !== "same") written += 1;
	}
	const removed = [...files].filter(([, content]) => content === null);
	for (const [path] of removed) placeFile(out, path, null);
	return { written, removed: removed.length };
}

/** Removes the unfinished files of an earlier process. */
export function removeTemporary(out: string): void {
	removeTemporaryFiles(out, writer);
}

function depthOf(path: string): number {
	return path.split("/").length;
}

/** Quality 9 of 11: 10 and 11 take ten times as long and save only one percent. */
const brotliQuality = 9;

/** Files with a hash in their name never change, so slower compression pays off. */
function compressed(path: string, bytes: Uint8Array): [ending: string, copy: Uint8Array][] {
	if (bytes.length < minCompressedBytes) return [];
	const isHashed = path.startsWith("assets/") || path.startsWith(`${chunksFolder}/`);
	const gzipped = gzipSync(bytes, { level: isHashed ? 9 : 6 });
	if (!isHashed) return [[".gz", gzipped]];
	const params = {
		[constants.BROTLI_PARAM_QUALITY]: brotliQuality,
		[constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
	};
	return [
		[".gz", gzipped],
		[".br", brotliCompressSync(bytes, { params })],
	];
}

/**
 * The catalogue's files in an output that are not part of it any more, each with null.
 * @param wanted all files of the catalogue; null: only the chunks are checked
 * @param before the earlier manifest; its chunks are kept for open pages that have read it
 */
export function staleFiles(
	out: string,
	wanted: OutputFiles | null,
	before: Manifest | null,
): Map<string, null> {
	const now = parseManifest(readerOf(out)(manifestPath) ?? "");
	const chunks = new Set([...(before?.chunks ?? []), ...(now?.chunks ?? [])]);
	const present = wanted ? presentFiles(out) : presentFiles(out, [chunksFolder]);
	const stale = present.filter((path) => !chunks.has(path) && !wanted?.has(path));
	return new Map(stale.map((path) => [path, null]));
}

/** Removes the catalogue from an output. */
export function removeCatalogue(out: string): void {
	removeState(out);
	for (const folder of catalogueFolders) rmSync(join(out, folder), { recursive: true, force: true });
	for (const name of catalogueFiles) placeFile(out, name, null);
}

/** Whether an output has a catalogue or a part of one. @throws {Error} with the path if the folder cannot be read */
export function hasCatalogue(out: string): boolean {
	const names = ifThereSync(out, () => readdirSync(out)) ?? [];
	return names.some((name) => name === "index" || name === "site.json");
}
