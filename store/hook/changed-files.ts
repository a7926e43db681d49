import { dirname } from "node:path";
import {
	judgeFile,
	judgeKind,
	judgeNames,
	judgePlace,
	maxBytesOf,
	maxOtherBytes,
	namesOf,
	type Remark,
} from "../../registry/judge.ts";
import { isOtherFile, parseLayerPath } from "../../registry/smallkey.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { readObjects, readSizes } from "../../system/git/cat-file.ts";
import { diffTree, kindOfMode, listTree, type PathChange } from "../../system/git/tree.ts";

/** Up to this number of folders, only these folders are listed; above it, all of `layers/` is. */
const maxFolders = 200;

/**
 * Judges only the files that differ between two commits, by the rules for written layers, like a PUT and a pull request.
 * @param from the commit of the branch; null if the branch does not exist
 * @returns the number of changed layer files; the problems; and the warnings: what is accepted, but looks like a mistake
 */
export async function judgeFiles(repository: string, from: string | null, to: string) {
	const changes = await (from === null ? listTree(repository, to, []) : diffTree(repository, from, to, ":/"));
	const layers = changes.filter(({ path }) => parseLayerPath(path) !== null);
	const problems: Remark[] = [];
	const warnings: Remark[] = [];
	for (const { path, mode } of changes) {
		const problem = judgePlace({ path, isRemoved: mode === null });
		if (problem) problems.push(problem);
		else if (mode !== null && !path.startsWith("layers/") && path.endsWith(".json"))
			warnings.push({ file: path, text: "is kept, but no layer: layers/ has those" });
	}
	const [wrongNames] = await Promise.all([
		judgeAllNames(repository, from, layers),
		judgeContents(repository, changes, problems, warnings),
	]);
	for (const problem of wrongNames) problems.push(problem);
	return { layerFiles: layers.length, problems, warnings };
}

/** Judges the names of changed files against those in the same folders. */
async function judgeAllNames(
	repository: string,
	from: string | null,
	layers: readonly PathChange[],
): Promise<Remark[]> {
	const folders = [...new Set(layers.map(({ path }) => `${dirname(path)}/`))];
	const where = folders.length > maxFolders ? "layers/" : folders;
	const listed = from === null || folders.length === 0 ? [] : await listTree(repository, from, where);
	const edits = layers.map(({ path, mode }) => ({ path, isRemoved: mode === null }));
	return judgeNames(edits, namesOf(listed.map(({ path }) => path)));
}

/** Judges the kinds and sizes of changed files, and the contents of the files that the service reads. */
async function judgeContents(
	repository: string,
	changes: readonly PathChange[],
	problems: Remark[],
	warnings: Remark[],
): Promise<void> {
	const present = changes.flatMap(({ path, mode, id }) =>
		mode === null || id === null || path === "layers" ? [] : [{ path, kind: kindOfMode(mode), id }],
	);
	const plain = present.filter(({ kind }) => kind === "file").map(({ id }) => id);
	const sizes = await readSizes(repository, plain);
	const read = present.filter(({ path, kind, id }) => {
		const isLayer = parseLayerPath(path) !== null;
		const maxBytes = isLayer ? maxBytesOf(path) : maxOtherBytes;
		const problem = judgeKind(path, kind, sizes.get(id) ?? 0, maxBytes);
		if (problem) problems.push(problem);
		return !problem && (isLayer || isOtherFile(path));
	});
	const files = read.values();
	const ids = read.map(({ id }) => id);
	for await (const blobs of readObjects(repository, "blob", ids)) {
		for (const { body: bytes } of blobs) {
			const { path } = files.next().value as (typeof read)[number];
			const { registration, problems: found } = judgeFile({ path, kind: "file", bytes }, "written");
			problems.push(...found);
			for (const text of registration ? warningsOf(registration) : []) warnings.push({ file: path, text });
		}
	}
}
