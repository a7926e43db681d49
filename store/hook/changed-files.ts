import { dirname } from "node:path";
import { type EditedFile, type FileProblem, judgeChange } from "../../registry/judge.ts";
import { maxBytesOf, type NamesBefore, namesOf } from "../../registry/layer-file.ts";
import { warningsOf } from "../../registry/registration.ts";
import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import { problemAt } from "../../registry/texts.ts";
import { readEntries, sizesOf } from "../git/commands/entries.ts";
import { diffTree, listTree, type PathChange } from "../git/commands/tree.ts";

/** Up to this number of folders, only these folders are listed; above it, all of `layers/` is. */
const maxFolders = 200;

/** Bytes of files that are in memory at once: a push may have gigabytes. */
const maxPortionBytes = 16 << 20;

/**
 * Judges only the files that differ between two commits, by the rules for written layers, like a PUT and a pull request.
 * @param from the commit of the branch; null if the branch does not exist
 * @returns the number of changed layer files; the problems; and the warnings: what is accepted, but looks like a mistake
 */
export async function judgeCommits(repository: string, from: string | null, to: string) {
	const changes = await (from === null ? listTree(repository, to, []) : diffTree(repository, from, to, ":/"));
	const layers = changes.filter(({ path }) => parseLayerPath(path) !== null);
	// A first push moves a catalogue from another repository: its smallkeys are not new.
	const names = from === null ? namesOf(layers) : await namesAt(repository, from, layers);
	const problems: FileProblem[] = [];
	const warnings: FileProblem[] = [];
	for (const { path, mode } of changes) {
		if (mode !== null && !path.startsWith("layers/") && path.endsWith(".json"))
			warnings.push({ file: path, ...problemAt("", "no-layer") });
	}
	for await (const portion of readPortions(repository, changes)) {
		const judged = judgeChange(names, portion, "anyone");
		// Not by a spread, which has a limit of arguments: a push may have 100,000 wrong files.
		for (const problem of judged.problems) problems.push(problem);
		for (const [smallkey, { registration }] of judged.layers)
			warnings.push(...warningsOf(registration).map((one) => ({ ...one, file: layerPath(smallkey) })));
	}
	return { layerFiles: layers.length, problems, warnings };
}

/** The names of files at a commit, in the folders of changed layers. */
async function namesAt(
	repository: string,
	commit: string,
	layers: readonly PathChange[],
): Promise<NamesBefore> {
	const folders = [...new Set(layers.map(({ path }) => `${dirname(path)}/`))];
	const where = folders.length > maxFolders ? "layers/" : folders;
	return namesOf(folders.length === 0 ? [] : await listTree(repository, commit, where));
}

/**
 * Reads changed files for the judge, in portions that have all files of a smallkey in any spelling. Files outside
 * `layers/`, and files over their limit, are not read.
 */
async function* readPortions(
	repository: string,
	changes: readonly PathChange[],
): AsyncGenerator<EditedFile[]> {
	const sizes = await sizesOf(repository, changes);
	const sizeOf = ({ id }: PathChange) => sizes.get(id ?? "") ?? 0;
	const standIn = (change: PathChange) => {
		if (sizeOf(change) > maxBytesOf(change.path)) return maxBytesOf(change.path) + 1;
		return change.path.startsWith("layers/") ? null : 0;
	};
	const read = async (portion: readonly PathChange[]): Promise<EditedFile[]> => {
		const written = await readEntries(repository, portion.filter(isWritten), standIn);
		const removed = portion.filter((change) => !isWritten(change));
		return [...written, ...removed.map(({ path }) => ({ path, kind: "removed" as const }))];
	};
	let portion: PathChange[] = [];
	let bytes = 0;
	for (const group of groupsOf(changes)) {
		for (const change of group) {
			portion.push(change);
			bytes += standIn(change) ?? sizeOf(change);
		}
		if (bytes < maxPortionBytes) continue;
		yield await read(portion);
		[portion, bytes] = [[], 0];
	}
	yield await read(portion);
}

const isWritten = ({ mode }: PathChange) => mode !== null;

/** Groups changes by the smallkey in lower case, or by the path of a file that is no layer's. */
function groupsOf(changes: readonly PathChange[]): Iterable<PathChange[]> {
	const groups = new Map<string, PathChange[]>();
	for (const change of changes) {
		const key = parseLayerPath(change.path)?.smallkey.toLowerCase() ?? change.path;
		const group = groups.get(key);
		if (group) group.push(change);
		else groups.set(key, [change]);
	}
	return groups.values();
}
