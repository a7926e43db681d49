import type { Dirent } from "node:fs";
import { existsSync } from "node:fs";
import { access, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import pMap from "p-map";
import { fragmentHeaders } from "../api/read.ts";
import { catalogueFiles, catalogueFolders } from "../catalogue/state.ts";
import { readTextIfThere } from "../files/if-there.ts";
import { isCompanion, placeFile } from "../publish/place-file.mjs";
import { slotFolder, slotsOf } from "../publish/slots.ts";
import { targetNames, targetOf } from "../registry/targets/table.ts";
import type { TargetName } from "../registry/targets/target.ts";
import { mapWithProgress } from "../terminal/progress.ts";
import { siteGroups } from "./site-headers.ts";

/** A file in an output folder that has compressed copies. */
const compressedMark = ".compressed";

/** Files that are compressed concurrently: zlib uses four threads (libuv's pool). */
const atOnce = 8;

/** Above this size brotli's best two qualities take ten times as long, and save a hundredth of the bytes. */
const largeFileBytes = 16_000;

/** The ending of a compressed copy → its compression. */
const codings = new Map<string, (bytes: Uint8Array) => Promise<Buffer>>([
	[".gz", (bytes) => promisify(gzip)(bytes, { level: 9 })],
	[
		".br",
		(bytes) =>
			promisify(brotliCompress)(bytes, {
				params: {
					[constants.BROTLI_PARAM_QUALITY]: bytes.length > largeFileBytes ? 9 : 11,
					[constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
				},
			}),
	],
]);

/**
 * Writes the files that a hosting needs beside the fragments: Cloudflare's `_headers` (an asset without an extension has
 * no Content-Type of its own) and `.assetsignore`; with `compress` a `.gz` and a `.br` of each file for a web server.
 * Unchanged files are not written again. Copies of removed files are removed; without `compress` all copies.
 */
export async function writeHostingFiles(
	out: string,
	compress: boolean,
	targets: readonly TargetName[] = targetNames,
	site = false,
): Promise<void> {
	await writeChanged(join(out, "_headers"), headersFile(targets, site));
	await writeChanged(join(out, ".assetsignore"), `*.gz\n*.br\n${compressedMark}\n`);
	const mark = join(out, compressedMark);
	if (compress) await writeChanged(mark, "");
	// Without the mark no earlier build has compressed files here, and no folder has to be listed.
	if (!compress && !(await exists(mark))) return;
	const folders = [...slotsOf({ targets }).map(slotFolder), ...(site ? catalogueFolders : [])];
	for (const folder of folders) await syncCompanions(out, folder, compress);
	const beside = site ? catalogueFiles.filter((name) => existsSync(join(out, name))) : [];
	for (const name of beside) await syncFile(out, name, compress);
	if (!compress) await rm(mark);
}

async function exists(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}

/** Cloudflare's rules for the headers of static assets (Workers, "Static assets", "Headers"). */
export function headersFile(targets: readonly TargetName[], site: boolean): string {
	const fragments = targets.map((name) => headersRule(`/${targetOf(name).doc}/*`, fragmentHeaders));
	return [...fragments, ...(site ? siteRules() : [])].join("\n");
}

/** No file may have two rules: Cloudflare joins their values. The worker answers folders. */
function siteRules(): string[] {
	return siteGroups.flatMap(({ paths, headers }) => paths.map((path) => headersRule(path, headers)));
}

function headersRule(path: string, headers: Readonly<Record<string, string>>): string {
	const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}\n`);
	return `${path}\n${lines.join("")}`;
}

async function writeChanged(path: string, text: string): Promise<void> {
	const present = await readTextIfThere(path);
	if (present !== text) await writeFile(path, text);
}

function ignoreMissing(error: NodeJS.ErrnoException): Dirent[] {
	if (error.code === "ENOENT") return [];
	throw error;
}

async function syncCompanions(out: string, folder: string, compress: boolean): Promise<void> {
	// A folder of the catalogue may be missing: without history there are no changes.
	const entries = await readdir(join(out, folder), { withFileTypes: true }).catch(ignoreMissing);
	const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
	const plain = names.filter((name) => !isCompanion(name));
	const wanted = new Set(
		compress ? [...codings.keys()].flatMap((ending) => plain.map((name) => name + ending)) : [],
	);
	const stale = names.filter((name) => isCompanion(name) && !wanted.has(name));
	await pMap(stale, (name) => rm(join(out, folder, name)), { concurrency: atOnce });
	if (!compress) return;
	const present = new Set(names);
	await mapWithProgress(plain, `compressing ${folder}`, atOnce, (name) => {
		return compressFile(out, `${folder}/${name}`, (ending) => present.has(name + ending));
	});
}

/** Updates the compressed copies of a file in the output folder itself, or removes them. */
async function syncFile(out: string, name: string, compress: boolean): Promise<void> {
	if (compress) return compressFile(out, name, (ending) => existsSync(join(out, name + ending)));
	for (const ending of codings.keys()) await rm(join(out, name + ending), { force: true });
}

/** Writes the compressed copies of one file that are missing: a file that changes loses its copies (`placeFile`). */
async function compressFile(out: string, path: string, has: (ending: string) => boolean): Promise<void> {
	const missing = [...codings].filter(([ending]) => !has(ending));
	if (missing.length === 0) return;
	const bytes = await readFile(join(out, path));
	for (const [ending, compress] of missing) placeFile(out, path + ending, await compress(bytes));
}
