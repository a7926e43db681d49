import { limitOf, readEntries, resolveCommit } from "../publish/collect.ts";
import { lineAt, linesOf } from "../registry/json.ts";
import {
	type CheckedLayer,
	judgeFile,
	judgeFiles,
	judgeNames,
	judgePlace,
	type LayerFile,
	namesOf,
	type Remark,
} from "../registry/judge.ts";
import { ownersPath } from "../registry/owners.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../registry/smallkey.ts";
import { warningsOf } from "../registry/warnings.ts";
import { readSizes } from "../system/git/cat-file.ts";
import { kindOfMode, listTree, type PathChange } from "../system/git/tree.ts";
import { type Merge, withMerge } from "./merge.ts";

/** Path → file. */
type Files = ReadonlyMap<string, LayerFile>;

/** The changes of merging a head into a base. */
export type Changes = Awaited<ReturnType<typeof readChanges>>;

/**
 * Reads what merging a head changes on a base. Nothing is checked out.
 * @param base a commit in any form that git accepts, like `head`
 * @throws {Error} if there is no such commit, or the two have no commit in common
 */
export async function readChanges(repository: string, base: string, head: string) {
	const [baseId, headId] = [await resolveCommit(repository, base), await resolveCommit(repository, head)];
	return withMerge(repository, baseId, headId, (merge) => changesOf(merge, baseId));
}

async function changesOf({ repository, changed, obstacle }: Merge, baseId: string) {
	const isLayers = ({ path }: PathChange) => path === "layers" || path.startsWith("layers/");
	const layers = changed.filter(isLayers);
	const wanted = new Set([ownersPath, ...layers.flatMap(({ path }) => [path, ...pathsBeside(path)])]);
	const listed = await listTree(repository, baseId, "layers/");
	const inBase = listed.filter(({ path }) => wanted.has(path));
	const before: Files = await readFiles(repository, inBase);
	const after = new Map(before);
	for (const { path } of layers) after.delete(path);
	const written = layers.filter(({ mode }) => mode !== null);
	for (const [path, file] of await readFiles(repository, written)) after.set(path, file);
	return {
		/** Why it cannot be merged; null if it can. */
		obstacle,
		/** Paths under `layers/`, in git's order. */
		layers: layers.map(({ path }) => path),
		/** Paths of all other files, in git's order. */
		outside: changed.filter((one) => !isLayers(one)).map(({ path }) => path),
		/** The names of all layers' files on the base. */
		names: namesOf(listed.map(({ path }) => path)),
		/** The owners file and the files of the changed layers: `before` on the base, `after` with the head merged. */
		before,
		after: after as Files,
	};
}

function pathsBeside(path: string): string[] {
	const name = parseLayerPath(path);
	return name ? [layerPath(name.smallkey), descriptionPath(name.smallkey)] : [];
}

/** Reads files of a commit. A file over its size limit is not read: its bytes are zeros, as many as the limit. */
async function readFiles(repository: string, listed: readonly PathChange[]): Promise<Map<string, LayerFile>> {
	const ids = listed.map(({ id }) => id as string);
	const sizes = await readSizes(repository, ids);
	const isLarge = ({ path, id }: PathChange) => (sizes.get(id as string) ?? 0) >= limitOf(path);
	const small = listed.filter((one) => !isLarge(one));
	const large = listed.filter(isLarge).map(({ path, mode }): LayerFile => {
		return { path, kind: kindOfMode(mode as string), bytes: new Uint8Array(limitOf(path)) };
	});
	return new Map([...(await readEntries(repository, small)), ...large].map((file) => [file.path, file]));
}

/** A problem with its line in a file. If it is about a member, its text begins with the JSON pointer. */
export interface Located extends Remark {
	/** From 1. */
	line: number;
}

/** Finds the lines of problems. @param text of their file; empty if they are not about its content */
export function locate(problems: readonly Remark[], text = ""): Located[] {
	const lines = linesOf(problems.length > 0 ? text : "");
	return problems.map(({ file, text }) => {
		if (!text.startsWith("/")) {
			const line = /^the document must be JSON: line (\d+),/.exec(text)?.[1] ?? 1;
			return { file, line: Number(line), text };
		}
		// A member's name may contain `: `, so this takes the longest pointer that exists.
		const pointers = Array.from(text.matchAll(/: /g), ({ index }) => text.slice(0, index));
		const pointer = pointers.findLast((one) => lines.has(one)) ?? pointers[0] ?? "";
		return { file, line: lineAt(lines, pointer), text };
	});
}

/** A layer that a head changes, on the base and after the merge; null if it does not exist there or is wrong. */
export interface ChangedLayer {
	smallkey: string;
	verb: "added" | "removed" | "changed" | "wrong";
	before: CheckedLayer | null;
	after: CheckedLayer | null;
	/** Text of the registration on the head, in which the lines of problems are found. */
	text: string;
}

/**
 * Checks the files that a head changes under `layers/`, and no others: each file by itself, and its name against all names
 * of the catalogue after the merge.
 * @returns the layers, sorted by smallkey; the problems, and the warnings (accepted, but probably not meant), by path
 */
export function checkChanges({ layers: paths, names, before, after }: Changes) {
	const edits = paths.map((path) => ({ path, isRemoved: !after.has(path) }));
	const wrongNames = judgeNames(edits, names);
	const misplaced = edits.flatMap((edit) => judgePlace(edit) ?? []);
	const misnamed = new Set(wrongNames.map(({ file }) => parseLayerPath(file)?.smallkey));
	const problems = locate([...wrongNames, ...misplaced]);
	const warnings: Located[] = [];
	const changed = new Set(paths);
	const { layers: stored } = judgeFiles([...before.values()]);

	/** Judges a file of the head. Only the problems of a changed file are the author's. @returns null if there is none */
	function judge(path: string) {
		const file = after.get(path);
		if (!file) return null;
		const text = new TextDecoder().decode(file.bytes);
		const judged = judgeFile(file, changed.has(path) ? "written" : "stored");
		const wrong = changed.has(path) ? judged.problems : [];
		problems.push(...locate(wrong, text));
		return { ...judged, text, isWrong: wrong.length > 0 };
	}

	const skipped = new Set(misplaced.map(({ file }) => file));
	for (const path of paths) if (!parseLayerPath(path) && !skipped.has(path)) judge(path);
	const smallkeys = new Set(paths.flatMap((path) => parseLayerPath(path)?.smallkey ?? []));
	const layers = [...smallkeys].sort().map((smallkey): ChangedLayer => {
		const file = layerPath(smallkey);
		const judged = judge(file);
		const described = judge(descriptionPath(smallkey));
		const { registration = null, text = "" } = judged ?? {};
		const isWrong = judged?.isWrong || described?.isWrong || registration === null;
		const odd = !isWrong && changed.has(file) ? warningsOf(registration) : [];
		warnings.push(
			...locate(
				odd.map((oddity) => ({ file, text: oddity })),
				text,
			),
		);
		const isIn = !isWrong && !misnamed.has(smallkey);
		const layer = isIn ? { smallkey, registration, description: described?.description ?? null } : null;
		const old = stored.get(smallkey) ?? null;
		const isRemoved = before.has(file) && !after.has(file);
		const verb = isRemoved ? "removed" : !layer ? "wrong" : old ? "changed" : "added";
		return { smallkey, verb, before: old, after: layer, text };
	});
	for (const found of [problems, warnings])
		found.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
	return { layers, problems, warnings };
}
