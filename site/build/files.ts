import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import pMap from "p-map";
import { fragmentHeaders } from "../../api/reply.ts";
import { isCompanion, placeFile } from "../../publish/place-file.ts";
import { mapWithProgress } from "../../publish/progress.ts";
import { slotFolder, slotsOf } from "../../publish/rendered.ts";
import { targetNames, targetOf } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { ifThere } from "../../store/files/files.ts";
import { catalogueFiles, catalogueFolders } from "../data/output.ts";
import { siteGroups } from "../http/site-headers.ts";

const compressedMark = ".compressed";

/** zlib uses four threads (libuv's pool). */
const maxConcurrent = 8;

/**
 * Above this size brotli's two best qualities take ten times as long as quality 9, and save a hundredth of
 * the bytes.
 */
const largeFileBytes = 16_000;

const codings = new Map<string, (bytes: Uint8Array) => Promise<Buffer>>([
	[".gz", (bytes) => promisify(gzip)(bytes, { level: 9 })],
	[".br", (bytes) => promisify(brotliCompress)(bytes, { params: brotliParams(bytes.length) })],
]);

function brotliParams(bytes: number): Record<number, number> {
	const quality = bytes > largeFileBytes ? 9 : 11;
	return { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes };
}

/**
 * Writes the files that a hosting needs beside the fragments: Cloudflare's `_headers` (Cloudflare gives an
 * asset without an extension no Content-Type) and `.assetsignore`; with `compress` a `.gz` and a `.br` of
 * each file for a web server. Unchanged files are not written again. Removes the copies of removed files;
 * without `compress` all copies.
 */
export async function writeHostingFiles(
	out: string,
	compress: boolean,
	targets: readonly TargetName[] = targetNames,
	site = false,
): Promise<void> {
	placeFile(out, "_headers", Buffer.from(headersFile(targets, site)));
	placeFile(out, ".assetsignore", Buffer.from(`*.gz\n*.br\n${compressedMark}\n`));
	const mark = join(out, compressedMark);
	if (compress) placeFile(out, compressedMark, Buffer.alloc(0));
	// Without the mark no earlier build has compressed files here, and no folder has to be listed.
	if (!compress && !existsSync(mark)) return;
	const folders = [...slotsOf({ targets }).map(slotFolder), ...(site ? catalogueFolders : [])];
	for (const folder of folders) await syncCompanions(out, folder, compress);
	const names: readonly string[] = catalogueFiles;
	const isOwn = (name: string) => names.includes(name.replace(/\.(?:gz|br)$/, ""));
	if (site) await syncCompanions(out, ".", compress, isOwn);
	if (!compress) await rm(mark);
}

/**
 * Cloudflare's `_headers` for static assets (Workers, "Static assets", "Headers"). The worker sets the
 * headers of folders.
 */
function headersFile(targets: readonly TargetName[], site: boolean): string {
	const fragments = targets.map((name) => headersRule(`/${targetOf(name).doc}/*`, fragmentHeaders));
	// No file may match two rules: Cloudflare joins their values.
	const groups = site ? siteGroups : [];
	const rules = groups.flatMap(({ paths, headers }) => paths.map((path) => headersRule(path, headers)));
	return [...fragments, ...rules].join("\n");
}

function headersRule(path: string, headers: Readonly<Record<string, string>>): string {
	const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}\n`);
	return `${path}\n${lines.join("")}`;
}

/**
 * Writes missing compressed copies, and removes those of removed files. Copies are never outdated:
 * `placeFile` removes the copies of a file that it changes.
 */
async function syncCompanions(
	out: string,
	folder: string,
	compress: boolean,
	isOwn: (name: string) => boolean = () => true,
): Promise<void> {
	// A folder of the catalogue may be missing: without history there are no changes.
	const path = join(out, folder);
	const entries = (await ifThere(path, readdir(path, { withFileTypes: true }))) ?? [];
	const names = entries.filter((entry) => entry.isFile() && isOwn(entry.name)).map(({ name }) => name);
	const plain = names.filter((name) => !isCompanion(name));
	const endings = compress ? [...codings.keys()] : [];
	const copies = new Set(endings.flatMap((ending) => plain.map((name) => name + ending)));
	const stale = names.filter((name) => isCompanion(name) && !copies.has(name));
	await pMap(stale, (name) => rm(join(path, name)), { concurrency: maxConcurrent });
	const present = new Set(names);
	const lacking = plain.filter((name) => endings.some((ending) => !present.has(name + ending)));
	await mapWithProgress(lacking, `compressing ${folder}`, maxConcurrent, async (name) => {
		const bytes = await readFile(join(path, name));
		for (const [ending, code] of codings)
			if (!present.has(name + ending)) placeFile(out, join(folder, name + ending), await code(bytes));
	});
}
