import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { isCompanion, placeFile, removeTemporaryFiles } from "../../publish/place-file.ts";
import { langs } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/untrusted.ts";
import { ifThereSync } from "../../store/files/files.ts";
import { codeStamp } from "../../store/files/version.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";
import { pageFolders } from "../static/addresses.ts";
import { type PageSettings, pageSettingsPath } from "../static/page-settings.ts";
import { chunksFolder, layerPages, manifestPath } from "./entries.ts";
import { picturesStamp } from "./proofs.ts";

export type OutputFiles = Map<string, string | Uint8Array | null>;

/** Folders with files of the catalogue only. */
export const catalogueFolders: readonly string[] = [
	...pageFolders,
	...langs.flatMap((lang) => layerPages.map((page) => `${lang}/${page}`)),
	...["assets", "changes", "index", chunksFolder, "records", "schemas"],
	// Earlier versions had files there.
	...[
		"changes/layer",
		"publisher",
		"sitemap",
		...langs.flatMap((lang) => [`${lang}/health`, `${lang}/publisher`]),
	],
];

export const catalogueFiles: readonly string[] = [
	...["index.html", "site.json", pageSettingsPath, "robots.txt", "sitemap.xml"],
];

/** What a catalogue was made from: `<out>.catalogue`, beside the output. */
interface CatalogueState {
	stamp: string;
	/** Or the hash of a folder's files. */
	commit: string;
	pages: PageSettings;
	site: readonly string[];
	/** A catalogue with another number is incomplete. */
	files: number;
	/** Hash of the index, which names the commit and the chunks. */
	index: string;
	/** The believed date of the commit, in milliseconds since 1970; 0 if its history is not known. */
	dateMs: number;
}

export interface UsableState extends CatalogueState {
	isUntouched: (path: string) => boolean;
}

export function catalogueStamp(options: CatalogueOptions): string {
	return hashOf(codeStamp() + JSON.stringify(options) + picturesStamp(options.pictures));
}

const statePath = (out: string) => `${out}.catalogue`;

export function hashOf(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

const indexHash = (out: string) => hashOf(readText(out, manifestPath) ?? "");

/** @throws {Error} if the state cannot be read: a build from nothing would hide the fault */
export function readUsable(out: string, options: CatalogueOptions): UsableState | null {
	const path = statePath(out);
	const state = tryJson(readText(path) ?? "") as CatalogueState | null;
	if (state?.stamp !== catalogueStamp(options) || state.files !== presentFiles(out).length) return null;
	if (state.index !== indexHash(out)) return null;
	// The state is written last. No program can set `ctime` (inode(7)); a file of the same tick counts as untouched.
	const { mtimeMs } = statSync(path);
	const changedMs = (name: string) => statSync(join(out, name), { throwIfNoEntry: false })?.ctimeMs;
	return { ...state, isUntouched: (name) => (changedMs(name) ?? Infinity) <= mtimeMs };
}

/** Call it before files change: an interrupted catalogue has no state. */
export function removeState(out: string): void {
	rmSync(statePath(out), { force: true });
}

export function presentFiles(out: string): string[] {
	const files = catalogueFiles.filter((name) => existsSync(join(out, name)));
	return [...files, ...catalogueFolders.flatMap((folder) => filesIn(out, folder))];
}

function filesIn(out: string, folder: string): string[] {
	const path = join(out, folder);
	const names = ifThereSync(path, () => readdirSync(path)) ?? [];
	// Every file of the catalogue has an extension, and no folder has one. A stat of each would take too long.
	const files = names.filter((name) => name.includes(".", 1) && !isCompanion(name));
	return files.map((name) => `${folder}/${name}`);
}

export function readText(...names: string[]): string | null {
	const path = join(...names);
	return ifThereSync(path, () => readFileSync(path, "utf8"));
}

/** Marks unfinished files: another process writes fragments into the same output. */
const writer = "-catalogue";

const isAsset = (path: string) => path.startsWith("assets/");

/**
 * Writes the files that differ, a file before the pages or the index that name it, then removes files and writes the state.
 * @param isCompressed whether each file gets a `.gz`, and a `.br` if its name has a hash
 */
export function writeFiles(
	out: string,
	files: OutputFiles,
	isCompressed: boolean,
	state: Omit<CatalogueState, "files" | "index">,
) {
	removeTemporaryFiles(out, writer);
	const count = { written: 0, removed: 0 };
	const orderOf = ([path, content]: [string, unknown]) => {
		if (content === null) return 0;
		return isAsset(path) ? Number.MAX_SAFE_INTEGER : path.split("/").length;
	};
	for (const [path, content] of [...files].sort((a, b) => orderOf(b) - orderOf(a))) {
		mkdirSync(dirname(join(out, path)), { recursive: true });
		const copies = (bytes: Uint8Array) => (isCompressed ? compress(path, bytes) : []);
		const change = placeFile(out, path, content === null ? null : Buffer.from(content), { writer, copies });
		if (content === null) count.removed += 1;
		else if (change !== "same") count.written += 1;
	}
	const written: CatalogueState = { ...state, files: presentFiles(out).length, index: indexHash(out) };
	writeFileSync(statePath(out), `${JSON.stringify(written)}\n`);
	return count;
}

const minCompressedBytes = 1_000;

/** @param quality 9 takes as long as 5; 10 and 11 ten times as long, and save one percent of a large file */
export function brotliParams(bytes: Uint8Array, quality: number): Record<number, number> {
	return { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
}

/** Files with a hash in their name get a copy in Brotli, too. */
function compress(path: string, bytes: Uint8Array): [ending: string, copy: Uint8Array][] {
	if (bytes.length < minCompressedBytes) return [];
	// A chunk changes with a layer, an asset with a version.
	const [level, quality] = isAsset(path) ? [9, 9] : [6, 5];
	const copies: [string, Uint8Array][] = [[".gz", gzipSync(bytes, { level })]];
	if (isAsset(path) || path.startsWith(`${chunksFolder}/`))
		copies.push([".br", brotliCompressSync(bytes, { params: brotliParams(bytes, quality) })]);
	return copies;
}

export function removeCatalogue(out: string): void {
	const names = ifThereSync(out, () => readdirSync(out)) ?? [];
	if (!names.includes("index") && !names.includes("site.json")) return;
	removeState(out);
	for (const folder of catalogueFolders) rmSync(join(out, folder), { recursive: true, force: true });
	for (const name of catalogueFiles) placeFile(out, name, null);
}
