import { descriptionPath, layerPath, parseSmallkey } from "../registry/smallkey.ts";
import { groupBy } from "../registry/untrusted.ts";
import { blobId } from "./hashes.ts";
import type { Edit, Layer } from "./store.ts";

export interface FileEntry {
	/** `100644` or `100755` for a plain file; in old commits such as `100664`, too. */
	mode: string;
	id: string;
}

/** Name → file. */
export type Folder = ReadonlyMap<string, FileEntry>;

export interface CommitFiles {
	/** @param name below `layers/` @returns empty if it does not exist */
	folder(name: string): Promise<Folder>;
	text(id: string, path: string): Promise<string>;
}

/** Reads each key once, and again after a failure. */
export function memoize<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
	const values = new Map<string, Promise<T>>();
	return (key) => {
		const earlier = values.get(key);
		if (earlier) return earlier;
		const value = read(key);
		values.set(key, value);
		value.catch(() => values.delete(key));
		return value;
	};
}

/** Keyed by the name in lower case; kept, since a batch may change thousands of layers in one folder. */
const namesByFolder = new WeakMap<Folder, Map<string, string[]>>();

function namesLike(folder: Folder, name: string): string[] {
	const names = namesByFolder.get(folder) ?? groupBy(folder.keys(), (key) => key.toLowerCase());
	namesByFolder.set(folder, names);
	return names.get(name.toLowerCase()) ?? [];
}

export function readerOf(files: CommitFiles) {
	/** Path in lower case → path → text. */
	const edited = new Map<string, Map<string, string | null>>();

	function overlay(edits: readonly Edit[]): void {
		for (const { path, text } of edits) {
			const lower = path.toLowerCase();
			edited.set(lower, (edited.get(lower) ?? new Map<string, string | null>()).set(path, text));
		}
	}

	async function spellings(smallkey: string): Promise<string[]> {
		const path = layerPath(smallkey);
		const { folder, name } = splitPath(path);
		const names = namesLike(await files.folder(folder), name);
		const paths = new Set(names.map((spelling) => `layers/${folder}/${spelling}`));
		for (const [editedPath, text] of edited.get(path.toLowerCase()) ?? [])
			if (text === null) paths.delete(editedPath);
			else paths.add(editedPath);
		// Leaves out a Kelvin sign (U+212A), whose lower case is `k`.
		return [...paths]
			.flatMap((spelling) => parseSmallkey(splitPath(spelling).name.slice(0, -".json".length)) ?? [])
			.sort();
	}

	async function find(path: string): Promise<string | FileEntry | null> {
		const { folder, name } = splitPath(path);
		const text = edited.get(path.toLowerCase())?.get(path);
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

	return {
		overlay,
		find,
		spellings,
		read: (smallkey: string) => layerOf(smallkey, textOf),
		ids: (smallkey: string) => layerOf(smallkey, idOf),
	};
}

async function layerOf(
	smallkey: string,
	textOrIdOf: (path: string) => Promise<string | null>,
): Promise<Layer | null> {
	const parts = [textOrIdOf(layerPath(smallkey)), textOrIdOf(descriptionPath(smallkey))] as const;
	const [registration, description] = await Promise.all(parts);
	return registration === null ? null : { registration, description };
}

/** Only plain files can be layers. */
export function kindOfMode(mode: string): "file" | "symlink" | "other" {
	if (/^100[0-7]{3}$/.test(mode)) return "file";
	return mode === "120000" ? "symlink" : "other";
}

function isPlain({ mode }: FileEntry): boolean {
	return kindOfMode(mode) === "file";
}

function splitPath(path: string): { folder: string; name: string } {
	const [, folder = "", name = path] = /^layers\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
	return { folder, name };
}
