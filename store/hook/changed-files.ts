import { basename, dirname } from "node:path";
import { CatFile, readObjects, readSizes } from "../../git/cat-file.ts";
import { runGit } from "../../git/run.ts";
import { diffTree, kindOfMode, type PathChange } from "../../git/tree.ts";
import { judgeFile, judgeKind, judgePlace, maxBytesOf, maxOtherBytes } from "../../registry/judge.ts";
import { judgeNames, type Remark } from "../../registry/judge-names.ts";
import { ownersPath } from "../../registry/owners.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { CommitReader } from "../git/reader.ts";

export interface Judged {
	layerFiles: number;
	problems: Remark[];
	/** Remarks about accepted files that look like mistakes. */
	warnings: Remark[];
}

/**
 * Judges only the files that differ between two commits, by the rules for written layers, like a PUT and a pull request.
 * @param from the commit of the branch; null if the branch does not exist
 */
export async function judgeFiles(repository: string, from: string | null, to: string): Promise<Judged> {
	const changes = await diffTree(repository, from ?? (await emptyTree(repository)), to, ":/");
	const layers = changes.filter(({ path }) => parseLayerPath(path) !== null);
	const judged: Judged = { layerFiles: layers.length, problems: [], warnings: [] };
	for (const { path, mode } of changes) {
		const problem = judgePlace({ path, isRemoved: mode === null });
		if (problem) judged.problems.push(problem);
		else if (mode !== null && !path.startsWith("layers/") && path.endsWith(".json"))
			judged.warnings.push({ file: path, text: "is kept, but no layer: layers/ has those" });
	}
	await Promise.all([
		judgeAllNames(repository, from, layers, judged),
		judgeContents(repository, changes, judged),
	]);
	return judged;
}

/** The id of the empty tree, in the repository's object format: SHA-1 or SHA-256. */
async function emptyTree(repository: string): Promise<string> {
	const output = await runGit(repository, ["hash-object", "-t", "tree", "--stdin"], { input: "" });
	return output.toString("latin1").trim();
}

async function judgeAllNames(
	repository: string,
	from: string | null,
	layers: readonly PathChange[],
	{ problems }: Judged,
): Promise<void> {
	const catFile = new CatFile(repository);
	const commit = from === null ? null : new CommitReader(catFile, from);
	const before = new Map<string, string[]>();
	try {
		for (const folder of new Set(layers.map(({ path }) => basename(dirname(path)))))
			before.set(folder, (await commit?.names(folder)) ?? []);
	} finally {
		await catFile.close();
	}
	const edits = layers.map(({ path, mode }) => ({ path, isRemoved: mode === null }));
	for (const problem of judgeNames(edits, (folder) => before.get(folder) ?? [])) problems.push(problem);
}

/** Judges the kinds and sizes of changed files, and the contents of the files that the service reads. */
async function judgeContents(
	repository: string,
	changes: readonly PathChange[],
	{ problems, warnings }: Judged,
): Promise<void> {
	const present = changes.flatMap(({ path, mode, id }) =>
		mode === null || id === null || path === "layers" ? [] : [{ path, kind: kindOfMode(mode), id }],
	);
	const plain = present.filter(({ kind }) => kind === "file");
	const sizes = await readSizes(
		repository,
		plain.map(({ id }) => id),
	);
	const read = present.filter(({ path, kind, id }) => {
		const isLayer = parseLayerPath(path) !== null;
		const maxBytes = isLayer ? maxBytesOf(path) : maxOtherBytes;
		const problem = judgeKind(path, kind, sizes.get(id) ?? 0, maxBytes);
		if (problem) problems.push(problem);
		return !problem && (isLayer || path === ownersPath);
	});
	let next = 0;
	const ids = read.map(({ id }) => id);
	for await (const blobs of readObjects(repository, "blob", ids)) {
		for (const { body: bytes } of blobs) {
			const path = read[next++]?.path as string;
			const { registration, problems: found } = judgeFile({ path, kind: "file", bytes }, "written");
			problems.push(...found);
			for (const text of registration ? warningsOf(registration) : []) warnings.push({ file: path, text });
		}
	}
}
