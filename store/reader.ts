import { descriptionPath, layerPath, parseSmallkey } from "../registry/smallkey.ts";
import { groupBy } from "../registry/values.ts";
import { blobId } from "./hashes.ts";
import type { Edit, Layer } from "./store.ts";

export interface FileEntry {
	/** Git's: `100644` or `100755` for a plain file; old commits have other rights, such as `100664`. */
	mode: string;
	id: string;
}

/** Name → file. */
export type Folder = ReadonlyMap<string, FileEntry>;

export interface CommitFiles {
	folder(folder: string): Promise<Folder>;
	text(id: string, path: string): Promise<string>;
}

/** Folder → name in lower case → names: a batch may change thousands of layers in one folder. */
const namesByFolder = new WeakMap<Folder, Map<string, string[]>>();

function namesLike(folder: Folder, name: string): string[] {
	const names = namesByFolder.get(folder) ?? groupBy(folder.keys(), (each) => each.toLowerCase());
	namesByFolder.set(folder, names);
	return names.get(name.toLowerCase()) ?? [];
}

export function readerOf(files: CommitFiles) {
	/** Path in lower case → path → text. */
	const changed = new Map<string, Map<string, string | null>>();

	function overlay(edits: readonly Edit[]): void {
		for (const { path, text } of edits) {
			const lower = path.toLowerCase();
			changed.set(lower, (changed.get(lower) ?? new Map<string, string | null>()).set(path, text));
		}
	}

	function partsBy(partOf: (path: string) => Promise<string | null>) {
		return async (smallkey: string): Promise<Layer | null> => {
			const paths = [layerPath(smallkey), descriptionPath(smallkey)];
			const [registration = null, description = null] = await Promise.all(paths.map(partOf));
			return registration === null ? null : { registration, description };
		};
	}

	async function spellings(smallkey: string): Promise<string[]> {
		const path = layerPath(smallkey);
		const [folder, name] = splitPath(path);
		const paths = new Set(
			namesLike(await files.folder(folder), name).map((each) => `layers/${folder}/${each}`),
		);
		for (const [other, text] of changed.get(path.toLowerCase()) ?? [])
			text === null ? paths.delete(other) : paths.add(other);
		// No other character has the lower case of a letter of smallkeys, but for the Kelvin sign.
		return [...paths]
			.flatMap((each) => parseSmallkey(splitPath(each)[1].slice(0, -".json".length)) ?? [])
			.sort();
	}

	async function find(path: string): Promise<string | FileEntry | null> {
		const [folder, name] = splitPath(path);
		const text = changed.get(path.toLowerCase())?.get(path);
		return text === undefined ? ((await files.folder(folder)).get(name) ?? null) : text;
	}

	async function textOf(path: string): Promise<string | null> {
		const file = await find(path);
		if (file === null || typeof file === "string") return file;
		return isPlain(file) ? files.text(file.id, path) : null;
	}

	async function idOf(path: string): Promise<string | null> {
		const file = await find(path);
		if (typeof file === "string") return blobId(file);
		return file && isPlain(file) ? file.id : null;
	}

	return { overlay, read: partsBy(textOf), ids: partsBy(idOf), spellings, find };
}

/** The kind of file that a mode of git means. Only plain files can be layers. */
export function kindOfMode(mode: string): "file" | "symlink" | "other" {
	if (/^100[0-7]{3}$/.test(mode)) return "file";
	return mode === "120000" ? "symlink" : "other";
}

function isPlain({ mode }: FileEntry): boolean {
	return kindOfMode(mode) === "file";
}

function splitPath(path: string): [folder: string, name: string] {
	const [, folder = "", name = path] = /^layers\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
	return [folder, name];
}
