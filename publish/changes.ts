import { runGit } from "../git/run.ts";
import { listTree, type PathChange } from "../git/tree.ts";
import {
	type CheckedLayer,
	type JudgedFile,
	judgeFile,
	judgePlace,
	type LayerFile,
	orphanProblem,
	type Remark,
	twinProblem,
} from "../registry/judge.ts";
import {
	descriptionPath,
	folderOf,
	type LayerName,
	layerPath,
	parseLayerPath,
} from "../registry/smallkey.ts";
import type { CommitReader } from "../store/git/reader.ts";
import { readEntries } from "./collect.ts";
import { eachInSlices } from "./slices.ts";

/** The files of a layer, as stored at one commit; at least one is not null. */
interface StoredLayer {
	smallkey: string;
	file: LayerFile | null;
	description: LayerFile | null;
}

/**
 * Reads the files of all spellings of some smallkeys, sorted by path, and yields them in portions. A smallkey that is
 * not stored yields nothing.
 * @param wanted smallkeys in lower case
 */
export type ReadSpellings = (wanted: ReadonlySet<string>) => AsyncIterable<StoredLayer[][]>;

/** Everything that a commit range changes for readers, except the layers that are served at its end. */
export type RangeNotes = ReturnType<typeof emptyNotes>;

export function emptyNotes() {
	return {
		gone: new Set<string>(),
		problems: [] as Remark[],
		/** Smallkeys whose file is wrong: their last valid form is served. */
		wrong: [] as string[],
		registered: [] as string[],
	};
}

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
	const all = changed ? null : await listTree(repository, commit, "layers/");
	yield* changesOf(changed ?? all ?? [], commitLayers(repository, commit, all), notes);
	for (const smallkey of notes.wrong.slice(0, maxWrong)) {
		const layer = await findEarlier(repository, commit, smallkey);
		if (layer) yield [layer];
	}
}

/**
 * Yields the layers that a commit range changes, as they are served at its end, in portions as they are read.
 * @param changed the paths that differ between the two commits
 * @param read reads layers at the end of the range
 * @param notes receives everything else; complete after the last layer
 */
export async function* changesOf(
	changed: Iterable<PathChange>,
	read: ReadSpellings,
	notes: RangeNotes,
): AsyncGenerator<CheckedLayer[]> {
	for await (const portion of read(await noteChanges(changed, notes))) {
		const layers: CheckedLayer[] = [];
		await eachInSlices(portion, (spellings) => {
			const layer = pickServed(spellings, notes);
			if (layer) layers.push(layer);
		});
		yield layers;
	}
}

/** Notes the removed and the written registrations. @returns the smallkeys to read, in lower case */
async function noteChanges(
	changed: Iterable<PathChange>,
	{ gone, problems, registered }: RangeNotes,
): Promise<Set<string>> {
	const wanted = new Set<string>();
	await eachInSlices(changed, ({ path, mode }) => {
		const name = parseLayerPath(path);
		if (!name) {
			const problem = mode === null ? null : judgePlace({ path, isRemoved: false });
			if (problem) problems.push(problem);
			return;
		}
		wanted.add(name.smallkey.toLowerCase());
		if (name.kind !== "registration") return;
		// `pickServed` deletes it from `gone` if the end of the range has it.
		gone.add(name.smallkey);
		if (mode !== null) registered.push(name.smallkey);
	});
	return wanted;
}

/**
 * Picks the one layer to serve among layers whose smallkeys differ only in case: the first by path with a valid file.
 * A pull request or a push can bring such layers. A checkout on a case-insensitive disk would lose all but one.
 * @param spellings sorted by path; nearly always one
 * @param notes receives the other layers and the problems
 * @returns null if no file is valid: the layer that is served stays
 */
function pickServed(spellings: readonly StoredLayer[], notes: RangeNotes): CheckedLayer | null {
	let served: CheckedLayer | null = null;
	for (const { smallkey, file, description } of spellings) {
		if (!file) {
			notes.problems.push(orphanProblem(smallkey));
			continue;
		}
		const { registration, problems } = judgeFile(file, "stored");
		notes.problems.push(...problems);
		if (!registration) continue;
		if (served) notes.problems.push(twinProblem(smallkey, served.smallkey));
		const described = description && judgeFile(description, "stored");
		notes.problems.push(...(described?.problems ?? []));
		served ??= { smallkey, registration, description: described?.description ?? null };
	}
	for (const { smallkey, file } of spellings) {
		if (!file) continue;
		if (served && smallkey !== served.smallkey) notes.gone.add(smallkey);
		else notes.gone.delete(smallkey);
		if (!served) notes.wrong.push(smallkey);
	}
	return served;
}

/** Up to this number of folders, only these folders are listed; above it, all of `layers/` is. */
const maxFolders = 200;
/** How many smallkeys of a commit one process of git reads, and how many are in memory at once. */
const readAtOnce = 500;
/** How many smallkeys are read at once through the store: the event loop does other work between them. */
const cachedAtOnce = 64;

/**
 * Reads layers of a commit with git processes: suited to many layers.
 * @param all all paths under `layers/`, if they are listed already; sorted
 */
export function commitLayers(
	repository: string,
	commit: string,
	all: readonly PathChange[] | null = null,
): ReadSpellings {
	return async function* (wanted) {
		const folders = [...new Set([...wanted].map((smallkey) => `layers/${folderOf(smallkey)}/`))];
		if (folders.length === 0) return;
		const where = folders.length > maxFolders ? "layers/" : folders;
		/** The files of each smallkey in lower case. */
		const groups = new Map<string, PathChange[]>();
		await eachInSlices(all ?? (await listTree(repository, commit, where)), (file) => {
			const lower = parseLayerPath(file.path)?.smallkey.toLowerCase();
			if (lower === undefined || !wanted.has(lower)) return;
			const group = groups.get(lower);
			if (group) group.push(file);
			else groups.set(lower, [file]);
		});
		const listed = [...groups.values()];
		for (let start = 0; start < listed.length; start += readAtOnce) {
			const some = listed.slice(start, start + readAtOnce);
			const files = await readEntries(repository, some.flat());
			yield some.map(({ length }) => layersOf(files.splice(0, length)));
		}
	};
}

/** Reads layers through the store, which caches folders: suited to few layers. */
export function storeLayers(at: CommitReader): ReadSpellings {
	const read = async (lower: string) => {
		const smallkeys = await at.spellings(lower);
		const paths = smallkeys.flatMap((smallkey) => [layerPath(smallkey), descriptionPath(smallkey)]);
		const files = await Promise.all(paths.map((path) => at.file(path)));
		return layersOf(files.flatMap((file) => file ?? []));
	};
	return async function* (wanted) {
		const smallkeys = [...wanted];
		while (smallkeys.length > 0) yield await Promise.all(smallkeys.splice(0, cachedAtOnce).map(read));
	};
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
		const [file] = await readEntries(repository, [{ path, mode, id }]);
		const judged = file && judgeFile(file, "stored");
		if (judged?.problems.length === 0) return judged;
	}
	return null;
}
