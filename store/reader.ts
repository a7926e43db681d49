import { descriptionPath, layerPath, parseSmallkey } from "../registry/smallkey.ts";
import { blobId } from "./hashes.ts";
import type { Edit, Layer, LayerIds } from "./store.ts";

export interface FileEntry {
	/** `100644` or `100755` if it is a plain file. */
	mode: string;
	id: string;
}

export type Folder = ReadonlyMap<string, FileEntry>;

/** The files under `layers/` of one commit. */
export interface CommitFiles {
	/** A folder under `layers/`; empty if it does not exist. */
	folder(folder: string): Promise<Folder>;
	text(id: string, path: string): Promise<string>;
}

/** Returns a reader of the state at one commit, with later edits that are not committed yet. */
export function readerOf(files: CommitFiles) {
	/** Folder → name → new text, or null if the file is removed. */
	const changed = new Map<string, Map<string, string | null>>();

	/** Folder → lower-case smallkey → its spellings. */
	const spelt = new Map<string, Map<string, Set<string>>>();

	function overlay(edits: readonly Edit[]): void {
		for (const { path, text } of edits) {
			const [folder, name] = splitPath(path);
			const names = changed.get(folder) ?? new Map<string, string | null>();
			changed.set(folder, names.set(name, text));
			noteSpelling(spelt.get(folder), name, text !== null);
		}
	}

	async function read(smallkey: string): Promise<Layer | null> {
		const paths = [layerPath(smallkey), descriptionPath(smallkey)];
		const [registration = null, description = null] = await Promise.all(paths.map(textOf));
		return registration === null ? null : { registration, description };
	}

	async function ids(smallkey: string): Promise<LayerIds | null> {
		const paths = [layerPath(smallkey), descriptionPath(smallkey)];
		const [registration = null, description = null] = await Promise.all(paths.map(idOf));
		// A changed registration is always written in the canonical form.
		const isCanonical = typeof (await find(layerPath(smallkey))) === "string";
		return registration === null ? null : { registration, description, isCanonical };
	}

	async function keys(folder: string, like?: string): Promise<string[]> {
		const known = spelt.get(folder) ?? (await readSpellings(folder));
		const found = like === undefined ? [...known.values()] : [known.get(like.toLowerCase()) ?? []];
		return found.flatMap((spellings) => [...spellings]).sort();
	}

	async function readSpellings(folder: string): Promise<Map<string, Set<string>>> {
		const known = new Map<string, Set<string>>();
		for (const name of (await files.folder(folder)).keys()) noteSpelling(known, name, true);
		for (const [name, text] of changed.get(folder) ?? []) noteSpelling(known, name, text !== null);
		spelt.set(folder, known);
		return known;
	}

	/** The new text of a changed file, or the entry of an unchanged one; null if the file does not exist. */
	async function find(path: string): Promise<string | FileEntry | null> {
		const [folder, name] = splitPath(path);
		const text = changed.get(folder)?.get(name);
		return text === undefined ? ((await files.folder(folder)).get(name) ?? null) : text;
	}

	async function textOf(path: string): Promise<string | null> {
		const found = await find(path);
		if (found === null || typeof found === "string") return found;
		return isPlain(found) ? files.text(found.id, path) : null;
	}

	async function idOf(path: string): Promise<string | null> {
		const found = await find(path);
		if (typeof found === "string") return blobId(found);
		return found && isPlain(found) ? found.id : null;
	}

	return { overlay, read, ids, keys, find };
}

function noteSpelling(known: Map<string, Set<string>> | undefined, name: string, isStored: boolean): void {
	const smallkey = name.endsWith(".json") ? parseSmallkey(name.slice(0, -".json".length)) : null;
	if (!known || smallkey === null) return;
	const lower = smallkey.toLowerCase();
	const spellings = known.get(lower) ?? new Set();
	if (isStored) known.set(lower, spellings.add(smallkey));
	else spellings.delete(smallkey);
}

/** The kind of file that a mode of git means. Only plain files can be layers. */
export function kindOfMode(mode: string): "file" | "symlink" | "other" {
	if (mode === "100644" || mode === "100755") return "file";
	return mode === "120000" ? "symlink" : "other";
}

function isPlain({ mode }: FileEntry): boolean {
	return kindOfMode(mode) === "file";
}

/** The folder under `layers/` and the name of a path such as `layers/23/23ax5t.json`; the folder is `""` for other paths. */
function splitPath(path: string): [folder: string, name: string] {
	const [, folder = "", name = path] = /^layers\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
	return [folder, name];
}
