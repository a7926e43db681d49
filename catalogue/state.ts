import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeStamp } from "../files/code-stamp.ts";
import { ifThereSync } from "../files/if-there.ts";
import { isCompanion } from "../publish/place-file.mjs";
import { chunksFolder } from "../registry/entries.ts";
import { langs } from "../registry/smallkey.ts";
import { tryJson } from "../registry/try-json.ts";
import type { CatalogueOptions } from "./options.ts";
import { layerFolders, listFolders, openSearchFile } from "./static/addresses.ts";
import { type Assets, pageSettingsPath } from "./static/html.ts";

/** What a catalogue was made from: kept beside the output as `<out>.catalogue`, never served. */
export interface CatalogueState {
	/** Stamp of everything but the layers that decides what is written. */
	stamp: string;
	/** The commit of the layers, in full; null where they were of no commit. */
	commit: string | null;
	assets: Assets;
	/** Number of its files in the output: one that lacks some is not whole. */
	files: number;
}

/** Folders below the output that hold nothing but the catalogue. */
export const catalogueFolders: readonly string[] = [
	...["assets", "changes", "en", layerFolders.en, "fr", layerFolders.fr, "guide", "guide/fr", "index"],
	...[chunksFolder, listFolders.en, listFolders.fr, "records", "schemas", "sitemap"],
];

/** Its files in the output folder itself; the last ones only where the address of the site is known. */
export const catalogueFiles: readonly string[] = [
	...["index.html", "site.json", pageSettingsPath, "robots.txt"],
	...[...langs.map(openSearchFile), "sitemap.xml"],
];

/** A stamp of everything but the layers that decides what a catalogue holds. */
export function catalogueStamp(options: CatalogueOptions): string {
	return createHash("sha256").update(codeStamp()).update(JSON.stringify(options)).digest("hex");
}

function statePath(out: string): string {
	return `${out}.catalogue`;
}

/**
 * What the catalogue in an output was made from; null where there is none that is whole.
 * @throws {Error} with the path where it is there and cannot be read: a build from nothing would hide the fault
 */
export function readState(out: string): CatalogueState | null {
	const path = statePath(out);
	const text = ifThereSync(path, () => readFileSync(path, "utf8"));
	const state = tryJson(text ?? "") as CatalogueState | null;
	return state && state.files === presentFiles(out).length ? state : null;
}

/** Forgets what a catalogue was made from, before it is changed. */
export function removeState(out: string): void {
	rmSync(statePath(out), { force: true });
}

/** Keeps what a catalogue was made from, once it is whole. */
export function writeState(out: string, state: Omit<CatalogueState, "files">): void {
	writeFileSync(statePath(out), `${JSON.stringify({ ...state, files: presentFiles(out).length })}\n`);
}

/** Paths of the catalogue's files in an output, or of those in some of its folders. */
export function presentFiles(out: string, folders = [".", ...catalogueFolders]): string[] {
	return folders.flatMap((folder) => {
		if (folder === ".") return catalogueFiles.filter((name) => existsSync(join(out, name)));
		return namesIn(out, folder).map((name) => `${folder}/${name}`);
	});
}

/**
 * Names in a folder of the output without compressed copies; none where there is no such folder.
 * @throws {Error} with the path where it is there and cannot be read
 */
export function namesIn(out: string, folder: string): string[] {
	const path = join(out, folder);
	const names = ifThereSync(path, () => readdirSync(path)) ?? [];
	// Every file of the catalogue has an ending, and no folder has one: to ask for each would take longer than the rest.
	return names.filter((name) => name.includes(".", 1) && !isCompanion(name));
}
