import { lineAt, linesOf } from "../registry/json.ts";
import { type CheckedLayer, judgeFile, judgePlace, type LayerFile } from "../registry/judge.ts";
import { judgeNames, type Problem, type Remark } from "../registry/judge-names.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../registry/smallkey.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Changes, Files } from "./changes.ts";

/** A problem with its line in a file. If it is about a member, its text begins with the JSON pointer. */
export interface Located extends Remark {
	/** From 1. */
	line: number;
}

/**
 * Finds the line that a problem is about.
 * @param lines JSON pointer → line, as from `linesOf`; empty if the problem is not about the file's content
 */
export function locate({ file, text }: Remark, lines: ReadonlyMap<string, number> = new Map()): Located {
	if (!text.startsWith("/")) {
		const line = /^the document must be JSON: line (\d+),/.exec(text)?.[1] ?? 1;
		return { file, line: Number(line), text };
	}
	// A member's name may contain `: `, so this takes the longest pointer that exists.
	const pointers = Array.from(text.matchAll(/: /g), ({ index }) => text.slice(0, index));
	const pointer = pointers.findLast((one) => lines.has(one)) ?? pointers[0] ?? "";
	return { file, line: lineAt(lines, pointer), text };
}

/** A layer that a head changes, on the base and after the merge; null if it does not exist there or is wrong. */
export interface ChangedLayer {
	smallkey: string;
	before: CheckedLayer | null;
	after: CheckedLayer | null;
	removed: boolean;
	/** Text of the registration on the head, in which the lines of problems are found. */
	text: string;
}

/**
 * Checks the files that a head changes under `layers/`, and no others: each file by itself, and its name against all names
 * of the catalogue after the merge.
 * @returns the layers, sorted by smallkey; the problems, and the warnings (accepted, but probably not meant), by path
 */
export function checkChanges({ layers: paths, names, before, after }: Changes) {
	const wrongNames = judgeNames(
		paths.map((path) => ({ path, isRemoved: !after.has(path) })),
		names,
	);
	const misnamed = new Set(wrongNames.map(({ file }) => parseLayerPath(file)?.smallkey));
	const problems = wrongNames.map((problem) => locate(problem));
	const warnings: Located[] = [];
	const changed = new Set(paths);
	const smallkeys = new Set<string>();
	for (const path of paths) {
		const name = parseLayerPath(path);
		if (name) smallkeys.add(name.smallkey);
		else problems.push(...checkOther(path, after.get(path)));
	}
	const layers = [...smallkeys].sort().map((smallkey): ChangedLayer => {
		const own = layerPath(smallkey);
		const written = readLayer(smallkey, after, changed);
		problems.push(...written.problems);
		const isWrong = written.problems.length > 0;
		const texts = !isWrong && written.layer && changed.has(own) ? warningsOf(written.layer.registration) : [];
		const lines = linesOf(written.text);
		warnings.push(...texts.map((text) => locate({ file: own, text }, lines)));
		return {
			smallkey,
			before: readLayer(smallkey, before, new Set()).layer,
			after: isWrong || misnamed.has(smallkey) ? null : written.layer,
			removed: before.has(own) && !after.has(own),
			text: written.text,
		};
	});
	for (const found of [problems, warnings])
		found.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
	return { layers, problems, warnings };
}

/** Checks a file that belongs to no layer: the owners, or a misplaced file. @param file undefined if it is removed */
function checkOther(path: string, file: LayerFile | undefined): Located[] {
	const misplaced = judgePlace({ path, isRemoved: file === undefined });
	if (misplaced) return [locate(misplaced)];
	return file ? locateAll(judgeFile(file, "written").problems, textOf(file)) : [];
}

function textOf({ bytes }: LayerFile): string {
	return new TextDecoder().decode(bytes);
}

function locateAll(problems: readonly Problem[], text: string): Located[] {
	const lines = problems.length > 0 ? linesOf(text) : undefined;
	return problems.map((problem) => locate(problem, lines));
}

/**
 * Reads one layer in one state of the catalogue.
 * @param written the changed paths: only their problems are returned, since the author did not write the other files
 */
function readLayer(smallkey: string, files: Files, written: ReadonlySet<string>) {
	const problems: Located[] = [];
	const judge = (path: string) => {
		const file = files.get(path);
		if (!file) return null;
		const isWritten = written.has(path);
		const judged = { ...judgeFile(file, isWritten ? "written" : "stored"), text: textOf(file) };
		if (isWritten) problems.push(...locateAll(judged.problems, judged.text));
		return judged;
	};
	const own = judge(layerPath(smallkey));
	const description = judge(descriptionPath(smallkey))?.description ?? null;
	const { registration = null, text = "" } = own ?? {};
	const layer: CheckedLayer | null = registration && { smallkey, registration, description };
	return { layer, problems, text };
}
