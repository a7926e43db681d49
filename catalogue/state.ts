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

/** What a catalogue was made from. It is saved as `<out>.catalogue`, beside the output, and never served. */
export interface CatalogueState {
	/** Hash of the code and of all options. */
	stamp: string;
	/** Full id of the commit of the layers; null if they come from a folder. */
	commit: string | null;
	assets: Assets;
	/** Number of the catalogue's files in the output; with another number the catalogue is incomplete. */
	files: number;
}

/** Folders below the output that have only files of the catalogue. */
export const catalogueFolders: readonly string[] = [
	...["assets", "changes", "en", layerFolders.en, "fr", layerFolders.fr, "guide", "guide/fr", "index"],
	...[chunksFolder, listFolders.en, listFolders.fr, "records", "schemas", "sitemap"],
];

/** The catalogue's files in the output folder itself; some exist only if the address of the site is known. */
export const catalogueFiles: readonly string[] = [
	...["index.html", "site.json", pageSettingsPath, "robots.txt"],
	...[...langs.map(openSearchFile), "sitemap.xml"],
];

/** Hash of the code and of all options: the catalogue's content depends only on them and the layers. */
export function catalogueStamp(options: CatalogueOptions): string {
	return createHash("sha256").update(codeStamp()).update(JSON.stringify(options)).digest("hex");
}

function statePath(out: string): string {
	return `${out}.catalogue`;
}

/**
 * Reads what the catalogue in an output was made from; null if there is no complete catalogue.
 * @throws {Error} with the path if the file exists but cannot be read: a build from nothing would hide the fault
 */
export function readState(out: string): CatalogueState | null {
	const path = statePath(out);
	const text = ifThereSync(path, () => readFileSync(path, "utf8"));
	const state = tryJson(text ?? "") as CatalogueState | null;
	return state && state.files === presentFiles(out).length ? state : null;
}

/** Removes the state of a catalogue, before its files change. */
export function removeState(out: string): void {
	rmSync(statePath(out), { force: true });
}

/** Writes the state of a catalogue, once all its files are written. */
export function writeState(out: string, state: Omit<CatalogueState, "files">): void {
	writeFileSync(statePath(out), `${JSON.stringify({ ...state, files: presentFiles(out).length })}\n`);
}

/** Paths of the catalogue's files in an output, or only of those in some folders (`.` is the output itself). */
export function presentFiles(out: string, folders = [".", ...catalogueFolders]): string[] {
	return folders.flatMap((folder) => {
		if (folder === ".") return catalogueFiles.filter((name) => existsSync(join(out, name)));
		return namesIn(out, folder).map((name) => `${folder}/${name}`);
	});
}

/**
 * Names of the files in a folder of the output, without compressed copies; empty if there is no such folder.
 * @throws {Error} with the path if the folder exists but cannot be read
 */
export function namesIn(out: string, folder: string): string[] {
	const path = join(out, folder);
	const names = ifThereSync(path, () => readdirSync(path)) ?? [];
	// Every file of the catalogue has an extension, and no folder has one. A stat of each would take too long.
	return names.filter((name) => name.includes(".", 1) && !isCompanion(name));
}
