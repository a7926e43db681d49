import { listTree, type PathChange } from "../git/tree.ts";
import { type LayerFile, parseLayerPath } from "../registry/catalogue.ts";
import { descriptionPath, folderOf, layerPath } from "../registry/smallkey.ts";
import type { ReadSpellings, StoredLayer } from "./changes.ts";
import { streamEntries } from "./collect.ts";

/** The files of all spellings of one smallkey, as listed. */
interface Spellings<File extends { path: string }> {
	/** Sorted by path; nearly always one. */
	registrations: File[];
	/** By smallkey. */
	descriptions: Map<string, File>;
}

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
	return Promise.all(
		(await at.spellings(lower)).map(async (smallkey) => {
			const paths = [layerPath(smallkey), descriptionPath(smallkey)];
			const [file = null, description = null] = await Promise.all(paths.map((path) => at.file(path)));
			return { smallkey, file, description };
		}),
	);
}

/**
 * Listed files by their smallkey in lower case.
 * @param listed sorted by path
 * @param wanted smallkeys in lower case; null: all
 */
function groupSpellings<File extends { path: string }>(
	listed: readonly File[],
	wanted: ReadonlySet<string> | null,
): Spellings<File>[] {
	const groups = new Map<string, Spellings<File>>();
	for (const file of listed) {
		const name = parseLayerPath(file.path);
		if (typeof name === "string") continue;
		const lower = name.smallkey.toLowerCase();
		if (wanted && !wanted.has(lower)) continue;
		const group: Spellings<File> = groups.get(lower) ?? { registrations: [], descriptions: new Map() };
		if (name.kind === "registration") group.registrations.push(file);
		else group.descriptions.set(name.smallkey, file);
		groups.set(lower, group);
	}
	// A description without a registration describes nothing.
	return [...groups.values()].filter(({ registrations }) => registrations.length > 0);
}

/** Reads listed layers of a commit, in portions as they come: of each all spellings. */
export async function* streamLayers(
	repository: string,
	listed: readonly PathChange[],
	wanted: ReadonlySet<string> | null = null,
): AsyncGenerator<StoredLayer[][]> {
	const groups = groupSpellings(listed, wanted);
	const entries = groups.flatMap(({ registrations, descriptions }) => [
		...registrations,
		...descriptions.values(),
	]);
	let files = new Map<string, LayerFile>();
	let next = 0;
	for await (const some of streamEntries(repository, entries)) {
		const layers: StoredLayer[][] = [];
		for (const file of some) {
			files.set(file.path, file);
			const group = groups[next] as Spellings<PathChange>;
			if (files.size < group.registrations.length + group.descriptions.size) continue;
			layers.push(layersOf(group, files));
			files = new Map();
			next += 1;
		}
		if (layers.length > 0) yield layers;
	}
}

/** The layers of files that were read, of each all spellings. @param files sorted by path */
export function layersIn(files: readonly LayerFile[]): StoredLayer[][] {
	const byPath = new Map(files.map((file) => [file.path, file]));
	return groupSpellings(files, null).map((group) => layersOf(group, byPath));
}

function layersOf(
	{ registrations, descriptions }: Spellings<{ path: string }>,
	files: ReadonlyMap<string, LayerFile>,
): StoredLayer[] {
	return registrations.map(({ path }) => {
		const name = parseLayerPath(path);
		const smallkey = typeof name === "string" ? "" : name.smallkey;
		const description = descriptions.get(smallkey);
		return {
			smallkey,
			file: files.get(path) ?? null,
			description: description ? (files.get(description.path) ?? null) : null,
		};
	});
}
