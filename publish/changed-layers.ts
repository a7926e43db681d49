import { type CheckedLayer, type FileProblem, judgeStored, type LayerFile } from "../registry/judge.ts";
import { folderOf, layerPaths, parseLayerPath } from "../registry/smallkey.ts";
import { groupBy } from "../registry/untrusted.ts";
import type { CommitReader } from "../store/git/commands/cat-file.ts";
import { runGit } from "../store/git/commands/run.ts";
import { listTree, type PathChange, readEntries } from "../store/git/commands/tree.ts";
import type { LocatedCommit } from "./collect.ts";
import { eachInSlices } from "./file-writer.ts";

/** In portions: the files of all spellings of each smallkey, sorted by path. */
type ReadSpellings = (lowerKeys: ReadonlySet<string>) => AsyncIterable<LayerFile[][]>;

/** @param changed null: all @param listed all paths under `layers/`, if listed already */
export async function readServed<T>(
	located: LocatedCommit,
	changed: readonly PathChange[] | null,
	make: (layer: CheckedLayer) => T,
	listed: readonly PathChange[] | null = null,
) {
	const all = listed ?? (changed ? null : await listTree(located.repository, located.commit, "layers/"));
	const { smallkeys, problems } = await namesIn(changed ?? all ?? []);
	const range = await readValid(located, smallkeys, commitLayers(located, all), make);
	return { ...range, problems: [...problems, ...range.problems] };
}

const maxWrong = 1_000;

/** Reads the last valid form of a wrong file. */
export async function readValid<T>(
	located: LocatedCommit,
	smallkeys: readonly string[],
	read: ReadSpellings,
	make: (layer: CheckedLayer) => T,
) {
	/** By smallkey; null: not served. */
	const layers = new Map<string, T | null>();
	const problems: FileProblem[] = [];
	const wrong: string[] = [];
	const lowerKeys = new Set<string>();
	await eachInSlices(smallkeys, (smallkey) => {
		lowerKeys.add(smallkey.toLowerCase());
		layers.set(smallkey, null);
	});
	for await (const portion of read(lowerKeys)) {
		await eachInSlices(portion, (spellings) => {
			const judged = judgeStored(spellings);
			problems.push(...judged.problems);
			// The first spelling by path; the others are problems.
			const [served] = judged.layers.values();
			for (const { path } of spellings) {
				const { smallkey, part } = parseLayerPath(path) ?? {};
				if (smallkey === undefined || part === "description") continue;
				layers.set(smallkey, smallkey === served?.smallkey ? make(served) : null);
				if (!served) wrong.push(smallkey);
			}
		});
	}
	for (const smallkey of wrong.slice(0, maxWrong)) {
		const layer = await findEarlier(located, smallkey);
		layers.set(smallkey, layer && make(layer));
	}
	return { layers, problems };
}

/** If there are more, all of `layers/` is listed. */
const maxFolders = 200;
/** In memory at once. */
const readAtOnce = 4_000;

/** For many layers: starts git processes. */
function commitLayers(
	{ repository, commit }: LocatedCommit,
	all: readonly PathChange[] | null,
): ReadSpellings {
	return async function* (lowerKeys) {
		const folders = [...new Set(Array.from(lowerKeys, (smallkey) => `layers/${folderOf(smallkey)}/`))];
		if (folders.length === 0) return;
		const where = folders.length > maxFolders ? "layers/" : folders;
		const lowerKeyOf = ({ path }: PathChange) => parseLayerPath(path)?.smallkey.toLowerCase() ?? "";
		const spellings = groupBy(all ?? (await listTree(repository, commit, where)), lowerKeyOf);
		const groups = [...spellings].filter(([lower]) => lowerKeys.has(lower)).map(([, group]) => group);
		for (let start = 0; start < groups.length; start += readAtOnce) {
			const some = groups.slice(start, start + readAtOnce);
			const files = await readEntries(repository, some.flat());
			yield some.map(({ length }) => files.splice(0, length));
		}
	};
}

/** For few layers: the store caches folders. */
export function storeLayers(reader: CommitReader): ReadSpellings {
	return async function* (lowerKeys) {
		for (const lower of lowerKeys) {
			const paths = (await reader.spellings(lower)).flatMap(layerPaths);
			const files = await Promise.all(paths.map((path) => reader.file(path)));
			yield [files.flatMap((file) => file ?? [])];
		}
	};
}

const maxCommits = 200;

/** Null without a valid registration. Removed content stays removed. */
async function findEarlier(located: LocatedCommit, smallkey: string): Promise<CheckedLayer | null> {
	const [path, descriptionPath] = layerPaths(smallkey);
	for await (const file of versionsOf(located, path)) {
		const served = judgeStored([file]).layers.get(smallkey);
		if (!served) continue;
		for await (const description of versionsOf(located, descriptionPath)) {
			const { layers, problems } = judgeStored([file, description]);
			if (problems.length === 0) return layers.get(smallkey) ?? served;
		}
		return served;
	}
	return null;
}

/** Newest first. Git uses the changed paths of the commit graph for one path only. */
async function* versionsOf({ repository, commit }: LocatedCommit, path: string) {
	const how = [`--max-count=${maxCommits}`, "--format=", "--raw", "--no-abbrev"];
	const output = await runGit(repository, ["log", ...how, commit, "--", path]);
	for (const line of output.toString("utf8").split("\n").filter(Boolean)) {
		const [, mode = "", , id = "", status = ""] = line.split(/[ \t]/);
		if (status === "D") return;
		yield* await readEntries(repository, [{ path, mode, id }]);
	}
}

/** `problems`: of files in wrong places. */
export async function namesIn(changes: Iterable<PathChange>) {
	const smallkeys = new Set<string>();
	const registered: string[] = [];
	const problems: FileProblem[] = [];
	await eachInSlices(changes, ({ path, mode }) => {
		const name = parseLayerPath(path);
		if (name) smallkeys.add(name.smallkey);
		if (mode === null) return;
		if (name?.part === "registration") registered.push(name.smallkey);
		if (!name) problems.push(...judgeStored([{ path, kind: "written" }]).problems);
	});
	return { smallkeys: [...smallkeys], registered, problems };
}
