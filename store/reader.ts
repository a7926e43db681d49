import { descriptionPath, layerPath, parseSmallkey } from "../registry/smallkey.ts";
import { problemAt } from "../registry/texts.ts";
import { blobId } from "./hashes.ts";
import type { Edit, Layer, LayerIds, Reader, Refusal } from "./store.ts";

export interface FileEntry {
	/** Git's: `100644` or `100755` for a plain file; old commits have other rights, such as `100664`. */
	mode: string;
	id: string;
}

export type Folder = ReadonlyMap<string, FileEntry>;

export interface CommitFiles {
	folder(folder: string): Promise<Folder>;
	text(id: string, path: string): Promise<string>;
}

export function readerOf(files: CommitFiles) {
	const changed = new Map<string, Map<string, string | null>>();

	const spellings = new Map<string, Map<string, Set<string>>>();

	function overlay(edits: readonly Edit[]): void {
		for (const { path, text } of edits) {
			const [folder, name] = splitPath(path);
			const names = changed.get(folder) ?? new Map<string, string | null>();
			changed.set(folder, names.set(name, text));
			noteSpelling(spellings.get(folder), name, text !== null);
		}
	}

	async function read(smallkey: string): Promise<Layer | null> {
		const [registration = null, description = null] = await Promise.all(pathsOf(smallkey).map(textOf));
		return registration === null ? null : { registration, description };
	}

	async function ids(smallkey: string): Promise<LayerIds | null> {
		const [registration = null, description = null] = await Promise.all(pathsOf(smallkey).map(idOf));
		return registration === null ? null : { registration, description };
	}

	async function keys(folder: string, like?: string): Promise<string[]> {
		const all = spellings.get(folder) ?? (await readSpellings(folder));
		const sets = like === undefined ? [...all.values()] : [all.get(like.toLowerCase()) ?? []];
		return sets.flatMap((set) => [...set]).sort();
	}

	async function readSpellings(folder: string): Promise<Map<string, Set<string>>> {
		const all = new Map<string, Set<string>>();
		for (const name of (await files.folder(folder)).keys()) noteSpelling(all, name, true);
		for (const [name, text] of changed.get(folder) ?? []) noteSpelling(all, name, text !== null);
		spellings.set(folder, all);
		return all;
	}

	async function find(path: string): Promise<string | FileEntry | null> {
		const [folder, name] = splitPath(path);
		const text = changed.get(folder)?.get(name);
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

	return { overlay, read, ids, keys, find };
}

function pathsOf(smallkey: string): string[] {
	return [layerPath(smallkey), descriptionPath(smallkey)];
}

function noteSpelling(all: Map<string, Set<string>> | undefined, name: string, isStored: boolean): void {
	const smallkey = name.endsWith(".json") ? parseSmallkey(name.slice(0, -".json".length)) : null;
	if (!all || smallkey === null) return;
	const lower = smallkey.toLowerCase();
	const spellings = all.get(lower) ?? new Set();
	if (isStored) all.set(lower, spellings.add(smallkey));
	else spellings.delete(smallkey);
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

/** Whether a review differs from the served state in a layer. A change of no single layer always does. */
export async function isProposed(smallkey: string | null, review: Reader, served: Reader): Promise<boolean> {
	if (smallkey === null) return true;
	const [proposed, stored] = await Promise.all([review.ids(smallkey), served.ids(smallkey)]);
	return proposed?.registration !== stored?.registration;
}

/**
 * Refuses a new smallkey while another spelling waits for review: only one of them can be accepted.
 * @param waiting smallkeys that wait, at least all spellings of this one
 */
export async function refuseTwin(
	smallkey: string | null,
	now: Reader,
	waiting: (smallkey: string) => Promise<string[]>,
): Promise<Refusal | null> {
	if (smallkey === null || (await now.ids(smallkey)) !== null) return null;
	const isTwin = (other: string) => other !== smallkey && other.toLowerCase() === smallkey.toLowerCase();
	const twin = (await waiting(smallkey)).find(isTwin);
	return twin === undefined ? null : twinWaits(smallkey, twin);
}

export function twinWaits(smallkey: string, other: string): Refusal {
	return {
		status: 409,
		reason: "other case",
		errors: [problemAt("smallkey", "case-twin-waits", smallkey, other)],
	};
}
