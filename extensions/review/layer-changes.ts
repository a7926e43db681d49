import { resolve } from "node:path";
import { type Node, type ParseError, parseTree } from "jsonc-parser";
import { resolveCommit } from "../../publish/collect.ts";
import { isNestedBeyond, maxDepth, strictly } from "../../registry/json.ts";
import {
	type CheckedLayer,
	type EditedFile,
	type FileProblem,
	judgeChange,
	judgeStored,
	type LayerFile,
	pathsByKey,
} from "../../registry/judge.ts";
import { warningsOf } from "../../registry/registration.ts";
import { healthPath, layerPath, layerPaths, ownersPath, parseLayerPath } from "../../registry/smallkey.ts";
import { textIn } from "../../registry/texts.ts";
import { groupBy } from "../../registry/untrusted.ts";
import { withTemporaryFolder } from "../../store/files/files.ts";
import { GitFailure, gitText, withQuarantine } from "../../store/git/commands/run.ts";
import {
	diffTree,
	findTooMany,
	listTree,
	type PathChange,
	readLimited,
} from "../../store/git/commands/tree.ts";

export interface Merge {
	/** If it cannot be merged: what the head changes since its merge base. */
	changed: PathChange[];
	paths: string[];
	/** Why it cannot be merged, in one line; null if it can. */
	obstacle: string | null;
}

export const conflictObstacle = "the base has changed the same lines: merge it into the branch";

/**
 * Reads the tree that a merge makes. GitHub lists the changes since one merge base, and there may be several. Nothing is
 * written into the repository, which may be another user's.
 * @throws {Error} if the two have no commit in common, or the head has too many files
 */
export async function withMerge<Result>(
	repository: string,
	base: string,
	head: string,
	task: (merge: Merge) => Promise<Result>,
): Promise<Result> {
	const bases = await gitText(repository, ["merge-base", "--all", base, head]).catch((error: GitFailure) => {
		throw error.code === 1 ? new Error(`${repository}: ${base} and ${head} have no commit in common`) : error;
	});
	const tooMany = await findTooMany(repository, head);
	if (tooMany !== null) throw new Error(tooMany);
	const [fork = "", ...others] = bases.split("\n");
	const run = async (obstacle: string | null, from = fork, to = head) => {
		const changed = await diffTree(repository, from, to, ":/");
		return task({ changed, paths: changed.map(({ path }) => path), obstacle });
	};
	const advice = "so its merge may write what GitHub does not list: put its changes on a new branch";
	if (others.length > 0) return run(`${others.length + 1} merge bases, ${advice}`);
	if (fork === base) return run(null);
	const objects = resolve(repository, await gitText(repository, ["rev-parse", "--git-path", "objects"]));
	return withTemporaryFolder("fragment-publisher-merge-", (folder) => {
		// A path in quotes may have a colon (git(1)).
		const GIT_ALTERNATE_OBJECT_DIRECTORIES = JSON.stringify(objects);
		const paths = { GIT_QUARANTINE_PATH: folder, GIT_OBJECT_DIRECTORY: folder };
		return withQuarantine({ ...paths, GIT_ALTERNATE_OBJECT_DIRECTORIES }, async () => {
			const tree = await mergeTrees(repository, base, head);
			return tree === null ? run(conflictObstacle) : run(null, base, tree);
		});
	});
}

/** @returns the id of the merge's tree, which it writes; null if there is a conflict */
export async function mergeTrees(repository: string, base: string, head: string): Promise<string | null> {
	try {
		const printed = await gitText(repository, ["merge-tree", "--write-tree", "--no-messages", base, head]);
		return printed.split("\n")[0] ?? "";
	} catch (error) {
		if (error instanceof GitFailure && error.code === 1) return null;
		throw error;
	}
}

/**
 * Checks the changed files under `layers/`: each by itself, and its name against all names after the merge.
 * @throws {Error} as `withMerge`, and if there is no such commit
 */
export async function readChanges(repository: string, base: string, head: string) {
	const [baseId, headId] = [await resolveCommit(repository, base), await resolveCommit(repository, head)];
	return withMerge(repository, baseId, headId, (merge) => changesOf(repository, merge, baseId));
}

async function changesOf(repository: string, { changed, paths, obstacle }: Merge, base: string) {
	const inLayers = changed.filter(({ path }) => `${path}/`.startsWith("layers/"));
	const edited = inLayers.map(({ path }) => path);
	const smallkeys = [...new Set(edited.flatMap((path) => parseLayerPath(path)?.smallkey ?? []))].sort();
	const needed = new Set([ownersPath, ...edited, ...smallkeys.flatMap(layerPaths)]);
	const listed = await listTree(repository, base, "layers/");
	const stored = listed.filter(({ path }) => needed.has(path));
	const before = await readFiles(repository, stored);
	const after = new Map(before);
	for (const path of edited) after.delete(path);
	for (const [path, file] of await readFiles(repository, inLayers)) after.set(path, file);
	const edits = edited.map((path): EditedFile => after.get(path) ?? { path, kind: "removed" });
	const { problems } = judgeChange(pathsByKey(listed), edits, "anyone");
	const wrongFiles = new Set(problems.map(({ file }) => file));
	const layers = layersOf(smallkeys, before, after, wrongFiles);
	const warnings = layers.flatMap(({ file, after: layer }) => {
		if (!layer || after.get(file) === before.get(file)) return [];
		return warningsOf(layer.registration).map((warning) => ({ ...warning, file }));
	});
	return {
		obstacle,
		paths,
		/** Files of no layer and without a problem, but for what harvests write. */
		outside: paths.filter((path) => path !== healthPath && !parseLayerPath(path) && !wrongFiles.has(path)),
		owners: before.get(ownersPath)?.bytes,
		layers,
		problems: locate(problems, after),
		warnings: locate(warnings, after),
	};
}

type Files = ReadonlyMap<string, LayerFile>;

async function readFiles(repository: string, listed: readonly PathChange[]): Promise<Files> {
	const files = new Map<string, LayerFile>();
	for await (const file of readLimited(repository, listed)) if ("bytes" in file) files.set(file.path, file);
	return files;
}

function textOf(files: Files, path: string) {
	return new TextDecoder().decode(files.get(path)?.bytes);
}

export interface ChangedLayer {
	smallkey: string;
	file: string;
	verb: "wrong" | "changed" | "removed" | "added";
	/** Null if it does not exist on the base, or is wrong there; `after` is after the merge. */
	before: CheckedLayer | null;
	after: CheckedLayer | null;
	/** The registration's text after the merge, or empty. */
	text: string;
	lineAt: ReturnType<typeof linesOf>;
}

/** A layer also has the files that the head does not change. */
function layersOf(smallkeys: readonly string[], before: Files, after: Files, wrongFiles: Iterable<string>) {
	const wrong = new Set(Array.from(wrongFiles, (file) => parseLayerPath(file)?.smallkey));
	const stored = judgeStored([...before.values()]).layers;
	const merged = judgeStored([...after.values()]).layers;
	return smallkeys.map((smallkey): ChangedLayer => {
		const file = layerPath(smallkey);
		const old = stored.get(smallkey) ?? null;
		const layer = wrong.has(smallkey) ? null : (merged.get(smallkey) ?? null);
		const isRemoved = before.has(file) && !after.has(file);
		const verb = isRemoved ? "removed" : !layer ? "wrong" : old ? "changed" : "added";
		const text = textOf(after, file);
		return { smallkey, file, verb, before: old, after: layer, text, lineAt: linesOf(text) };
	});
}

export interface Located {
	file: string;
	/** From 1. */
	line: number;
	text: string;
}

/** Sorted by path and line. A text is read once for all problems of its file. */
function locate(problems: readonly FileProblem[], after: Files): Located[] {
	const byFile = [...groupBy(problems, ({ file }) => file)].sort(([a], [b]) => (a < b ? -1 : 1));
	return byFile.flatMap(([file, all]) => {
		const lineAt = linesOf(textOf(after, file));
		const places = all.map(({ code, place, values }) => {
			const line = code === "json" ? Number(values[0]) : lineAt(place.startsWith("/") ? place : "");
			return { file, line, text: textIn("en", { code, place, values }) };
		});
		return places.sort((a, b) => a.line - b.line);
	});
}

/**
 * JSON pointer → line (from 1) of the value or its nearest ancestor; 1 if the text is not JSON or is nested too deeply. The
 * text is read for the first pointer.
 */
export function linesOf(text: string): (pointer: string) => number {
	let root: Node | null | undefined;
	return (pointer) => {
		root ??= readTree(text);
		let node = root;
		let start = root?.offset;
		for (const segment of pointer.split("/").slice(1)) {
			const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
			// `pointerOf` cuts long names.
			const isName = ({ children: [key] = [] }: Node) =>
				key?.value === name || (name.endsWith("…") && key?.value.startsWith(name.slice(0, -1)));
			const child = node?.type === "array" ? node.children?.[Number(name)] : node?.children?.find(isName);
			if (!child) break;
			start = child.offset;
			node = child.type === "property" ? (child.children?.[1] ?? null) : child;
		}
		return text.slice(0, start ?? 0).split("\n").length;
	};
}

function readTree(text: string): Node | null {
	const errors: ParseError[] = [];
	const root = isNestedBeyond(text, maxDepth) ? null : parseTree(text, errors, strictly);
	return errors.length === 0 ? (root ?? null) : null;
}
