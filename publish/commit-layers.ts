import { readObjects } from "../git/cat-file.ts";
import { runGit } from "../git/run.ts";
import { listTree, type PathChange } from "../git/tree.ts";
import { type CheckedLayer, type JudgedFile, judgeFile, type LayerFile } from "../registry/judge.ts";
import {
	descriptionPath,
	folderOf,
	type LayerName,
	layerPath,
	parseLayerPath,
} from "../registry/smallkey.ts";
import type { CommitReader } from "../store/git/reader.ts";
import { changesOf, type RangeNotes, type ReadSpellings, type StoredLayer } from "./changes.ts";
import { readEntries } from "./collect.ts";

/** Up to this number of folders, only these folders are listed; above it, all of `layers/` is. */
const maxFolders = 200;
const readAtOnce = 64;

/** How many layers of a commit one process of git reads, and how many are in memory at once. */
const groupsAtOnce = 500;

/** The highest number of wrong files whose last valid form is looked for. */
export const maxWrong = 1_000;

/**
 * Yields the layers that a commit range changes, as they are served at its end, in portions as they are read. Layers
 * whose file is wrong come last, in their last valid form.
 * @param changed the paths that differ; null: the range starts from nothing
 * @param notes receives everything else; complete after the last layer
 */
export async function* servedLayers(
	repository: string,
	commit: string,
	changed: readonly PathChange[] | null,
	notes: RangeNotes,
): AsyncGenerator<CheckedLayer[]> {
	const listed = changed ?? (await listTree(repository, commit, "layers/"));
	const read = changed ? commitLayers(repository, commit) : () => streamLayers(repository, listed);
	yield* changesOf(listed, read, notes);
	for (const smallkey of notes.wrong.slice(0, maxWrong)) {
		const layer = await findEarlier(repository, commit, smallkey);
		if (layer) yield [layer];
	}
}

/** Reads layers of a commit with git processes: suited to many layers. */
export function commitLayers(repository: string, commit: string): ReadSpellings {
	return async function* (wanted) {
		const folders = new Set([...wanted].map((smallkey) => `layers/${folderOf(smallkey)}/`));
		if (folders.size === 0) return;
		const listed = await listTree(repository, commit, folders.size > maxFolders ? "layers/" : [...folders]);
		yield* streamLayers(repository, listed, wanted);
	};
}

/** Reads layers through the store, which caches folders: suited to few layers. */
export function storeLayers(at: CommitReader): ReadSpellings {
	return async function* (wanted) {
		const smallkeys = [...wanted];
		for (let start = 0; start < smallkeys.length; start += readAtOnce) {
			const some = smallkeys.slice(start, start + readAtOnce);
			yield await Promise.all(some.map((smallkey) => readSpellings(smallkey, at)));
		}
	};
}

async function readSpellings(lower: string, at: CommitReader): Promise<StoredLayer[]> {
	const smallkeys = await at.spellings(lower);
	const paths = smallkeys.flatMap((smallkey) => [layerPath(smallkey), descriptionPath(smallkey)]);
	const files = await Promise.all(paths.map((path) => at.file(path)));
	return layersOf(files.flatMap((file) => file ?? []));
}

/**
 * Reads listed layers of a commit, in portions; all spellings of a smallkey come together.
 * @param listed sorted by path
 * @param wanted smallkeys in lower case; null: all
 */
export async function* streamLayers(
	repository: string,
	listed: readonly PathChange[],
	wanted: ReadonlySet<string> | null = null,
): AsyncGenerator<StoredLayer[][]> {
	const groups = groupSpellings(listed, wanted);
	for (let start = 0; start < groups.length; start += groupsAtOnce) {
		const some = groups.slice(start, start + groupsAtOnce);
		const files = await readEntries(repository, some.flat());
		yield some.map(({ length }) => layersOf(files.splice(0, length)));
	}
}

/** Groups the files of layers by their smallkey in lower case. */
function groupSpellings(listed: readonly PathChange[], wanted: ReadonlySet<string> | null): PathChange[][] {
	const groups = new Map<string, PathChange[]>();
	for (const file of listed) {
		const lower = parseLayerPath(file.path)?.smallkey.toLowerCase();
		if (lower === undefined || wanted?.has(lower) === false) continue;
		const group = groups.get(lower);
		if (group) group.push(file);
		else groups.set(lower, [file]);
	}
	return [...groups.values()];
}

/** Makes layers of the files of one group of spellings. @param files sorted by path */
function layersOf(files: readonly LayerFile[]): StoredLayer[] {
	const layers = new Map<string, StoredLayer>();
	for (const file of files) {
		const { smallkey, kind } = parseLayerPath(file.path) as LayerName;
		const layer = layers.get(smallkey) ?? { smallkey, file: null, description: null };
		layers.set(smallkey, layer);
		layer[kind === "registration" ? "file" : "description"] = file;
	}
	return [...layers.values()];
}

/** The highest number of commits in which valid content of a layer is looked for. */
const maxCommits = 200;

/**
 * Finds the last valid form of a layer whose file is wrong at a commit: the newest valid content of the registration and
 * of the description. Each search ends at the commit that removed the file, so that removed content stays removed.
 * @param commit full id
 * @returns null if the registration has no valid content
 */
export async function findEarlier(
	repository: string,
	commit: string,
	smallkey: string,
): Promise<CheckedLayer | null> {
	const paths = [layerPath(smallkey), descriptionPath(smallkey)];
	const how = [`--max-count=${maxCommits}`, "--format=", "--raw", "--no-abbrev"];
	const output = await runGit(repository, ["log", ...how, commit, "--", ...paths]);
	const lines = output.toString("utf8").split("\n").filter(Boolean);
	const [registered, described] = await Promise.all(paths.map((path) => findValid(repository, lines, path)));
	const registration = registered?.registration ?? null;
	return registration && { smallkey, registration, description: described?.description ?? null };
}

/** Finds the newest valid content of a file; null if there is none. @param lines of `git log --raw` */
async function findValid(
	repository: string,
	lines: readonly string[],
	path: string,
): Promise<JudgedFile | null> {
	for (const line of lines) {
		const [, mode = "", , id = "", status = "", name] = line.split(/[ \t]/);
		if (name !== path) continue;
		if (status === "D") return null;
		// Only plain files: the content of a symbolic link is a path.
		if (!mode.startsWith("100")) continue;
		for await (const [blob] of readObjects(repository, "blob", [id])) {
			const judged = judgeFile({ path, kind: "file", bytes: blob?.body ?? Buffer.alloc(0) }, "stored");
			if (judged.problems.length === 0) return judged;
		}
	}
	return null;
}
