import { basename, dirname } from "node:path";
import { CatFile, readBlobs, readSizes } from "../../git/cat-file.ts";
import { runGit } from "../../git/run.ts";
import { diffTree, kindOfMode, type PathChange } from "../../git/tree.ts";
import {
	judgeFile,
	judgeKind,
	judgePlace,
	type LayerFile,
	maxBytesOf,
	maxOtherBytes,
} from "../../registry/judge.ts";
import { judgeNames, type Remark } from "../../registry/judge-names.ts";
import { ownersPath } from "../../registry/owners.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { CommitReader } from "../git/reader.ts";

export interface Judged {
	layerFiles: number;
	problems: Remark[];
	/** What is odd, and accepted. */
	warnings: Remark[];
}

/**
 * Judges the files that differ between two commits, and no others: by the rules of what is written, as a PUT and a
 * pull request are.
 * @param from the commit of the branch; null where there is no branch
 */
export async function judgeFiles(repository: string, from: string | null, to: string): Promise<Judged> {
	const judged: Judged = { layerFiles: 0, problems: [], warnings: [] };
	const changes = await diffTree(repository, from ?? (await emptyTree(repository)), to, ":/");
	const layers = changes.filter((change) => isLayers(change, judged));
	judged.layerFiles = layers.length;
	await Promise.all([
		judgeAllNames(repository, from, layers, judged.problems),
		judgeContents(repository, changes, judged),
	]);
	return judged;
}

/** The id of the tree without files, in the repository's own kind of ids. */
async function emptyTree(repository: string): Promise<string> {
	const output = await runGit(repository, ["hash-object", "-t", "tree", "--stdin"], { input: "" });
	return output.toString("latin1").trim();
}

/** Judges where a changed file is and what it is called; whether it is a layer's file. */
function isLayers({ path, mode }: PathChange, { problems, warnings }: Judged): boolean {
	const problem = judgePlace({ path, isRemoved: mode === null });
	if (problem) problems.push(problem);
	else if (mode !== null && !path.startsWith("layers/") && path.endsWith(".json"))
		warnings.push({ file: path, text: "is kept, but no layer: layers/ has those" });
	return parseLayerPath(path) !== null;
}

async function judgeAllNames(
	repository: string,
	from: string | null,
	layers: readonly PathChange[],
	problems: Remark[],
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

/** Judges what changed files are, and what is in those that the service reads. */
async function judgeContents(
	repository: string,
	changes: readonly PathChange[],
	judged: Judged,
): Promise<void> {
	const { problems } = judged;
	const present = changes.filter(({ path, mode }) => mode !== null && path !== "layers");
	const isFile = ({ mode }: PathChange) => kindOfMode(mode as string) === "file";
	const sizes = await readSizes(
		repository,
		present.filter(isFile).map(({ id }) => id as string),
	);
	const read: PathChange[] = [];
	for (const change of present) {
		const { path, mode, id } = change;
		const isLayer = parseLayerPath(path) !== null;
		const maxBytes = isLayer ? maxBytesOf(path) : maxOtherBytes;
		const bytes = sizes.get(id as string) ?? 0;
		const problem = judgeKind(path, kindOfMode(mode as string), bytes, maxBytes);
		if (problem) problems.push(problem);
		else if (isLayer || path === ownersPath) read.push(change);
	}
	await readAndJudge(repository, read, judged);
}

async function readAndJudge(
	repository: string,
	changes: readonly PathChange[],
	judged: Judged,
): Promise<void> {
	let next = 0;
	const ids = changes.map(({ id }) => id as string);
	for await (const blobs of readBlobs(repository, ids)) {
		for (const bytes of blobs) {
			const { path } = changes[next++] as PathChange;
			judgeContent({ path, kind: "file", bytes }, judged);
		}
	}
}

function judgeContent(file: LayerFile, { problems, warnings }: Judged): void {
	const { registration, problems: found } = judgeFile(file, "written");
	problems.push(...found);
	if (!registration) return;
	for (const text of warningsOf(registration)) warnings.push({ file: file.path, text });
}
