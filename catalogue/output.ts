import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { ifThereSync } from "../files/if-there.ts";
import { placeFile, removeUnplaced } from "../publish/place-file.mjs";
import { chunksFolder, type Manifest, manifestPath, parseManifest } from "../registry/entries.ts";
import type { ReadFile } from "./chunks.ts";
import { catalogueFiles, catalogueFolders, presentFiles, removeState } from "./state.ts";

/** Files below an output by path: their content, or null for one that goes. */
export type OutputFiles = ReadonlyMap<string, string | Uint8Array | null>;

/** The mark of unfinished files of the catalogue: another process writes the fragments. */
const writer = "-catalogue";

/** Smallest file that is compressed; a smaller one fits into a packet. */
const minCompressedBytes = 1_000;

/** Reads the files of an output. */
export function readerOf(out: string): ReadFile {
	return (path) => ifThereSync(join(out, path), () => readFileSync(join(out, path), "utf8"));
}

/**
 * Writes files that differ: first the pieces, then the files that name them; removed files come last.
 * Readers get whole files meanwhile.
 * @param isCompressed whether each file gets a `.gz`
 * @returns how many files were written, and how many removed
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

/** Removes unfinished files of a process that has ended. */
export function removeTemporary(out: string): void {
	removeUnplaced(out, writer);
}

function depthOf(path: string): number {
	return path.split("/").length;
}

/** Quality 9 of 11: the last two take ten times as long, for a hundredth of the bytes. */
const brotliQuality = 9;

/** Names with a content's hash never change: they are worth a slower way to compress. */
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
 * The files of the catalogue in an output that do not belong there any more.
 * @param wanted all that it has; null: only the files of chunks are checked
 * @param before the manifest before: its chunks stay for pages that have read it
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

/** Removes a catalogue from an output in which it is not updated any more. */
export function removeCatalogue(out: string): void {
	removeState(out);
	for (const folder of catalogueFolders) rmSync(join(out, folder), { recursive: true, force: true });
	for (const name of catalogueFiles) placeFile(out, name, null);
}

/** Whether an output holds a catalogue, or a part of one. @throws {Error} with its path where it cannot be read */
export function hasCatalogue(out: string): boolean {
	const names = ifThereSync(out, () => readdirSync(out)) ?? [];
	return names.some((name) => name === "index" || name === "site.json");
}
