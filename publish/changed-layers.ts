import {
	type CheckedLayer,
	type EditedFile,
	type FileProblem,
	judgeChange,
	type LayerFile,
	namesOf,
} from "../registry/judge.ts";
import { descriptionPath, folderOf, layerPath, parseLayerPath } from "../registry/smallkey.ts";
import type { CommitReader } from "../store/git/commands/cat-file.ts";
import { runGit } from "../store/git/commands/run.ts";
import { listTree, type PathChange, readEntries } from "../store/git/commands/tree.ts";
import { eachInSlices } from "./file-writer.ts";

/** Yields, for each of some smallkeys in lower case, the files of all its spellings, sorted by path; in portions. */
type ReadSpellings = (lowerKeys: ReadonlySet<string>) => AsyncIterable<LayerFile[][]>;

const maxWrong = 1_000;

/**
 * Reads what a commit range changes, with the last valid form of each layer whose file is wrong.
 * @param changed the paths that differ; null: the range starts from nothing
 * @param listed all paths under `layers/`, if they are listed already
 */
export async function readServed<T>(
	repository: string,
	commit: string,
	changed: readonly PathChange[] | null,
	make: (layer: CheckedLayer) => T,
	listed: readonly PathChange[] | null = null,
) {
	const all = listed ?? (changed ? null : await listTree(repository, commit, "layers/"));
	const range = await readRange(changed ?? all ?? [], commitLayers(repository, commit, all), make);
	for (const [index, smallkey] of range.wrong.entries()) {
		const layer = index < maxWrong ? await findEarlier(repository, commit, smallkey) : null;
		range.layers.set(smallkey, layer && make(layer));
	}
	return range;
}

/**
 * Reads what a commit range changes for readers, in slices.
 * @param read reads layers at the end of the range
 */
export async function readRange<T>(
	changed: Iterable<PathChange>,
	read: ReadSpellings,
	make: (layer: CheckedLayer) => T,
) {
	const range = {
		/** Smallkey → what was made of the layer; null: it is not served at the end of the range. */
		layers: new Map<string, T | null>(),
		problems: [] as FileProblem[],
		/** Smallkeys whose file is wrong: their last valid form is served. They are not in `layers`. */
		wrong: [] as string[],
	};
	const { layers, problems, wrong } = range;
	const lowerKeys = new Set<string>();
	await eachInSlices(changed, ({ path, mode }) => {
		const name = parseLayerPath(path);
		if (!name) {
			if (mode !== null) problems.push(...judgeStored([{ path, kind: "written" }]).problems);
			return;
		}
		lowerKeys.add(name.smallkey.toLowerCase());
		if (name.kind !== "registration") return;
		// Null stays if the end of the range does not have the file.
		layers.set(name.smallkey, null);
	});
	for await (const portion of read(lowerKeys)) {
		await eachInSlices(portion, (spellings) => {
			const judged = judgeStored(spellings);
			problems.push(...judged.problems);
			// The first spelling by path with a valid file; the others are problems.
			const [served] = judged.layers.values();
			for (const { path } of spellings) {
				const { smallkey, kind } = parseLayerPath(path) ?? {};
				if (smallkey === undefined || kind === "description") continue;
				if (served) layers.set(smallkey, smallkey === served.smallkey ? make(served) : null);
				else {
					layers.delete(smallkey);
					wrong.push(smallkey);
				}
			}
		});
	}
	return range;
}

function judgeStored(files: readonly EditedFile[]) {
	return judgeChange(namesOf(files), files, "stored");
}

/** Of more folders, all of `layers/` is listed. */
const maxFolders = 200;
/** Layers that one process of git reads, and that are in memory at once. */
const readAtOnce = 4_000;
const cachedAtOnce = 64;

/** Reads with git processes: suited to many layers. */
function commitLayers(repository: string, commit: string, all: readonly PathChange[] | null): ReadSpellings {
	return async function* (lowerKeys) {
		const folders = [...new Set([...lowerKeys].map((smallkey) => `layers/${folderOf(smallkey)}/`))];
		if (folders.length === 0) return;
		const where = folders.length > maxFolders ? "layers/" : folders;
		const spellings = spellingsIn(all ?? (await listTree(repository, commit, where)));
		const groups = [...spellings].filter(([lower]) => lowerKeys.has(lower)).map(([, group]) => group);
		for (let start = 0; start < groups.length; start += readAtOnce) {
			const some = groups.slice(start, start + readAtOnce);
			const files = await readEntries(repository, some.flat());
			yield some.map(({ length }) => files.splice(0, length));
		}
	};
}

function spellingsIn(files: Iterable<PathChange>): Map<string, PathChange[]> {
	const groups = new Map<string, PathChange[]>();
	for (const file of files) {
		const lower = parseLayerPath(file.path)?.smallkey.toLowerCase();
		if (lower === undefined) continue;
		const group = groups.get(lower);
		if (group) group.push(file);
		else groups.set(lower, [file]);
	}
	return groups;
}

/** Reads through the store, which caches folders: suited to few layers. */
export function storeLayers(at: CommitReader): ReadSpellings {
	const read = async (lower: string) => {
		const spellings = await at.keys(folderOf(lower), lower);
		const paths = spellings.flatMap((smallkey) => [layerPath(smallkey), descriptionPath(smallkey)]);
		const files = await Promise.all(paths.map((path) => at.file(path)));
		return files.flatMap((file) => file ?? []);
	};
	return async function* (lowerKeys) {
		const smallkeys = [...lowerKeys];
		while (smallkeys.length > 0) yield await Promise.all(smallkeys.splice(0, cachedAtOnce).map(read));
	};
}

const maxCommits = 200;

/**
 * Finds the newest valid content of the registration and of the description; null without a valid registration. Each
 * search ends at the commit that removed the file, so that removed content stays removed.
 */
export async function findEarlier(
	repository: string,
	commit: string,
	smallkey: string,
): Promise<CheckedLayer | null> {
	const paths = [layerPath(smallkey), descriptionPath(smallkey)];
	const how = [`--max-count=${maxCommits}`, "--format=", "--raw", "--no-abbrev"];
	// Git uses the changed paths of the commit graph for one path only: two take as long as without a graph.
	const read = async (path: string) => {
		const output = await runGit(repository, ["log", ...how, commit, "--", path]);
		return versionsOf(repository, output.toString("utf8").split("\n").filter(Boolean), path);
	};
	const versions = await Promise.all(paths.map(read));
	const [registrations, descriptions] = versions as [Versions, Versions];
	for await (const file of registrations) {
		const served = judgeStored([file]).layers.get(smallkey);
		if (!served) continue;
		for await (const description of descriptions) {
			const { layers, problems } = judgeStored([file, description]);
			if (problems.length === 0) return layers.get(smallkey) ?? served;
		}
		return served;
	}
	return null;
}

type Versions = AsyncGenerator<LayerFile>;

/** Newest first. @param lines of `git log --raw` */
async function* versionsOf(repository: string, lines: readonly string[], path: string): Versions {
	for (const line of lines) {
		const [, mode = "", , id = "", status = ""] = line.split(/[ \t]/);
		if (status === "D") return;
		yield* await readEntries(repository, [{ path, mode, id }]);
	}
}

/** The smallkeys of some changes, those whose registrations were written, and the changes of files that are no layer's. */
export async function namesIn(changes: readonly PathChange[]) {
	const smallkeys = new Set<string>();
	const registered: string[] = [];
	const misplaced: PathChange[] = [];
	await eachInSlices(changes, (change) => {
		const name = parseLayerPath(change.path);
		if (!name) return misplaced.push(change);
		smallkeys.add(name.smallkey);
		if (name.kind === "registration" && change.mode !== null) registered.push(name.smallkey);
	});
	return { smallkeys: [...smallkeys], registered, misplaced };
}
