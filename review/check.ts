import { lineAt, linesOf } from "../registry/json.ts";
import { type CheckedLayer, judgeFile, judgePlace, type LayerFile } from "../registry/judge.ts";
import { judgeNames, type Problem, type Remark } from "../registry/judge-names.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../registry/smallkey.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Changes, Files } from "./changes.ts";

/** A problem at its place in a file; its text begins with the JSON pointer, where it is about a member. */
export interface Located extends Remark {
	/** From 1. */
	line: number;
}

/**
 * Finds the line that a problem is about.
 * @param lines of the file's members, as `linesOf` finds them; none where the problem is not about its content
 */
export function locate({ file, text }: Remark, lines: ReadonlyMap<string, number> = new Map()): Located {
	if (!text.startsWith("/")) {
		const line = /^the document must be JSON: line (\d+),/.exec(text)?.[1] ?? 1;
		return { file, line: Number(line), text };
	}
	// A member's name may itself hold `: `, so the longest pointer that exists is used.
	const pointers = Array.from(text.matchAll(/: /g), ({ index }) => text.slice(0, index));
	const pointer = pointers.findLast((one) => lines.has(one)) ?? pointers[0] ?? "";
	return { file, line: lineAt(lines, pointer), text };
}

/** A layer that a head changes, as it is on the base and as it will be; null where there is none, or it is wrong. */
export interface ChangedLayer {
	smallkey: string;
	before: CheckedLayer | null;
	after: CheckedLayer | null;
	removed: boolean;
	/** Text of the registration on the head, to find the lines of its problems. */
	text: string;
}

/**
 * Checks what a head changes under `layers/`, and nothing else: each file by itself, and its name against those of
 * the whole catalogue as it will be.
 * @returns the layers by smallkey; the problems, and what is accepted but probably not meant, by path
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

/** A file that is no layer's: the owners, or what has no place here. @param file undefined where it is removed */
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
 * One layer in one state of the catalogue.
 * @param written the paths whose files are judged as what is written; what is wrong in others is not the author's
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
