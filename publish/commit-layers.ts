import { listTree, type PathChange } from "../git/tree.ts";
import type { LayerFile } from "../registry/judge.ts";
import { descriptionPath, folderOf, layerPath, parseLayerPath } from "../registry/smallkey.ts";
import type { ReadSpellings, StoredLayer } from "./changes.ts";
import { streamEntries } from "./collect.ts";

/** Folders up to which only they are listed. */
const maxFolders = 200;
/** Layers that are read from the store at once. */
const readAtOnce = 64;

/** Reads layers of a commit by processes of git: for many. */
export function commitLayers(repository: string, commit: string): ReadSpellings {
	return async function* (wanted) {
		const folders = new Set([...wanted].map((smallkey) => `layers/${folderOf(smallkey)}/`));
		if (folders.size === 0) return;
		const listed = await listTree(repository, commit, folders.size > maxFolders ? "layers/" : [...folders]);
		yield* streamLayers(repository, listed, wanted);
	};
}

/** What a store has read of a commit. */
export interface ReadCommit {
	/** The stored smallkeys that are the same but for case, sorted. */
	spellings: (smallkey: string) => Promise<string[]>;
	/** One file of a layer, or null. */
	file: (path: string) => Promise<LayerFile | null>;
}

/** Reads layers through the store, which remembers folders: for few. */
export function storeLayers(at: ReadCommit): ReadSpellings {
	return async function* (wanted) {
		const smallkeys = [...wanted];
		for (let start = 0; start < smallkeys.length; start += readAtOnce) {
			const some = smallkeys.slice(start, start + readAtOnce);
			yield await Promise.all(some.map((smallkey) => readSpellings(smallkey, at)));
		}
	};
}

async function readSpellings(lower: string, at: ReadCommit): Promise<StoredLayer[]> {
	const smallkeys = await at.spellings(lower);
	const paths = smallkeys.flatMap((smallkey) => [layerPath(smallkey), descriptionPath(smallkey)]);
	const files = await Promise.all(paths.map((path) => at.file(path)));
	return layersOf(files.flatMap((file) => file ?? []));
}

/**
 * Reads listed layers of a commit, in portions as they come: of each all spellings.
 * @param listed sorted by path
 * @param wanted smallkeys in lower case; null: all
 */
export async function* streamLayers(
	repository: string,
	listed: readonly PathChange[],
	wanted: ReadonlySet<string> | null = null,
): AsyncGenerator<StoredLayer[][]> {
	const groups = groupSpellings(listed, wanted);
	let files: LayerFile[] = [];
	let next = 0;
	for await (const some of streamEntries(repository, groups.flat())) {
		const portion: StoredLayer[][] = [];
		for (const file of some) {
			if (files.push(file) < (groups[next]?.length ?? 0)) continue;
			portion.push(layersOf(files));
			files = [];
			next += 1;
		}
		yield portion;
	}
}

/** The layers of files that were read, of each all spellings. @param files sorted by path */
export function layersIn(files: readonly LayerFile[]): StoredLayer[][] {
	return groupSpellings(files, null).map(layersOf);
}

/** Files of layers by their smallkey in lower case. */
function groupSpellings<File extends { path: string }>(
	listed: readonly File[],
	wanted: ReadonlySet<string> | null,
): File[][] {
	const groups = new Map<string, File[]>();
	for (const file of listed) {
		const name = parseLayerPath(file.path);
		if (!name) continue;
		const lower = name.smallkey.toLowerCase();
		if (wanted && !wanted.has(lower)) continue;
		const group = groups.get(lower);
		if (group) group.push(file);
		else groups.set(lower, [file]);
	}
	return [...groups.values()];
}

/** A description without a registration describes nothing. */
function layersOf(files: readonly LayerFile[]): StoredLayer[] {
	return files.flatMap((file) => {
		const name = parseLayerPath(file.path);
		if (name?.kind !== "registration") return [];
		const path = descriptionPath(name.smallkey);
		return { smallkey: name.smallkey, file, description: files.find((one) => one.path === path) ?? null };
	});
}
