import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { ifThereSync } from "../files/if-there.ts";
import { companionEndings, isSame, removeFile } from "../publish/output.ts";
import { chunksFolder, type Manifest } from "../registry/entries.ts";
import type { ReadFile } from "./files.ts";
import { catalogueFiles, catalogueFolders, namesIn, removeState } from "./state.ts";

/** Files below an output by path: their content, or null for one that goes. */
export type OutputFiles = ReadonlyMap<string, string | Uint8Array | null>;

/** Text that is worth compressing; what is smaller fits into a packet as it is. */
const leastCompressedBytes = 1_000;

/** Reads the files of an output. */
export function readerOf(out: string): ReadFile {
	return (path) => {
		try {
			return readFileSync(join(out, path), "utf8");
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
			throw error;
		}
	};
}

/** How many files are other now, and how many went. */
export interface WrittenFiles {
	written: number;
	removed: number;
}

/**
 * Writes files that differ: first the pieces, then what says which pieces there are, then those go that are no more.
 * Whoever reads meanwhile meets whole files, and of a set the old or the new cuts.
 * @param isCompressed whether a `.gz` stands beside each file
 */
export function writeFiles(out: string, files: OutputFiles, isCompressed: boolean): WrittenFiles {
	const result = { written: 0, removed: 0 };
	const folders = new Set<string>();
	for (const [path, content] of [...files].sort(([a], [b]) => depthOf(b) - depthOf(a))) {
		if (content === null) continue;
		const bytes = Buffer.from(content);
		const folder = dirname(join(out, path));
		if (!folders.has(folder)) mkdirSync(folder, { recursive: true });
		folders.add(folder);
		if (isSame(join(out, path), bytes)) continue;
		replaceFile(out, path, bytes);
		if (isCompressed) writeCompressed(out, path, bytes);
		result.written += 1;
	}
	for (const [path, content] of files) {
		if (content !== null) continue;
		removeFile(out, path);
		result.removed += 1;
	}
	return result;
}

let serial = 0;

/** Name of the files that are not in their place yet: beside the output, on the same disk, never served. */
function temporaryStart(out: string): string {
	return `.${basename(out)}-catalogue.`;
}

/** Puts a file in its place: readers meet the old one or the new one, and never a compressed copy of the old. */
function replaceFile(out: string, path: string, bytes: Uint8Array): void {
	for (const ending of companionEndings) rmSync(join(out, path + ending), { force: true });
	const temporary = join(dirname(out), `${temporaryStart(out)}${process.pid}.${serial++}.tmp`);
	writeFileSync(temporary, bytes);
	renameSync(temporary, join(out, path));
}

/** Removes what an ended process had not yet put in its place. */
export function removeTemporary(out: string): void {
	for (const name of readdirSync(dirname(out)))
		if (name.startsWith(temporaryStart(out))) rmSync(join(dirname(out), name), { force: true });
}

function depthOf(path: string): number {
	return path.split("/").length;
}

/** Quality 9 of 11: the last two take ten times as long, for a hundredth of the bytes. */
const brotliQuality = 9;

/** Names with a content's hash never change: they are worth a slower way to compress. */
function writeCompressed(out: string, path: string, bytes: Buffer): void {
	if (bytes.length < leastCompressedBytes) return;
	const isForGood = path.startsWith("assets/");
	replaceFile(out, `${path}.gz`, gzipSync(bytes, { level: isForGood ? 9 : 6 }));
	if (!isForGood) return;
	const params = {
		[constants.BROTLI_PARAM_QUALITY]: brotliQuality,
		[constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
	};
	replaceFile(out, `${path}.br`, brotliCompressSync(bytes, { params }));
}

/** The files of the catalogue that are in an output and not among those that are wanted. */
export function staleFiles(out: string, wanted: OutputFiles): Map<string, null> {
	const present = catalogueFolders.flatMap((folder) =>
		namesIn(out, folder).map((name) => `${folder}/${name}`),
	);
	const beside = catalogueFiles.filter((name) => existsSync(join(out, name)));
	const stale = [...present, ...beside].filter((path) => !wanted.has(path));
	return new Map(stale.map((path) => [path, null]));
}

/** The files of chunks that no manifest names any more. @param manifests the present one, and the one before */
export function staleChunks(out: string, manifests: readonly (Manifest | null)[]): Map<string, null> {
	const named = new Set(manifests.flatMap((manifest) => manifest?.chunks ?? []));
	const present = namesIn(out, chunksFolder).map((name) => `${chunksFolder}/${name}`);
	return new Map(present.filter((path) => !named.has(path)).map((path) => [path, null]));
}

/** Takes a catalogue out of an output: nobody is to read what is not kept in step. */
export function removeCatalogue(out: string): void {
	removeState(out);
	for (const folder of catalogueFolders) rmSync(join(out, folder), { recursive: true, force: true });
	for (const name of catalogueFiles) removeFile(out, name);
}

/** Whether an output holds a catalogue, or a part of one. @throws {Error} with its path where it cannot be read */
export function hasCatalogue(out: string): boolean {
	const names = ifThereSync(out, () => readdirSync(out)) ?? [];
	return names.some((name) => name === "index" || name === "site.json");
}
